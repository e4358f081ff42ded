"""The kit of analysis pages: a page is one generator, its sentences beside the numbers they state.

A page's module has a function ``content``. What it calls before its ``yield`` is shown at once: an
answer, one figure and one table. What follows is computed when details are opened::

    def content(page: Page) -> Content:
        if not page.runs:
            return no_runs(page, "This page compares agents.")
        rows = ...
        page.answer(f"{rows[0].label} leads with {rows[0].main}.")
        page.figure("board", "Accuracy", lambda: draw(rows))
        page.table("board", "Agents", rows, [columns.agent(lambda row: row.run), ...])
        yield
        page.how("Agents are ranked by accuracy.")

What takes too long for a request is a function ``deferred``, which a job calls. Texts are plain:
pages escape them, files and LaTeX take them as they are. An empty text is left out.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from analysis.figures.layout.theme import Figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.kit.columns import Column, linked, row_cells
from analysis.kit.few_clusters import with_few_clusters
from analysis.kit.links import Addresses, Link, Links, OneAddress
from analysis.reports import addresses, chosen_runs, extremes, figure_specs
from analysis.reports.content import (
    Banner,
    Empty,
    Notice,
    Onward,
    Report,
    Table,
    join_reports,
)
from analysis.reports.formatting import Unit
from analysis.stats.results import Estimate
from benchmarks.core.registry import find_system
from benchmarks.core.system import System

Row = TypeVar("Row")
Draw = Callable[[], Figure | None]
Content = Generator[None, None, None]
PartKind = Literal["figure", "table"]


class Sheet:
    """The parts of a report, in the order in which they are called.

    ``links`` knows the addresses of numbers. ``missing`` names the kinds of parts of which one was
    called and had nothing to show.
    """

    def __init__(self, links: Addresses) -> None:
        self.links = links
        self.report = Report()
        self.missing: set[PartKind] = set()

    def answer(self, text: str) -> None:
        """State the answer; further calls add sentences."""
        self._set(sentence=f"{self.report.sentence} {text}".strip())

    def info(self, text: str, url: str = "", link: str = "List them") -> None:
        """Add what a reader should know; ``url`` lists what it counts, and ``link`` names it."""
        self._notice(Notice(text, "info", url, link))

    def warning(self, text: str, url: str = "") -> None:
        """Add what limits how the page may be read."""
        self._notice(Notice(text, "warning", url))

    def banner(self, title: str, text: str) -> None:
        """Mark the page as not the real thing."""
        self._set(banners=(*self.report.banners, Banner(title, text)))

    def onward(self, text: str, url: str) -> None:
        """Add a link to where a reader may go on."""
        self._set(onward=(*self.report.onward, Onward(text, url)))

    def how(self, *texts: str) -> None:
        """Say how it was computed, a line each."""
        self._set(how=(*self.report.how, *filter(None, texts)))

    def methods(self, text: str) -> None:
        """Say in a sentence for a paper what was measured."""
        self._set(methods=f"{self.report.methods} {text}".strip())

    def figure(
        self,
        name: str,
        title: str,
        draw: Draw | None,
        *,
        subtitle: str = "",
        table: str = "",
        least_width: int = 0,
    ) -> None:
        """Add a figure; without ``draw`` it has nothing to show.

        ``table`` names the table with its numbers, where that has another name. A figure narrower
        than ``least_width`` pixels scrolls.
        """
        if draw is None:
            self.missing.add("figure")
        elif (drawn := draw()) is not None:
            spec = figure_specs.figure_spec(
                name, title, subtitle, drawn, table=table or name, least_width=least_width
            )
            self._set(figures=(*self.report.figures, spec))

    def table(
        self,
        name: str,
        title: str,
        rows: Sequence[Row],
        columns: Iterable[Column[Row] | Literal[False]],
        *,
        link: Callable[[Row], Link | None] = lambda _: Link(),
        note: str = "",
        folded: bool = False,
        most: int | None = None,
    ) -> None:
        """Add a table, as far as there are rows; ``link`` is what the numbers of a row count.

        ``folded``: its rows are shown on request; ``most``: so many rows at most, the CSV has all.
        """
        if not rows:
            self.missing.add("table")
            return
        kept = [column for column in columns if column]
        cells = tuple(row_cells(row, kept, link, self.links) for row in rows)
        heads = tuple(column.head for column in kept)
        self._table(Table(name, title, heads, cells, note=note, open=not folded, most=most))

    def ready_table(
        self,
        table: Table | None,
        links: Sequence[Link] | None = None,
        *,
        note: str = "",
    ) -> None:
        """Add a table that other reports show too; ``links`` are what its rows count, in order."""
        if table is None:
            return
        rows = table.rows
        if links is not None:
            rows = tuple(
                tuple(
                    linked(cell, head, link, self.links)
                    for cell, head in zip(row, table.columns, strict=True)
                )
                for row, link in zip(rows, links, strict=True)
            )
        self._table(replace(table, rows=rows, note=note or table.note))

    def nothing(
        self, title: str, text: str, action: str = "", url: str = "", needs: str = ""
    ) -> None:
        """Say why there is nothing to show, and the one thing to do about it."""
        self._set(empty=Empty(title, text, action, url, needs))

    def _notice(self, notice: Notice) -> None:
        if notice.text:
            self._set(notices=(*self.report.notices, notice))

    def _table(self, table: Table) -> None:
        self._set(tables=(*self.report.tables, table))

    def _set(self, **parts: Any) -> None:
        self.report = replace(self.report, **parts)


class Page(Sheet):
    """A page about chosen runs or a study, while it is written.

    ``answers``: whether the result answers the page's question; without data in the address, a page
    opens on data that do. ``waits``: a job still computes the answer, so it must not be stored.
    """

    def __init__(self, selection: Selection, *, draws: bool = True) -> None:
        super().__init__(Links(selection))
        self.selection = selection
        self.runs: tuple[ChosenRun, ...] = selection.runs
        self.system: System = find_system(selection.system)
        self.answers, self.waits = True, False
        self.unseen = ""
        self._draws = draws

    def compared(self, differences: Sequence[Estimate], unit: Unit) -> None:
        """Name the differences that are tested: of unclear ones, say which size would show."""
        self.unseen = extremes.unseen(differences, unit)

    def url(self, **about: Any) -> str:
        """Return the address of what a mark counts, by the fields of a `Link`."""
        return self.links.url(Link(**about))

    def other(self, key: str, **more: Any) -> str:
        """Return the address of another page about the same runs, with further filters."""
        return addresses.page_of(key, self.selection, **more)

    def figure(self, name: str, title: str, draw: Draw | None, **more: Any) -> None:
        """Add a figure, which is drawn only where it is shown."""
        super().figure(name, title, draw if self._draws or draw is None else _nothing, **more)

    def turn_to_details(self) -> Report:
        """Return what was written so far and begin anew, with what details show."""
        first, self.report, self._draws = self.report, Report(), True
        return first


def _nothing() -> None:
    """Draw nothing."""


@dataclass(frozen=True)
class WrittenPage:
    """A page as others ask for it: what it shows at once, in its details, and after a job."""

    content: Callable[[Page], Content]
    deferred: Callable[[Page], None] | None = None

    def answer(self, selection: Selection) -> Report:
        """Return the sentence with its figure and its table, or why there is none.

        Where the first figure or table has nothing to show, the first of the details is shown.
        """
        page = Page(selection)
        written = self.content(page)
        next(written, None)
        selected = tuple(chosen_runs.selection_notices(selection))
        report, missing = page.report, set(page.missing)
        if report.empty is not None:
            return replace(report, notices=(*selected, *report.notices))
        if missing:
            page.turn_to_details()
            next(written, None)
            report = _with_first(report, page.report, missing)
        report = replace(
            report,
            notices=(*selected, *report.notices),
            answers=page.answers,
            waits=page.waits,
        )
        report = with_few_clusters(report)
        unseen = (Notice(page.unseen),) if page.unseen else ()
        return replace(report, notices=(*report.notices, *unseen))

    def details(self, selection: Selection) -> Report:
        """Return the other figures and tables, and how all of it was computed."""
        page = Page(selection, draws=False)
        written = self.content(page)
        next(written, None)
        if page.report.empty is not None:
            return Report()
        missing = set(page.missing)
        first = page.turn_to_details()
        next(written, None)
        report = replace(
            page.report,
            how=(*chosen_runs.how_runs(selection), *page.report.how),
            waits=page.waits,
        )
        shown = _with_first(Report(tables=first.tables), report, missing)
        report = replace(
            report,
            figures=tuple(one for one in report.figures if one not in shown.figures),
            tables=tuple(one for one in report.tables if one not in shown.tables),
        )
        # What the answer warns of already is not shown twice.
        seen = with_few_clusters(shown).notices
        report = with_few_clusters(report)
        return replace(report, notices=tuple(one for one in report.notices if one not in seen))

    def deferred_report(self, selection: Selection) -> Report:
        """Return what takes too long for a request."""
        assert self.deferred is not None
        page = Page(selection)
        self.deferred(page)
        return with_few_clusters(page.report)


def _with_first(report: Report, details: Report, missing: set[PartKind]) -> Report:
    """Return the report with the first figure or table of its details where it has none."""
    return replace(
        report,
        figures=(*report.figures, *details.figures[: "figure" in missing]),
        tables=(*report.tables, *details.tables[: "table" in missing]),
    )


def report_of(content: Callable[[Sheet], Iterator[None]], *, address: str = "") -> Report:
    """Return answer and details of something else than chosen runs as one report.

    Numbers link to ``address``, if it is given.
    """
    sheet = Sheet(OneAddress(address))
    written = content(sheet)
    next(written, None)
    answer, sheet.report = sheet.report, Report()
    next(written, None)
    return join_reports(answer, sheet.report)
