"""Columns of a page's tables: how a row becomes a cell, and where its number links.

A page lists columns and leaves out some by condition, so a list may hold False in place of one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

from analysis.filters.selection import ChosenRun
from analysis.kit.links import Addresses, Link
from analysis.reports import content, run_marks
from analysis.reports.content import Cell
from analysis.reports.formatting import Unit, ends
from analysis.stats.results import Estimate

Row = TypeVar("Row")
RowLink = Callable[[Row], Link | None]


class Column(NamedTuple, Generic[Row]):
    """A column: its head, the cell of a row, and the link of its numbers (default: the row's)."""

    head: content.Column
    cell: Callable[[Row], Cell]
    link: RowLink[Row] | None = None


def text(
    label: str,
    value: Callable[[Row], str],
    part: str = "",
    *,
    sub: Callable[[Row], str] = lambda _: "",
    url: Callable[[Row], str] = lambda _: "",
    tip: Callable[[Row], str] = lambda _: "",
    help: str = "",
) -> Column[Row]:
    """Return a column of words, with an address; ``sub`` stands under them, ``tip`` on focus."""
    head = content.text_column(label, part, help)

    def cell(row: Row) -> Cell:
        return replace(content.text_cell(value(row), sub=sub(row), url=url(row)), tip=tip(row))

    return Column(head, cell)


def sentences(
    label: str,
    value: Callable[[Row], str],
    part: str = "",
    *,
    source: Callable[[Row], str] = lambda _: "",
) -> Column[Row]:
    """Return a column of sentences; ``source`` is where a paper has them."""

    def cell(row: Row) -> Cell:
        return replace(content.text_cell(value(row)), source=source(row))

    return Column(content.words_column(label, part), cell)


def agent(run: Callable[[Row], ChosenRun]) -> Column[Row]:
    """Return a column of agents, each linked to the trajectories of its run."""
    head = content.Column("Agent", ("agent", "kind", "run"), num=False)
    return Column(head, lambda row: run_marks.agent_cell(run(row)))


def agent_of_runs(
    runs: Callable[[Row], Sequence[ChosenRun]], url: Callable[[Row], str] = lambda _: ""
) -> Column[Row]:
    """Return a column of agents by several runs of each, with the badges of all of them."""

    def cell(row: Row) -> Cell:
        first, *_ = own = runs(row)
        badges = dict.fromkeys(badge for run in own for badge in run_marks.agent_badges(run))
        data = (first.label, first.agent_kind)
        return Cell(first.label, data, url=url(row), badges=tuple(badges))

    return Column(content.Column("Agent", ("agent", "kind"), num=False), cell)


def count(
    label: str,
    value: Callable[[Row], int | None],
    part: str = "",
    help: str = "",
    *,
    reason: str = "",
    link: RowLink[Row] | None = None,
) -> Column[Row]:
    """Return a column of counts; ``reason`` says why a row has none."""
    head = content.number_column(label, part, help)
    return Column(head, lambda row: content.count_cell(value(row), reason=reason), link)


def number(
    label: str,
    value: Callable[[Row], float | None],
    unit: Unit,
    part: str = "",
    help: str = "",
    *,
    reason: str = "",
    link: RowLink[Row] | None = None,
) -> Column[Row]:
    """Return a column of numbers without intervals; ``reason`` says why a row has none."""
    head = content.number_column(label, part, help)
    return Column(head, lambda row: content.number_cell(value(row), unit, reason=reason), link)


def estimate(
    label: str,
    value: Callable[[Row], Estimate],
    unit: Unit,
    *,
    part: str = "",
    help: str = "",
    signed: bool = False,
    show_n: bool = False,
    link: RowLink[Row] | None = None,
) -> Column[Row]:
    """Return a column of values with their intervals."""
    return Column(
        content.estimate_column(label, part, help),
        lambda row: content.estimate_cell(value(row), unit, signed=signed, show_n=show_n),
        link,
    )


def change(
    label: str,
    value: Callable[[Row], Estimate],
    unit: Unit,
    *,
    part: str = "",
    help: str = "",
    link: RowLink[Row] | None = None,
) -> Column[Row]:
    """Return a column of differences with their signs and n; those of shares are in points."""

    def cell(row: Row) -> Cell:
        if unit == "share":
            return content.points_cell(value(row))
        return content.estimate_cell(value(row), "number", signed=True, show_n=True)

    return Column(content.estimate_column(label, part, help), cell, link)


def wald(value: Callable[[Row], Estimate], part: str = "wald") -> Column[Row]:
    """Return a column of Wald's intervals of shares, cut off at 0 and 100 %."""
    head = content.Column(
        "Wald",
        (f"{part} low", f"{part} high"),
        help="p ± 1.96·sqrt(p(1−p)/n), cut off at 0 and 100 %",
    )

    def cell(row: Row) -> Cell:
        within = value(row).within(0, 1)
        interval = within.interval
        if interval is None:
            return Cell(data=(None, None), reason=within.undefined or within.no_interval)
        return Cell(
            ends(interval, "share").removesuffix(" %"),
            (content.rounded(interval.low), content.rounded(interval.high)),
            tip="; ".join(within.warnings),
        )

    return Column(head, cell)


def published(model: Callable[[Row], str], source: Callable[[Row], str]) -> Column[Row]:
    """Return a column of models whose figures stand in a paper; ``source`` says where."""

    def cell(row: Row) -> Cell:
        badge = replace(run_marks.PUBLISHED_BADGE, why=source(row))
        return content.text_cell(model(row), badges=(badge,))

    return Column(content.text_column("Model"), cell)


def row_cells(
    row: Row, columns: Sequence[Column[Row]], link: RowLink[Row], links: Addresses
) -> tuple[Cell, ...]:
    """Return the cells of a row, its numbers linked."""
    return tuple(
        linked(column.cell(row), column.head, (column.link or link)(row), links)
        for column in columns
    )


def linked(cell: Cell, head: content.Column, link: Link | None, links: Addresses) -> Cell:
    """Return a cell with the address of what its number counts."""
    # 0 of something is nothing to look at.
    if link is None or not head.num or cell.url or cell.text in ("", "0"):
        return cell
    return replace(cell, url=links.url(link))
