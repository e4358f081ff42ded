"""What starts branches: the fields that the API, the command and the form share."""

from typing import Annotated, Any

from django.contrib.auth.models import User
from pydantic import BaseModel, ConfigDict, Field

from benchmarks.branches.services import MOST_REPLAYS, branch_with_answer, replay_every_turn
from benchmarks.models import Run, Trajectory
from benchmarks.runs.requests import LARGEST_SEED

Name = Annotated[str, Field(min_length=1, max_length=120)]


class BranchRequest(BaseModel):
    """Where to branch from a trajectory, and what to say there."""

    model_config = ConfigDict(extra="forbid")

    turn: int | None = Field(
        None, title="Turn", ge=1, le=32_767,
        description="The turn at which the branch leaves. Left out, every turn is asked again, to "
        "see which one decided a failure.",
    )  # fmt: skip
    text: str = Field(
        "", title="The other answer", max_length=200_000,
        description="What is said in place of the stored answer.",
    )  # fmt: skip
    role: str = Field(
        "", max_length=40, description="The role whose answer is replaced; the agent if left empty."
    )
    seat: str = Field("", max_length=40, description="The seat, where several share a role.")
    replays: int = Field(
        1, title="Replays", ge=1, le=MOST_REPLAYS,
        description="How often it is played on from there, each time with seeds of its own.",
    )  # fmt: skip
    compare: bool = Field(
        False, title="Compare with the same answer",
        description="Play on from the stored answer as often, to see what the other changes.",
    )  # fmt: skip
    roles: dict[Name, list[Name]] = Field(
        {}, description="Who continues, by role, where it is not as before: the name of a script, "
        "`endpoint:NAME` for a model, `human` for a person.",
    )  # fmt: skip
    seed: int = Field(
        0, title="Seed", ge=0, le=LARGEST_SEED,
        description="The seeds of all replays follow from it.",
    )  # fmt: skip
    cost_cap: float | None = Field(
        None, description="All replays together are paused before they cost more."
    )


def start_branches(wanted: BranchRequest, *, trajectory: Trajectory, by: User) -> Run:
    """Start the branches that are wanted; raises ``CoreError`` and changes nothing if refused."""
    given: dict[str, Any] = wanted.model_dump()
    turn = given.pop("turn")
    if turn is None:
        given = {name: given[name] for name in ("replays", "seed", "cost_cap")}
        return replay_every_turn(trajectory=trajectory, by=by, **given)
    return branch_with_answer(trajectory=trajectory, turn=turn, by=by, **given)
