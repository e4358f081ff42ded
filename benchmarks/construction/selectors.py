"""Read constructions: progress, results, and how a task's profiles were built."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Max, QuerySet

from benchmarks.core.ports.labels import plain
from benchmarks.core.ports.making import Making
from benchmarks.datasets.selectors import kind_order
from benchmarks.models import Candidate, Dataset, Exchange, Run, Task, Trajectory
from benchmarks.roles.cautions import Caution, run_caution
from benchmarks.roles.selectors import RoleView, run_roles
from benchmarks.visibility import EVERYTHING, Visibility

Decision = Candidate.Decision


class ConstructionCounts(NamedTuple):
    """The number of problems of a construction, and what became of them.

    ``left_out`` were refused by the filter; ``failed`` ended otherwise, or wait for somebody to
    decide; ``open`` have not ended.
    """

    problems: int
    made: int
    left_out: int
    failed: int
    open: int

    @property
    def missing(self) -> int:
        """Count the problems that may still become tasks."""
        return self.failed + self.open


def latest_trajectories(run: Run) -> QuerySet[Trajectory]:
    """Return the last attempt at each problem."""
    newest = run.trajectories.order_by().values("task").annotate(last=Max("pk")).values("last")
    return run.trajectories.filter(pk__in=newest)


def made_trajectories(run: Run, making: Making) -> QuerySet[Trajectory]:
    """Return the trajectories that made a task, in the order of problems."""
    done = latest_trajectories(run).filter(status=Trajectory.Status.DONE)
    return done.filter(termination=making.termination).order_by("task_id")


def count_constructed(run: Run, making: Making) -> ConstructionCounts:
    """Count what became of the problems of a construction so far."""
    S = Trajectory.Status
    rows = latest_trajectories(run).order_by().values_list("status", "termination")
    counts: dict[str, int] = dict.fromkeys(("made", "left_out", "failed", "open"), 0)
    for status, termination, n in rows.annotate(n=Count("pk")):
        if status == S.DONE and termination == making.termination:
            counts["made"] += n
        elif status == S.DONE and termination == making.left_out:
            counts["left_out"] += n
        elif status in (S.DONE, S.FAILED, S.DECISION, S.CANCELLED):
            counts["failed"] += n
        else:
            counts["open"] += n
    return ConstructionCounts(sum(counts.values()), **counts)


def proposed_replies(
    trajectories: Sequence[Trajectory], roles: Sequence[str]
) -> Mapping[int, list[Any]]:
    """Return the parsed replies of these roles, by trajectory in the order of asks."""
    replies: dict[int, list[Any]] = {trajectory.pk: [] for trajectory in trajectories}
    rows = Exchange.objects.filter(
        trajectory__in=replies, role__in=roles, state=Exchange.State.ANSWERED
    )
    for pk, value in rows.order_by("trajectory", "step", "slot").values_list(
        "trajectory_id", "value"
    ):
        replies[pk].append(value)
    return replies


def dataset_name(run: Run) -> str:
    """Return the default name of a construction's dataset."""
    return f"{run.dataset.name}, constructed"[:120]


def datasets_made(run: Run, seen: Visibility = EVERYTHING) -> list[Dataset]:
    """Return the datasets made from a construction, the newest first."""
    return list(seen.of(run.datasets_made.all()).order_by("-pk"))


def made_by(dataset: Dataset, seen: Visibility = EVERYTHING) -> Run | None:
    """Return the construction of a dataset, if the person may see it."""
    return dataset.made_by if dataset.made_by_id not in seen.closed else None


def made_caution(dataset: Dataset) -> Caution | None:
    """Return the caution about constructed tasks."""
    return run_caution(dataset.made_by) if dataset.made_by else None


def planner_titles(run: Run) -> Mapping[str, str]:
    """Return the planners of a construction by number."""
    assignments = [assignment for role in run_roles(run)[:2] for assignment in _seated(role)]
    return {str(number): title for number, title in enumerate(assignments, 1)}


def _seated(role: RoleView) -> list[str]:
    """Return the titles of a role's assignments, one for each seat in their order."""
    seats = {seat: assignment.title for assignment in role.assignments for seat in assignment.seats}
    return [seats[seat] for seat in sorted(seats)]


def trajectory_of(task: Task, seen: Visibility = EVERYTHING) -> Trajectory | None:
    """Return the trajectory that constructed a task; None for imported tasks."""
    rows = seen.of(Trajectory.objects.filter(run=task.dataset.made_by_id))
    rows = rows.filter(task__external_id=task.external_id, status=Trajectory.Status.DONE)
    return rows.order_by("-pk").first() if task.dataset.made_by_id else None


class GrownConstraint(NamedTuple):
    """A constraint in the round in which it came up.

    ``planners`` are those whose plans brought it, by number; ``merged`` the wordings that went into
    it. ``reason`` is the checker's, for a removal.
    """

    text: str
    about: str
    kept: bool | None
    reason: str
    planners: tuple[str, ...]
    merged: tuple[str, ...]


class GrowthKind(NamedTuple):
    """The constraints of one kind that came up in a round; ``size`` counts all kept up to it."""

    title: str
    rows: tuple[GrownConstraint, ...]
    size: int

    @property
    def kept(self) -> int:
        return sum(row.kept is True for row in self.rows)

    @property
    def removed(self) -> int:
        return sum(row.kept is False for row in self.rows)


class GrowthRound(NamedTuple):
    """A round of construction, and the level that its profile is."""

    number: int
    level: str
    kinds: tuple[GrowthKind, ...]


def task_growth(task: Task) -> list[GrowthRound]:
    """Return how the profiles of a task grew, round by round, from its candidates.

    Empty where they do not say in which round they came up.
    """
    candidates = list(task.candidates.exclude(round=None).order_by("round", "key"))
    levels = list(task.profiles.order_by("rank").values_list("level", flat=True))
    kinds = sorted({row.kind for row in candidates}, key=kind_order)
    sizes = dict.fromkeys(kinds, 0)
    rounds = []
    for number in sorted({row.round for row in candidates if row.round}):
        parts = []
        for kind in kinds:
            rows = [_grown(row) for row in candidates if (row.round, row.kind) == (number, kind)]
            sizes[kind] += sum(row.kept is True for row in rows)
            rows.sort(key=lambda row: row.kept is not True)
            parts.append(GrowthKind(plain(kind), tuple(rows), sizes[kind]))
        level = levels[number - 1] if number <= len(levels) else ""
        rounds.append(GrowthRound(number, level, tuple(parts)))
    return rounds


def _grown(row: Candidate) -> GrownConstraint:
    payload = row.payload
    return GrownConstraint(
        row.text,
        str(payload.get("about", "")).partition(":")[2],
        None if row.decision is None else row.decision == Decision.KEPT,
        row.reason,
        tuple(map(str, payload.get("planners", ()))),
        tuple(text for text in map(str, payload.get("merged", ())) if text != row.text),
    )
