"""What starts runs: the fields that the API, the commands and the forms share."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from benchmarks.models import Agent, Dataset, Run
from benchmarks.roles.judge_fit import refuse_unfit_judges
from benchmarks.runs.services import start_runs

LARGEST_SEED = 2**63 - 1
Name = Annotated[str, Field(min_length=1, max_length=120)]


class StartRequest(BaseModel):
    """How something is carried: by whom, under which settings, for how much."""

    model_config = ConfigDict(extra="forbid")

    settings: dict[Name, bool | int | float | str] = Field(
        {}, description="Settings that differ from the defaults."
    )
    roles: dict[Name, list[Name]] = Field(
        {},
        description="Who fills each seat, by role: the name of a script, `endpoint:NAME` for a "
        "model, `human` for a person. Roles that are left out are filled as usual.",
    )
    seed: int = Field(
        0, title="Seed", ge=0, le=LARGEST_SEED,
        description="With the same seed, scripted agents and judges give the same answers.",
    )  # fmt: skip
    cost_cap: float | None = Field(
        None, description="A run is paused before it costs more, in the currency of its endpoints."
    )


class TasksRequest(StartRequest):
    """What is carried on tasks of a dataset."""

    tasks: list[Name] = Field(
        [], max_length=10_000, description="Ids of tasks in the dataset; all if left empty."
    )


class RunRequest(TasksRequest):
    """The runs to start on a dataset."""

    agents: list[Name] = Field(min_length=1, max_length=50, description="Names of agents.")
    levels: list[Name] = Field([], max_length=20, description="The first level if left empty.")
    accept_undefined: bool = Field(
        False,
        description="Start even where judges cannot read what an agent writes, so that metrics "
        "stay undefined; else such runs are refused.",
    )
    name: str = Field(
        "", title="Name", max_length=160,
        description="A name to find these runs by. If empty, it is made from the dataset and "
        "levels.",
    )  # fmt: skip


def start_requested(
    wanted: RunRequest, *, dataset: Dataset, agents: Sequence[Agent], remedy: str, **more: Any
) -> list[Run]:
    """Start the runs that are wanted; ``remedy`` says what to do about judges who cannot read."""
    given: dict[str, Any] = wanted.model_dump(include={"levels", "settings", "roles"})
    given |= {"dataset": dataset, "agents": agents}
    if not wanted.accept_undefined:
        refuse_unfit_judges(remedy=remedy, **given)
    shared = wanted.model_dump(include={"seed", "tasks", "cost_cap"})
    return start_runs(**given, **shared, name=wanted.name.strip(), **more)
