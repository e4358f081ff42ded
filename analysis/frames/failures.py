"""Faults of trajectories by turn, from turns, violations and outcomes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from analysis.stats.failure_causes import FailedTrajectory
from benchmarks.core.ports.faults import RETURNED, UNCHANGED, Faults
from benchmarks.core.registry import find_system
from benchmarks.models import Trajectory, Turn, Violation

# At most this many trajectories are named in one query.
CHUNK = 500


@dataclass
class TrajectoryFaults:
    """The faults of one trajectory: by key the turns that show it, ascending.

    A fault of the whole trajectory stands at its last turn and is named in ``at_end`` too.
    ``events`` has the faults by turn, without those that another fault of the turn says already.
    """

    turns: dict[str, list[int]] = field(default_factory=dict)
    at_end: set[str] = field(default_factory=set)
    events: dict[int, set[str]] = field(default_factory=dict)

    def add(self, fault: str, turn: int, *, event: bool = True) -> None:
        """Note that a turn shows a fault; more than once is once."""
        turns = self.turns.setdefault(fault, [])
        if turn not in turns:
            turns.append(turn)
        if event:
            self.events.setdefault(turn, set()).add(fault)

    def steps(self, order: Sequence[str]) -> tuple[tuple[tuple[str, ...], int | None], ...]:
        """Return the faults of each turn with any, in ``order``, then those known at the end."""
        steps: list[tuple[set[str], int | None]] = []
        for turn in sorted(self.events):
            steps.append((self.events[turn], turn))
        steps.append((self.at_end, None))
        return tuple((tuple(sorted(step, key=order.index)), turn) for step, turn in steps if step)


def find_faults(ids: Sequence[int], faults: Faults) -> dict[int, TrajectoryFaults]:
    """Return the faults of trajectories of one system, an entry for each of them."""
    by_trajectory: dict[int, TrajectoryFaults] = {pk: TrajectoryFaults() for pk in ids}
    for at in range(0, len(ids), CHUNK):
        some = ids[at : at + CHUNK]
        _add_repeats(Turn.objects.filter(trajectory__in=some), by_trajectory)
        if faults.violations or faults.violated_again:
            _add_violations(some, faults, by_trajectory)
        if faults.turn_parts:
            _add_turns(Turn.objects.filter(trajectory__in=some), faults, by_trajectory)
        if faults.outcome_parts:
            _add_outcomes(some, faults, by_trajectory)
    for faulty in by_trajectory.values():
        for turns in faulty.turns.values():
            turns.sort()
    return by_trajectory


class KnownFailures(NamedTuple):
    """Ended trajectories of any systems: how each ended and its faults, by names of their own.

    ``does`` says of each name what trajectories with it do, ``titles`` what it is called. ``once``
    are the faults whose return has a name of its own; ``tasks`` are the trajectories' tasks.
    """

    ones: Mapping[int, FailedTrajectory]
    does: Mapping[str, str]
    titles: Mapping[str, str]
    once: frozenset[str]
    tasks: Mapping[int, int]


def known_failures(ids: Sequence[int]) -> KnownFailures:
    """Return endings and faults of trajectories; those of different systems have other names."""
    systems: dict[str, dict[int, str]] = {}
    tasks: dict[int, int] = {}
    once: set[str] = set()
    for at in range(0, len(ids), CHUNK):
        rows = Trajectory.objects.filter(pk__in=ids[at : at + CHUNK]).order_by("pk")
        fields = ("pk", "run__dataset__system", "termination", "task")
        for pk, name, ending, task in rows.values_list(*fields):
            systems.setdefault(name, {})[pk] = ending
            tasks[pk] = task
    ones: dict[int, FailedTrajectory] = {}
    does: dict[str, str] = {}
    titles: dict[str, str] = {}
    for key, endings in systems.items():
        system = find_system(key)
        for code, fault in system.faults.all.items():
            does[f"{key} fault {code}"] = fault.does
            titles[f"{key} fault {code}"] = fault.title
        by_trajectory = find_faults(list(endings), system.faults)
        once |= {f"{key} fault {code}" for code in named_returns(system.faults)}
        order = list(system.faults.all)
        for pk, code in endings.items():
            named = system.labels.ending(code)
            does[f"{key} ending {code}"] = named.does or f"end as “{named.title}”"
            titles[f"{key} ending {code}"] = named.title
            faulty = by_trajectory[pk]
            ones[pk] = FailedTrajectory(
                f"{key} ending {code}",
                frozenset(f"{key} fault {fault}" for fault in faulty.turns),
                tuple(
                    (tuple(f"{key} fault {fault}" for fault in step), turn)
                    for step, turn in faulty.steps(order)
                ),
            )
    return KnownFailures(ones, does, titles, frozenset(once), tasks)


def named_returns(faults: Faults) -> frozenset[str]:
    """Return the faults whose return has a name of its own: violations, if these can return."""
    again = faults.violated_again
    return frozenset({again, *faults.violations.values()} if again else ())


def _add_repeats(turns: QuerySet[Turn], by_trajectory: Mapping[int, TrajectoryFaults]) -> None:
    """Find turns whose text is that of an earlier one, compared within the database."""
    same = Turn.objects.filter(trajectory=OuterRef("trajectory"), text=OuterRef("text"))
    rows = (
        turns.exclude(text="")
        .order_by()
        .annotate(
            unchanged=Exists(same.filter(index=OuterRef("index") - 1)),
            returned=Exists(same.filter(index__lt=OuterRef("index") - 1)),
        )
        .filter(Q(unchanged=True) | Q(returned=True))
    )
    for pk, index, unchanged in rows.values_list("trajectory", "index", "unchanged"):
        by_trajectory[pk].add(UNCHANGED if unchanged else RETURNED, index)


def returned_to(trajectory: int, turn: int) -> int | None:
    """Return the first turn with the text of this one; None where no earlier turn has it."""
    turns = Turn.objects.filter(trajectory=trajectory)
    same = turns.filter(text__in=turns.filter(index=turn).values("text"), index__lt=turn)
    return same.order_by("index").values_list("index", flat=True).first()


def _add_violations(
    ids: Sequence[int], faults: Faults, by_trajectory: Mapping[int, TrajectoryFaults]
) -> None:
    rows = Violation.objects.filter(turn__trajectory__in=ids).order_by()
    about = rows.values_list("turn__trajectory", "turn__index", "kind", "repeated").distinct()
    for pk, index, kind, repeated in about:
        if fault := faults.violations.get(kind):
            by_trajectory[pk].add(fault, index, event=not (repeated and faults.violated_again))
        if repeated and faults.violated_again:
            by_trajectory[pk].add(faults.violated_again, index)


def _add_turns(
    turns: QuerySet[Turn], faults: Faults, by_trajectory: Mapping[int, TrajectoryFaults]
) -> None:
    for pk, index, *values in _with_parts(turns, faults.turn_parts, "trajectory", "index"):
        for fault in faults.in_turn(dict(zip(faults.turn_parts, values, strict=True))):
            by_trajectory[pk].add(fault, index)


def _add_outcomes(
    ids: Sequence[int], faults: Faults, by_trajectory: Mapping[int, TrajectoryFaults]
) -> None:
    rows = Trajectory.objects.filter(pk__in=ids)
    for pk, last, *values in _with_parts(rows, faults.outcome_parts, "pk", "turn_count"):
        for fault in faults.at_end(dict(zip(faults.outcome_parts, values, strict=True))):
            by_trajectory[pk].add(fault, last, event=False)
            by_trajectory[pk].at_end.add(fault)


def _with_parts(
    rows: QuerySet[Any], parts: Sequence[str], *fields: str
) -> Iterable[tuple[Any, ...]]:
    """Yield these fields and parts of the payload; the rest of it is not read."""
    named = {f"part_{place}": F(f"payload__{part}") for place, part in enumerate(parts)}
    records: Iterable[tuple[Any, ...]] = (
        rows.order_by().annotate(**named).values_list(*fields, *named)
    )
    return records
