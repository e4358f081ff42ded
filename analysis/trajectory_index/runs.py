"""Runs as the trajectory index names them, with the version of the data that it read of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any, NamedTuple

from django.db.models import Count

from analysis.trajectory_index.columns import FORMAT
from benchmarks.models import COUNTED, Run, Trajectory
from benchmarks.models.role_assignments import all_assignments
from benchmarks.roles.selectors import is_local
from benchmarks.validity.selectors import unusable_tasks
from benchmarks.visibility import EVERYTHING

# A run in one of these states changes every second and has trajectories that have not ended.
UNDER_WAY = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING, Run.Status.PAUSED)
REAL, SCRIPTED, SIMULATED, RECORDED, IMPORTED, CONSTRUCTED, DEMO = (
    "real", "scripted", "simulated", "recorded", "imported", "constructed", "demo",
)  # fmt: skip
# Labels of role assignments that a reader must know of, the most important first.
MARKERS = (SIMULATED, SCRIPTED, RECORDED, IMPORTED)


class RunVersion(NamedTuple):
    """The version of a run's data in the index.

    ``run`` identifies the run and the packing format: numbers of runs are used again after a
    restore. ``kept`` changes when data of ended trajectories may have changed, ``states`` with
    every trajectory that begins or ends.
    """

    run: str
    kept: str
    states: str

    def __str__(self) -> str:
        return ":".join(self)

    @classmethod
    def parse(cls, text: str) -> "RunVersion":
        """Parse what ``str`` wrote."""
        run, kept, states = (*text.split(":"), "", "")[:3]
        return cls(run, kept, states)


@dataclass(frozen=True)
class IndexedRunRow:
    """A run with its names. ``marker`` says if it is scripted, simulated, recorded, imported, …;
    ``left_out`` are the tasks that figures leave out by default.
    """

    pk: int
    version: RunVersion
    trajectories: int
    under_way: bool
    system: str
    dataset: int
    dataset_title: str
    agent: int
    agent_title: str
    level: str
    condition: str
    experiment: int | None
    marker: str
    left_out: frozenset[int]


_FIELDS = (
    "pk", "created_at", "data_version", "primary_judging", "status", "dataset__system", "dataset",
    "dataset__name", "dataset__version", "agent", "agent__title", "level", "condition",
    "experiment", "is_demo",
)  # fmt: skip
# The marker of each run, by (run, creation time, version): reading the roles is slow.
_markers: dict[tuple[int, datetime, int], str] = {}


def run_rows() -> list[IndexedRunRow]:
    """Return all runs with trajectories, in three queries: two more with a run not seen before, or
    with tasks that their own reference does not solve.
    """
    counts: dict[int, dict[str, int]] = {}
    rows = Trajectory.objects.order_by().values_list("run", "status").annotate(n=Count("pk"))
    for run, status, number in rows:
        counts.setdefault(run, {})[status] = number
    records = [
        row
        for row in EVERYTHING.of(Run.objects.filter(COUNTED)).order_by("pk").values_list(*_FIELDS)
        if row[0] in counts
    ]
    left_out = unusable_tasks()
    _learn_markers([(row[0], row[1], row[2]) for row in records])
    return [
        IndexedRunRow(
            pk,
            _version(created, data, judging, counts[pk]),
            sum(counts[pk].values()),
            status in UNDER_WAY,
            system,
            dataset,
            f"{name} {number}",
            agent,
            title,
            level,
            condition,
            experiment,
            DEMO if is_demo else _markers[pk, created, data],
            left_out.get((dataset, level), frozenset()),
        )
        for (
            pk, created, data, judging, status, system, dataset, name, number, agent, title, level,
            condition, experiment, is_demo,
        ) in records
    ]  # fmt: skip


def _version(
    created: datetime, data: int, judging: int | None, states: Mapping[str, int]
) -> RunVersion:
    # Before a restore another run may have had this number.
    return RunVersion(
        _digest(FORMAT, created.isoformat()),
        _digest(data, judging),
        _digest(*sorted(states.items())),
    )


@lru_cache(maxsize=20_000)  # three for each run, which change seldom
def _digest(*parts: Any) -> str:
    return blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def _learn_markers(keys: list[tuple[int, datetime, int]]) -> None:
    new = {key[0]: key for key in keys if key not in _markers}
    rows = Run.objects.filter(pk__in=list(new)).order_by()
    for pk, roles, constructed_by in rows.values_list("pk", "roles", "dataset__made_by__roles"):
        labels = {
            str(assignment.get("label") or assignment.get("kind"))
            for assignments in (roles or {}).values()
            for assignment in assignments
        }
        usual = CONSTRUCTED if any(map(_unreal, all_assignments(constructed_by or {}))) else REAL
        _markers[new[pk]] = next((marker for marker in MARKERS if marker in labels), usual)


def _unreal(assignment: dict[str, Any]) -> bool:
    """Return whether a role of a construction was filled by neither a model nor a person."""
    return (
        assignment["kind"] == "scripted"
        or assignment.get("label") == "simulated"
        or is_local(assignment)
    )
