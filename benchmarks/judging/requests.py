"""What has stored trajectories judged again, for the API and the command."""

from typing import Annotated

from pydantic import Field

from benchmarks.runs.requests import StartRequest

Id = Annotated[int, Field(ge=1, le=2**63 - 1)]


class JudgingRequest(StartRequest):
    """The stored trajectories to judge again, and the judges."""

    runs: list[Id] = Field([], max_length=1000, description="All ended trajectories of these runs.")
    trajectories: list[Id] = Field(
        [], max_length=10_000, description="Only these; with `runs`, those of both."
    )
    name: str = Field(
        "", title="Name", max_length=120,
        description="The name shown with the scores of this judging.",
    )  # fmt: skip
