"""Columns on how two runs differ on the same tasks: counts, the test, and what is left out."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from analysis.filters.page_filters import known_dimensions, measures_here
from analysis.kit.columns import Column, RowLink
from analysis.reports import content, system_facts
from analysis.reports.content import Cell, count_cell
from analysis.reports.formatting import Unit, counted, ends, level, p_text, plural
from analysis.stats.comparison.paired import PairComparison
from analysis.stats.descriptive.means import OPEN_SCALE, Scale
from analysis.stats.results import Estimate
from benchmarks.core.registry import EXTERNAL

NOT_TESTED = "no task in common: not tested"


class Tested(Protocol):
    """A comparison; p-value and verdict are corrected over a family, None where not tested."""

    @property
    def comparison(self) -> PairComparison: ...
    @property
    def p_adjusted(self) -> float | None: ...
    @property
    def clear(self) -> bool | None: ...


Row = TypeVar("Row")
TestedRow = TypeVar("TestedRow", bound=Tested)


def itself(row: TestedRow) -> TestedRow:
    """Return a row that is a comparison."""
    return row


def tasks_column(
    label: str,
    part: str,
    count: Callable[[PairComparison], int | None],
    help: str = "",
    *,
    reason: str = "",
    link: RowLink[TestedRow] | None = None,
) -> Column[TestedRow]:
    """Return a column that counts tasks; ``reason`` says why a tested pair has no count."""

    def cell(row: TestedRow) -> Cell:
        if row.comparison.p_value is None:
            return count_cell(None, reason=NOT_TESTED)
        return count_cell(count(row.comparison), reason=reason)

    return Column(content.number_column(label, part, help), cell, link)


def p_column(tested: Callable[[Row], Tested | None], why_none: str = "") -> Column[Row]:
    """Return a column of corrected p-values; the CSV has those of a comparison alone beside them.

    ``why_none`` says why a row has no comparison.
    """
    head = content.Column(
        "p", ("p adjusted", "p alone"), help="Score test, corrected over the family"
    )

    def cell(row: Row) -> Cell:
        one = tested(row)
        if one is None or one.p_adjusted is None or one.comparison.p_value is None:
            return Cell(data=(None, None), reason=why_none if one is None else NOT_TESTED)
        data = (float(f"{one.p_adjusted:.6g}"), float(f"{one.comparison.p_value:.6g}"))
        return Cell(p_text(one.p_adjusted), data)

    return Column(head, cell)


def clear_column(tested: Callable[[Row], Tested]) -> Column[Row]:
    """Return a column that says whether a difference is clear."""

    def cell(row: Row) -> Cell:
        clear = tested(row).clear
        if clear is None:
            return Cell(data=(None,), reason=NOT_TESTED)
        return content.text_cell("yes" if clear else "no")

    help = "Whether p is under 0.05, and the interval excludes 0"
    return Column(content.text_column("Clear", help=help), cell)


def left_out_column(tested: Callable[[Row], Tested | None], why_none: str = "") -> Column[Row]:
    """Return a column that counts what a comparison leaves out."""

    def cell(row: Row) -> Cell:
        one = tested(row)
        if one is None:
            return Cell(data=(None,), reason=why_none)
        left = one.comparison.difference.excluded
        return count_cell(sum(left.values()), tip=counted(left))

    help = "Values without a number, and unshared tasks"
    return Column(content.number_column("Left out", help=help), cell)


def interval_and_n(difference: Estimate, unit: Unit) -> str:
    """Return such as: 95 % simultaneous interval −3.1 to 12.5, n = 32 tasks."""
    n, interval = f"n = {plural(difference.n, 'task')}", difference.interval
    if interval is None:
        return n
    return f"{level(interval)} interval {ends(interval, unit).removesuffix(' %')}, {n}"


def scale_of(system: str, metric: str) -> Scale:
    """Return the least and the largest value of a measure; None for an end that it lacks."""
    if metric in known_dimensions(system):
        return system_facts.RUBRIC_SCALE
    # Rewards of trajectories made elsewhere may be below 0.
    return OPEN_SCALE if system == EXTERNAL else (0, measures_here(system)[metric].most)
