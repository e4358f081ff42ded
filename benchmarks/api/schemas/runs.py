"""Runs: as lists and pages show them, and what starts them."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from benchmarks.api.requests import LARGEST_ID, Id, Paged, Strict
from benchmarks.api.schemas.common import AgentRef, DatasetRef
from benchmarks.models import Run

Status = Literal["queued", "running", "paused", "waiting", "attention", "done", "cancelled"]
Name = Annotated[str, Field(min_length=1, max_length=120)]


class RunQuery(Paged):
    """What the list of runs can be narrowed to."""

    dataset: Id | None = None
    agent: Id | None = None
    level: str = Field("", max_length=20)
    status: Status | None = None
    condition: str = Field("", max_length=1000)
    experiment: Id | None = Field(None, description="Runs that were started together.")


class ProgressOut(Schema):
    """How far a run is, in trajectories."""

    total: int
    done: int
    failed: int
    waiting: int
    running: int
    cancelled: int
    rate: float | None = Field(description="A minute; null while unknown.")
    left: float | None = Field(description="Seconds that it will still take; null while unknown.")


class RunOut(Schema):
    """A run."""

    id: int
    experiment: int | None
    kind: Literal["made", "imported", "practice", "judging", "construct"] = Field(
        description="Runs of the first two kinds try an agent; in `judging`, judges look once more "
        "at stored trajectories."
    )
    dataset: DatasetRef
    agent: AgentRef
    level: str
    condition: str
    seed: int
    status: Status
    is_demo: bool
    source: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: ProgressOut


class RunDetail(RunOut):
    """A run with all that made it what it is."""

    settings: dict[str, Any]
    roles: dict[str, Any] = Field(description="Who fills every role.")
    pins: dict[str, Any] = Field(description="The versions that it was made with.")
    problem: str = Field(description="Why it was paused without anybody asking.")
    cost: float | None = Field(description="What its calls cost so far; null without prices.")
    cost_cap: float | None
    currency: str


class RunsOut(Schema):
    """The runs that a request started, one for each agent and level."""

    experiment: int
    runs: list[int]
    trajectories: int


class NewRuns(Strict):
    """What to start."""

    dataset: Id
    agents: list[Name] = Field(min_length=1, max_length=50, description="Names of agents.")
    levels: list[Name] = Field([], max_length=20, description="The first level if left empty.")
    settings: dict[Name, bool | int | float | str] = Field(
        {}, description="Those that differ from the defaults; see the system."
    )
    roles: dict[Name, list[Name]] = Field(
        {},
        description="Who fills each seat, by role: the name of a script, `endpoint:NAME` for a "
        "model, `human` for a person.",
    )
    seed: int = Field(0, ge=0, le=LARGEST_ID)
    tasks: list[Name] = Field(
        [], max_length=10_000, description="Ids of tasks in the dataset; all if left empty."
    )
    cost_cap: float | None = Field(
        None, description="What each run may cost, in the currency of its endpoints."
    )
    accept_undefined: bool = Field(
        False,
        description="Start even where judges cannot read what an agent writes, so that metrics "
        "stay undefined; else such runs are refused.",
    )
    name: str = Field("", max_length=160, description="Made of dataset and levels if left empty.")


class MetricOut(Schema):
    """A figure of a run: null is undefined; what is outside it is counted by reason."""

    value: float | None
    n: int
    excluded: dict[str, int]


class MetricsOut(Schema):
    """The metrics of a run as its system has them, over the trajectories that ended."""

    run: int
    system: str
    judging: str | None
    trajectories: int
    status: dict[str, int] = Field(description="Trajectories by status.")
    terminations: dict[str, int] = Field(description="Trajectories by ending.")
    metrics: dict[str, MetricOut]
    details: dict[str, Any] = Field(description="What only this system computes.")


def run_row(run: Run, progress: Any) -> dict[str, Any]:
    """A run as the list shows it."""
    return {
        "id": run.pk,
        "experiment": run.experiment_id,
        "kind": run.kind,
        "dataset": run.dataset,
        "agent": run.agent,
        "level": run.level,
        "condition": run.condition,
        "seed": run.seed,
        "status": run.status,
        "is_demo": run.is_demo,
        "source": run.source,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "progress": progress,
    }
