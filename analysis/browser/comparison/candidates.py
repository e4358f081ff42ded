"""The trajectories of a comparison, their labels, and further candidates."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.db.models import Case, Q, Value, When
from django.urls import reverse

from analysis.browser.comparison.address import MOST, ComparisonAddress
from benchmarks.core.conditions import STANDARD
from benchmarks.core.ports.results import TrajectoryResult
from benchmarks.mappers import run_condition
from benchmarks.models import Agent, Trajectory, Turn
from benchmarks.paging import as_id
from benchmarks.trajectories import selectors as trajectories
from benchmarks.visibility import Visibility

CANDIDATES = 10


@dataclass(frozen=True)
class ComparedTrajectory:
    """One trajectory of a comparison. ``turns`` are the indices of its turns, in order."""

    number: int
    trajectory: Trajectory
    label: str
    about: str
    result: TrajectoryResult
    why: str
    turns: tuple[int, ...]
    is_base: bool

    @property
    def pk(self) -> int:
        return self.trajectory.pk

    @cached_property
    def url(self) -> str:
        """The page of the trajectory; every turn's head leads there."""
        return reverse("analysis:trajectory", args=[self.pk])


@dataclass(frozen=True)
class ComparedTrajectories:
    """The trajectories that an address names. ``missing`` ids do not exist or are hidden; ``found``
    counts all matches, of which at most `MOST` are shown."""

    address: ComparisonAddress
    columns: tuple[ComparedTrajectory, ...] = ()
    missing: tuple[int, ...] = ()
    found: int = 0

    @property
    def base(self) -> ComparedTrajectory | None:
        return next((column for column in self.columns if column.is_base), None)

    @property
    def others(self) -> tuple[ComparedTrajectory, ...]:
        return tuple(column for column in self.columns if not column.is_base)

    @property
    def same_task(self) -> bool:
        return len({column.trajectory.task_id for column in self.columns}) == 1

    @property
    def longest(self) -> int:
        return max((len(column.turns) for column in self.columns), default=0)


def choose(address: ComparisonAddress, seen: Visibility) -> ComparedTrajectories:
    """Return the trajectories that an address asks for, in its order, without closed ones."""
    wanted = list(address.ids)
    if not wanted and (address.like is not None or address.task is not None):
        wanted = _every_agent(address, seen)
    bulk = seen.of(trajectories.with_page_relations()).in_bulk(wanted[:MOST])
    rows = [bulk[pk] for pk in wanted[:MOST] if pk in bulk]
    ids = tuple(row.pk for row in rows)
    base = address.base if address.base in ids else next(iter(ids), None)
    now = replace(address, ids=ids, base=base, column=min(address.column, len(ids)))
    indices, known = _turn_indices(ids), trajectories.counted_metrics(rows)
    columns = tuple(
        ComparedTrajectory(
            number,
            row,
            label,
            _about(row),
            trajectories.trajectory_result(row, known[row.pk]),
            trajectories.why_ended(row),
            indices[row.pk],
            row.pk == base,
        )
        for number, (row, label) in enumerate(zip(rows, labels(rows), strict=True), 1)
    )
    missing = tuple(pk for pk in wanted[:MOST] if pk not in bulk) if address.ids else ()
    return ComparedTrajectories(now, columns, missing, len(wanted))


def _turn_indices(ids: Sequence[int]) -> dict[int, tuple[int, ...]]:
    indices_of: dict[int, list[int]] = {pk: [] for pk in ids}
    rows = Turn.objects.filter(trajectory__in=ids).order_by("trajectory", "index")
    for pk, index in rows.values_list("trajectory", "index"):
        indices_of[pk].append(index)
    return {pk: tuple(indices) for pk, indices in indices_of.items()}


