"""Changes by the scripts of a bracket: an order follows only where scripts of all sides agree."""

from collections.abc import Mapping
from typing import NamedTuple

from analysis.frames.sizes import policy_of
from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.kit.page import Page
from analysis.pages.effects.rows import Varied, compare_values, mean_changes
from analysis.reports.formatting import first_up, listed, stated_change
from analysis.stats.results import Estimate


class SideChanges(NamedTuple):
    """The mean change from one value to another, by the title of each side."""

    base: str
    condition: str
    by_side: Mapping[str, Estimate]

    def follows(self) -> str:
        """Return what follows for the measure: an order where all sides clearly agree on it."""
        signs = {
            ("higher" if (change.value or 0) > 0 else "lower") if change.is_clear else "no order"
            for change in self.by_side.values()
        }
        return signs.pop() if len(signs) == 1 else "no order"


class Sides(NamedTuple):
    """The changes by side, and the sides of which there are runs or none."""

    rows: list[SideChanges]
    sides: list[str]
    lacking: list[str]


def compare_sides(page: Page, data: Varied) -> Sides | None:
    """Compare the values of the factor side by side; None without scripts of a bracket."""
    bracket = page.system.comparisons.bracket
    if bracket is None or data.factor.name not in bracket.factors:
        return None
    side_of = {run.label: bracket.side_of(policy_of(run)) for run in page.runs}
    titles = [side.title for side in bracket.sides]
    there = [side.title for side in bracket.sides if side in side_of.values()]
    if not there:
        return None
    changes: dict[tuple[str, str], dict[str, Estimate]] = {}
    for side in bracket.sides:
        mine = [run for run in data.runs if side_of[run.label] == side]
        for move in mean_changes(compare_values(data, mine)):
            if move.estimate.value is not None:
                changes.setdefault((move.base, move.condition), {})[side.title] = move.estimate
    rows = [SideChanges(*pair, by) for pair, by in changes.items() if len(by) == len(titles)]
    return Sides(rows, there, [title for title in titles if title not in there])


def sides_in_words(bracket: Sides, data: Varied) -> str:
    """Say which orders follow from scripts with opposite assumptions."""
    sides = listed(bracket.sides, most=3).lower()
    if bracket.lacking:
        lacking = listed(bracket.lacking, most=3).lower()
        return f"No order follows from {sides} scripts alone: run {lacking} ones, too."
    sentences, open_pairs = [], []
    for row in bracket.rows:
        if row.follows() == "no order":
            open_pairs.append(f"of “{row.base}” and “{row.condition}”")
            continue
        changes = (
            f"{side.lower()} {stated_change(change, data.unit)}"
            for side, change in row.by_side.items()
        )
        sentences.append(
            f"{first_up(sides)} scripts agree that {data.measure.title} is {row.follows()} with "
            f"“{row.condition}” than with “{row.base}” ({'; '.join(changes)})."
        )
    if open_pairs:
        who = "They" if sentences else f"{first_up(sides)} scripts"
        *before, last = open_pairs
        pairs = f"{', '.join(before)}, or {last}" if before else last
        sentences.append(f"{who} agree on no order {pairs}, so none follows.")
    return " ".join(sentences)


def sides_table(page: Page, bracket: Sides, data: Varied) -> None:
    """Add the mean change of each side, and what follows from all of them."""

    def side(title: str) -> Column[SideChanges]:
        help = "Mean change over these scripts; n counts scripts"
        return columns.change(title, lambda row: row.by_side[title], data.unit, help=help)

    page.table(
        "bracket",
        f"{listed(bracket.sides).capitalize()} scripts",
        bracket.rows,
        [
            columns.text("From", lambda row: row.base),
            columns.text("To", lambda row: row.condition),
            *map(side, bracket.sides),
            columns.text(
                "Follows",
                lambda row: row.follows(),
                help="What the scripts of all sides clearly agree on",
            ),
        ],
        note="Scripts with opposite assumptions about agents: what a real agent does lies between "
        "them. An order follows only where the interval of every side excludes 0 in the same "
        "direction.",
    )
