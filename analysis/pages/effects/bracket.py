"""Changes by the scripts of a bracket: an order follows only where scripts of all sides agree."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from analysis.frames.sizes import policy_of
from analysis.pages.declaration import ColumnOf, text_of
from analysis.pages.effects.rows import EffectsData, EffectsResult, MeanChange, compare_values
from analysis.pages.effects.tables import change_cell
from analysis.reports.content import estimate_column, text_cell, text_column
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from analysis.filters.selection import Selection


class BracketRow(NamedTuple):
    """The mean change from one value to another, by the title of each side."""

    base: str
    condition: str
    by_side: Mapping[str, MeanChange]

    @property
    def direction(self) -> int:
        """1 or −1 where the change is clear on all sides and has this sign there; else 0."""
        moves = self.by_side.values()
        signs = {move.direction if move.is_clear else 0 for move in moves}
        return signs.pop() if len(signs) == 1 else 0

    @property
    def follows(self) -> str:
        """What follows for the measure, in a word or two."""
        return {1: "higher", -1: "lower", 0: "no order"}[self.direction]


class BracketResult(NamedTuple):
    """The changes by side, and the sides of which there are runs or none."""

    rows: Sequence[BracketRow]
    sides: Sequence[str]
    lacking: Sequence[str]

    @property
    def agreed(self) -> list[BracketRow]:
        return [row for row in self.rows if row.direction]

    @property
    def undecided(self) -> list[BracketRow]:
        return [row for row in self.rows if not row.direction]


def sides_of(selection: "Selection", factor: str) -> dict[str, str]:
    """Return the side of each agent that is a script of the bracket, by label; empty without."""
    bracket = find_system(selection.system).comparisons.bracket
    if bracket is None or factor not in bracket.factors:
        return {}
    sides = ((run.label, bracket.side_of(policy_of(run))) for run in selection.runs)
    return {label: side.title for label, side in sides if side is not None}


def compute_bracket(
    data: EffectsData, sides: Mapping[str, str], titles: Sequence[str]
) -> BracketResult | None:
    """Compare the values of the factor side by side; None without scripts of a bracket.

    ``sides`` names the side of each agent, ``titles`` are those of all sides in their order.
    """
    if not sides:
        return None
    there = [title for title in titles if title in sides.values()]
    moves: dict[tuple[str, str], dict[str, MeanChange]] = {}
    for title in there:
        mine = {label for label, side in sides.items() if side == title}
        effects = compare_values(data, [run for run in data.runs if run.label in mine])
        for (condition, base), estimate in effects.overall.items() if effects else ():
            if estimate.value is not None:
                found = moves.setdefault((base, condition), {})
                found[title] = MeanChange(base, condition, estimate)
    rows = [
        BracketRow(base, condition, by_side) for (base, condition), by_side in moves.items()
        if len(by_side) == len(titles)
    ]  # fmt: skip
    return BracketResult(rows, there, [title for title in titles if title not in there])


def bracket_columns(
    result: EffectsResult, bracket: BracketResult
) -> Sequence[ColumnOf[BracketRow]]:
    """Give the mean change of each side, and what follows from all of them."""

    def column(title: str) -> ColumnOf[BracketRow]:
        return ColumnOf(
            estimate_column(title, help="Mean change over these scripts; n counts scripts"),
            lambda row: change_cell(result, row.by_side[title].estimate),
        )

    return (
        text_of("From", lambda row: row.base),
        text_of("To", lambda row: row.condition),
        *(column(title) for title in bracket.sides),
        ColumnOf(
            text_column("Follows", help="What the scripts of all sides clearly agree on"),
            lambda row: text_cell(row.follows),
        ),
    )