def _every_agent(address: ComparisonAddress, seen: Visibility) -> list[int]:
    """Return the newest finished trajectory of a task of every agent, all of one level and
    condition.

    These are those of the trajectory ``like``, which then stands first; without one, those that
    most agents share, the standard condition before others.
    """
    task, first = address.task, None
    kind: tuple[str, str] | None = None
    if address.like is not None:
        row = seen.of(Trajectory.objects.filter(pk=address.like)).values_list(
            "task", "run__level", "run__condition", "run__agent"
        )
        known = row.first()
        if known is None:
            return []
        task, kind, first = known[0], (known[1], known[2]), known[3]
    rows = seen.of(Trajectory.objects.filter(task=task, status=Trajectory.Status.DONE, judged=None))
    groups: dict[tuple[str, str], dict[int, int]] = {}
    for pk, agent, level, condition in rows.order_by("-run_id", "attempt", "pk").values_list(
        "pk", "run__agent", "run__level", "run__condition"
    ):
        groups.setdefault((level, condition), {}).setdefault(agent, pk)
    if kind is None:
        kind = max(groups, key=lambda k: (len(groups[k]), k[1] == STANDARD), default=("", ""))
    newest = groups.get(kind, {})
    if address.like is not None and first is not None:
        return [address.like, *(pk for agent, pk in sorted(newest.items()) if agent != first)]
    return [pk for _, pk in sorted(newest.items())]


def labels(rows: Sequence[Trajectory]) -> list[str]:
    """Return a unique label for each: agent, then run, attempt and number as far as needed."""
    names = [row.run.agent.title for row in rows]
    runs = [f"run {row.run_id}" for row in rows]
    attempts = [f"attempt {row.attempt}" for row in rows]
    numbers = [f"trajectory {row.pk}" for row in rows]
    for further in (runs, attempts, numbers):
        often = Counter(names)
        names = [
            f"{name}, {more}" if often[name] > 1 else name
            for name, more in zip(names, further, strict=True)
        ]
    return names


def _about(row: Trajectory) -> str:
    """Return level, condition and attempt in words."""
    words = [f"level {row.run.level}"] if row.run.level else []
    words.append(run_condition(row.run))
    if row.attempt > 1:
        words.append(f"attempt {row.attempt}")
    return " · ".join(words)


@dataclass(frozen=True)
class ComparisonCandidates:
    """Others of the first one's task: ``rows`` of ``count``, and the agents to choose among."""

    rows: tuple[trajectories.TrajectoryLine, ...]
    count: int
    agents: tuple[tuple[int, str], ...]

    @property
    def hidden(self) -> int:
        return self.count - len(self.rows)


def candidates(chosen: ComparedTrajectories, seen: Visibility) -> ComparisonCandidates | None:
    """Return other trajectories of the same task, those under the first one's conditions first.

    None where none are compared, or tasks differ.
    """
    if not chosen.same_task:
        return None
    address = chosen.address
    of_task = seen.of(trajectories.trajectory_list({"task": chosen.columns[0].trajectory.task_id}))
    others = of_task.exclude(pk__in=address.ids)
    agents = Agent.objects.filter(pk__in=others.order_by().values("run__agent"))
    if address.agent is not None:
        others = others.filter(run__agent=address.agent)
    if address.words:
        number = as_id(address.words.removeprefix("run "))
        others = others.filter(
            Q(run__agent__title__icontains=address.words)
            | Q(run__level__iexact=address.words)
            | Q(run__condition__icontains=address.words)
            | (Q(run=number) if number is not None else Q(pk__in=()))
        )
    run = chosen.columns[0].trajectory.run
    alike = Case(
        When(run__level=run.level, run__condition=run.condition, then=Value(0)), default=Value(1)
    )
    shown = trajectories.with_row_relations(others.order_by(alike, "-pk"))[:CANDIDATES]
    return ComparisonCandidates(
        tuple(trajectories.trajectory_rows(shown)),
        others.order_by().count(),
        tuple(agents.order_by("title").values_list("pk", "title")),
    )
