"""Turns of several trajectories in rows, and each plan against the base's of the same row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.browser.comparison.address import BASE, BEFORE, END, PORTION
from analysis.browser.comparison.candidates import Chosen, Column
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
class Against:
    """A plan held against the base's. ``turn`` is the base's turn."""

    label: str
    turn: int
    change: PlanChange


@dataclass(frozen=True)
class Cell:
    """A trajectory at one place: its turn, or None where it has none there.

    ``alone`` says that the base has no turn at this place; ``scored`` has the scores on the
    dimension that the address names.
    """

    column: Column
    card: Sequence[str]
    turn: TurnView | None = None
    against: Against | None = None
    alone: bool = False
    scored: DimensionScores | None = None


@dataclass(frozen=True)
class Row:
    """One place in the alignment, counted from 1."""

    place: int
    title: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Portion:
    """The rows that are shown of ``total``, with where the portions beside them begin."""

    rows: tuple[Row, ...]
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


def turn_at(column: Column, place: int, longest: int, align: str) -> int | None:
    """The index of the turn that a trajectory has at a place, counted from 1.

    Aligned at the end, the last turns of all stand at the last place.
    """
    at = place - 1 - (longest - len(column.turns) if align == END else 0)
    return column.turns[at] if 0 <= at < len(column.turns) else None


def place_title(place: int, longest: int, align: str) -> str:
    """What a place is called: by its turn, or by how far it is from the last one."""
    if align != END:
        return f"Turn {place}"
    left = longest - place
    return f"{left} before the last" if left else "Last turn"


def portion(chosen: Chosen) -> Portion:
    """The turns of a comparison from the place that its address names.

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
    turns = {(pk, turn.row.index): turn for pk, found in views.items() for turn in found}
    rows = []
    for place in places:
        at = {
            column.pk: turns.get((column.pk, wanted[column.pk, place]))
            for column in chosen.columns
            if (column.pk, place) in wanted
        }
        cells = tuple(_cell(chosen, column, at) for column in chosen.columns)
        rows.append(Row(place, place_title(place, longest, address.align), cells))
    return Portion(tuple(rows), first, longest)


def _cell(chosen: Chosen, column: Column, at: dict[int, TurnView | None]) -> Cell:
    card = own_template(column.trajectory.run.dataset.system, "_turn.html")
    turn, base = at.get(column.pk), chosen.base
    diff = chosen.address.diff
    if turn is None:
        return Cell(column, card)
    asked = chosen.address.dimension
    scored = next((one for one in turn.dimensions if asked and one.key == asked), None)
    if diff != BEFORE:
        turn = replace(turn, previous=None)
    if diff != BASE or base is None or column.is_base:
        return Cell(column, card, turn, scored=scored)
    other = at.get(base.pk)
    if other is None:
        return Cell(column, card, turn, alone=True, scored=scored)
    change = plan_change(split_steps(other.row.text), split_steps(turn.row.text))
    against = Against(base.label, other.row.index, change)
    return Cell(column, card, turn, against, scored=scored)
