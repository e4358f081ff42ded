"""Turns of several trajectories aligned in rows, each plan compared with the base's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.browser.comparison.address import BASE, BEFORE, END, PORTION
from analysis.browser.comparison.candidates import ComparedTrajectories, ComparedTrajectory
from benchmarks.core.plans import split_steps
from benchmarks.responses import own_template
from benchmarks.trajectories.turns import (
    DimensionScores,
    PlanChange,
    TurnView,
    plan_change,
    turn_views,
)


@dataclass(frozen=True)
class PlanDifference:
    """The difference of a plan from the base's. ``turn`` is the base's turn."""

    label: str
    turn: int
    change: PlanChange


@dataclass(frozen=True)
class AlignedCell:
    """A trajectory at one position: its turn, or None where it has none.

    ``alone``: the base has no turn at this position. ``scored`` holds the scores on the dimension
    that the address names.
    """

    column: ComparedTrajectory
    card: Sequence[str]
    turn: TurnView | None = None
    against: PlanDifference | None = None
    alone: bool = False
    scored: DimensionScores | None = None


@dataclass(frozen=True)
class AlignedRow:
    """One position of the alignment, counted from 1."""

    place: int
    title: str
    cells: tuple[AlignedCell, ...]


@dataclass(frozen=True)
class TurnPortion:
    """The rows shown of ``total``, and where the neighbouring portions begin."""

    rows: tuple[AlignedRow, ...]
    first: int
    total: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def next(self) -> int | None:
        return self.last + 1 if self.rows and self.last < self.total else None

    @property
    def next_last(self) -> int:
        return min(self.last + PORTION, self.total)

    @property
    def previous(self) -> int | None:
        return max(1, self.first - PORTION) if self.first > 1 else None


def turn_at(column: ComparedTrajectory, place: int, longest: int, align: str) -> int | None:
    """Return the index of the turn that a trajectory has at a place, counted from 1.

    Aligned at the end, the last turns of all stand at the last place.
    """
    at = place - 1 - (longest - len(column.turns) if align == END else 0)
    return column.turns[at] if 0 <= at < len(column.turns) else None


def place_title(place: int, longest: int, align: str) -> str:
    """Return the title of a position: its turn, or its distance from the last turn."""
    if align != END:
        return f"Turn {place}"
    left = longest - place
    return f"{left} before the last" if left else "Last turn"


def portion(chosen: ComparedTrajectories) -> TurnPortion:
    """Return the turns of a comparison from the place that its address names.

    Only what is shown is read; the queries do not grow with the number of turns.
    """
    address, longest = chosen.address, chosen.longest
    first = address.first if address.first <= longest else 1
    places = range(first, min(first + PORTION, longest + 1))
    wanted = {
        (column.pk, place): index
        for column in chosen.columns
        for place in places
        if (index := turn_at(column, place, longest, address.align)) is not None
    }
    views = turn_views([c.trajectory for c in chosen.columns], only=set(wanted.values()))
    turns = {(pk, turn.row.index): turn for pk, shown in views.items() for turn in shown}
    rows = []
    for place in places:
        at = {
            column.pk: turns.get((column.pk, wanted[column.pk, place]))
            for column in chosen.columns
            if (column.pk, place) in wanted
        }
        cells = tuple(_cell(chosen, column, at) for column in chosen.columns)
        rows.append(AlignedRow(place, place_title(place, longest, address.align), cells))
    return TurnPortion(tuple(rows), first, longest)


def _cell(
    chosen: ComparedTrajectories, column: ComparedTrajectory, at: dict[int, TurnView | None]
) -> AlignedCell:
    card = own_template(column.trajectory.run.dataset.system, "_turn.html")
    turn, base = at.get(column.pk), chosen.base
    diff = chosen.address.diff
    if turn is None:
        return AlignedCell(column, card)
    asked = chosen.address.dimension
    scored = next((one for one in turn.dimensions if asked and one.key == asked), None)
    if diff != BEFORE:
        turn = replace(turn, previous=None)
    if diff != BASE or base is None or column.is_base:
        return AlignedCell(column, card, turn, scored=scored)
    other = at.get(base.pk)
    if other is None:
        return AlignedCell(column, card, turn, alone=True, scored=scored)
    change = plan_change(split_steps(other.row.text), split_steps(turn.row.text))
    against = PlanDifference(base.label, other.row.index, change)
    return AlignedCell(column, card, turn, against, scored=scored)
