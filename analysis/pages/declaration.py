"""The declaration of an analysis page, and how it becomes a report.

A page declares how its data are loaded, which statistics are computed from them, and what is shown:
one figure and one table with the answer, further ones in its details. Its sentences stand in
``answer.html``, ``details.html`` and ``empty.html`` in its own folder (`analysis.pages.prose`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from analysis.figures.layout.theme import Figure
from analysis.filters.selection import ChosenRun, Selection
from analysis.kit.few_clusters import with_few_clusters
from analysis.kit.links import Addresses, Link, Links, OneAddress
from analysis.pages.prose import Prose, read_prose
from analysis.reports import chosen_runs, extremes, figure_specs, run_marks
from analysis.reports.content import (
    Cell,
    Column,
    FigureSpec,
    Notice,
    Report,
    Table,
    count_cell,
    estimate_cell,
    estimate_column,
    number_column,
    text_cell,
    text_column,
)
from analysis.reports.formatting import Unit
from analysis.stats.results import Estimate

Data = TypeVar("Data")
Result = TypeVar("Result")
Result_contra = TypeVar("Result_contra", contravariant=True)
Row = TypeVar("Row")
# From what a mark is about to the address that it leads to.
UrlOf = Callable[[Link], str]
EVERYTHING = Link()


class Content(Protocol):
    """The content of a page, computed and shown; ``folder`` is where its templates are."""

    def answer(self, folder: str, selection: Selection) -> Report:
        """Return what is shown at once."""

    def details(self, folder: str, selection: Selection) -> Report:
        """Return what is shown when details are opened."""

    def deferred_report(self, folder: str, selection: Selection) -> Report:
        """Return what takes too long for a request."""


@dataclass(frozen=True)
class NothingToShow:
    """The reason why a page has nothing to show; ``empty.html`` says it, by ``reason``, from
    ``facts``.
    """

    reason: str
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ColumnOf(Generic[Row]):
    """A column with what a row has in it; its numbers lead where ``link`` says, else the row."""

    column: Column
    cell: Callable[[Row], Cell]
    link: Callable[[Row], Link | None] | None = None


def text_of(
    label: str, text: Callable[[Row], str], part: str = "", *, sub: Callable[[Row], str] = str
) -> ColumnOf[Row]:
    """Return a column of words; ``sub`` is what stands under them."""
    under = sub if sub is not str else (lambda _: "")
    return ColumnOf(text_column(label, part), lambda row: text_cell(text(row), sub=under(row)))


def agent_of(run: Callable[[Row], ChosenRun]) -> ColumnOf[Row]:
    """Return a column of agents, each leading to the trajectories of its run."""
    column = Column("Agent", ("agent", "kind", "run"), num=False)
    return ColumnOf(column, lambda row: run_marks.agent_cell(run(row)))


def count_of(
    label: str, count: Callable[[Row], int | None], part: str = "", help: str = ""
) -> ColumnOf[Row]:
    """Return a column of counts."""
    return ColumnOf(number_column(label, part, help), lambda row: count_cell(count(row)))


def estimate_of(
    label: str,
    estimate: Callable[[Row], Estimate],
    unit: Unit,
    *,
    part: str = "",
    help: str = "",
    signed: bool = False,
    show_n: bool = False,
    link: Callable[[Row], Link | None] | None = None,
) -> ColumnOf[Row]:
    """Return a column of values with their intervals."""
    return ColumnOf(
        estimate_column(label, part, help),
        lambda row: estimate_cell(estimate(row), unit, signed=signed, show_n=show_n),
        link,
    )


@dataclass(frozen=True)
class TableOf(Generic[Result, Row]):
    """A table of a page: its rows, its columns, and what the numbers of a row are about.

    Its note is the paragraph ``<p class="note" data-of="NAME">`` of the page's templates.
    ``about`` is ``link`` for rows that do not know their ids without the result.
    ``folded``: its rows are shown on request; ``most``: so many rows at most, the CSV has all.
    """

    name: str
    title: str | Callable[[Result], str]
    rows: Callable[[Result], Sequence[Row]]
    columns: Callable[[Result], Sequence[ColumnOf[Row]]]
    link: Callable[[Row], Link | None] = lambda _: EVERYTHING
    about: Callable[[Result, Row], Link | None] | None = None
    folded: bool | Callable[[Result], bool] = False
    most: int | None = None

    def build(self, result: Result, links: Addresses, prose: Prose) -> Table | None:
        """Return the table of a result; None where it has no rows."""
        rows = self.rows(result)
        if not rows:
            return None
        columns = self.columns(result)
        about = self.about
        link = self.link if about is None else lambda row: about(result, row)
        return Table(
            self.name,
            self.title if isinstance(self.title, str) else self.title(result),
            tuple(one.column for one in columns),
            tuple(tuple(_cell(one, row, link, links) for one in columns) for row in rows),
            note=prose.text("note", self.name),
            open=not (self.folded(result) if callable(self.folded) else self.folded),
            most=self.most,
        )


def _cell(
    column: ColumnOf[Row], row: Row, link: Callable[[Row], Link | None], links: Addresses
) -> Cell:
    """Return the cell of a column in a row, with the address of what its number is about."""
    own = column.link(row) if column.link is not None else link(row)
    return _linked(column.cell(row), column.column, own, links)


@dataclass(frozen=True)
class TableMade(Generic[Result]):
    """A table that is made as a whole, because reports without a declaration show it too.

    ``links`` says of each row, in order, what its numbers are about, where that is something.
    """

    make: Callable[[Result], Table | None]
    links: Callable[[Result], Sequence[Link]] | None = None

    def build(self, result: Result, links: Addresses, prose: Prose) -> Table | None:
        """Return the table of a result, with the addresses of its numbers."""
        table = self.make(result)
        if table is None:
            return None
        rows = table.rows
        if self.links is not None:
            rows = tuple(
                tuple(
                    _linked(cell, column, link, links)
                    for cell, column in zip(row, table.columns, strict=True)
                )
                for row, link in zip(rows, self.links(result), strict=True)
            )
        return replace(
            table,
            rows=rows,
            note=prose.text("note", table.name) or table.note,
            hint=prose.text("hint", table.name) or table.hint,
        )


def _linked(cell: Cell, column: Column, link: Link | None, links: Addresses) -> Cell:
    """Return a cell with the address of what its number is about."""
    # 0 of something is nothing to look at.
    if link is None or not column.num or cell.url or cell.text in ("", "0"):
        return cell
    return replace(cell, url=links.url(link))


@dataclass(frozen=True)
class FigureOf(Generic[Result]):
    """A figure of a page. ``draw`` gets the addresses of its marks; None where nothing is drawn.

    What stands under the title is the paragraph ``<p class="subtitle" data-of="NAME">``. ``table``
    names the table with its numbers, where that has another name. ``fits`` says of which results
    it is, without drawing it.
    """

    name: str
    title: str | Callable[[Result], str]
    draw: Callable[[Result, UrlOf], Figure | None]
    table: str = ""
    fits: Callable[[Result], bool] = lambda _: True
    least_width: int | Callable[[Result], int] = 0

    def build(self, result: Result, links: Addresses, prose: Prose) -> FigureSpec | None:
        """Return the figure of a result."""
        drawn = self.draw(result, links.url) if self.fits(result) else None
        if drawn is None:
            return None
        return figure_specs.figure_spec(
            self.name,
            self.title if isinstance(self.title, str) else self.title(result),
            prose.text("subtitle", self.name),
            drawn,
            least_width=(
                self.least_width(result) if callable(self.least_width) else self.least_width
            ),
            table=self.table or self.name,
        )


class PagePart(Protocol[Result_contra]):
    """A figure or a table of a page."""

    def build(
        self, result: Result_contra, links: Addresses, prose: Prose
    ) -> FigureSpec | Table | None:
        """Return the part of a result; None where it has nothing to show."""


@dataclass(frozen=True)
class DeferredPart(Generic[Result]):
    """The part of a page that takes too long for a request: a job computes it.

    Its sentences stand in ``deferred.html``, paragraphs as in ``answer.html`` and ``details.html``.
    ``compute`` gives None where there is nothing to compute; the template says why.
    """

    compute: Callable[[Selection], Result | None]
    parts: tuple[PagePart[Result], ...]

    def build(self, folder: str, selection: Selection) -> Report:
        """Compute the part and return its report."""
        result = self.compute(selection)
        prose = _prose(folder, "deferred", selection, result)
        report = Report(
            sentence=prose.text("answer"),
            notices=prose.notices(),
            banners=prose.banners(),
            how=prose.texts("how"),
            methods=prose.text("methods"),
        )
        if result is None:
            return report
        return with_few_clusters(_with_parts(report, self.parts, selection, result, prose))


@dataclass(frozen=True)
class DeclaredPage(Generic[Data, Result]):
    """A page by its parts: data, statistics, and what is shown of them.

    ``load`` asks the database and says what is missing; ``compute`` does no more than compute.
    ``folded`` are the figures and tables of the details, which are computed when they are opened;
    the first of them takes the place of ``figure`` or ``table`` where that has nothing to show.
    ``answers`` says whether a result answers the page's question: without data in the address, a
    page opens on data that do.
    ``deferred`` is what takes too long for a request. ``waits`` says of a result that its answer
    is still being computed by a job, so that the report must not be stored. ``compared`` gives the
    differences that the page tests, and their unit: where one is not clear, the page says how large
    it would have to be.
    """

    load: Callable[[Selection], Data | NothingToShow]
    compute: Callable[[Data], Result]
    figure: FigureOf[Result] | None
    table: TableOf[Result, Any]
    folded: tuple[PagePart[Result], ...] | Callable[[Result], Sequence[PagePart[Result]]] = ()
    deferred: DeferredPart[Any] | None = None
    answers: Callable[[Result], bool] = lambda _: True
    waits: Callable[[Result], bool] = lambda _: False
    compared: Callable[[Result], tuple[Sequence[Estimate], Unit]] | None = None

    def answer(self, folder: str, selection: Selection) -> Report:
        """Return the sentence with its figure and its table, or why there is none."""
        data = self.load(selection)
        if isinstance(data, NothingToShow):
            return _without_answer(folder, selection, data)
        result = self.compute(data)
        prose = _prose(folder, "answer", selection, result)
        report = Report(
            sentence=prose.text("answer"),
            onward=prose.onward(),
            notices=(*chosen_runs.selection_notices(selection), *prose.notices()),
            banners=prose.banners(),
            answers=self.answers(result),
            waits=self.waits(result),
        )
        parts, _ = self._parts(result)
        whole = with_few_clusters(_with_parts(report, parts, selection, result, prose))
        unseen = extremes.unseen(*self.compared(result)) if self.compared is not None else ""
        return replace(whole, notices=(*whole.notices, Notice(unseen))) if unseen else whole

    def details(self, folder: str, selection: Selection) -> Report:
        """Return the other figures and tables, and how all of it was computed."""
        data = self.load(selection)
        if isinstance(data, NothingToShow):
            return Report()
        result = self.compute(data)
        prose = _prose(folder, "details", selection, result)
        report = Report(
            notices=prose.notices(),
            how=(*chosen_runs.how_runs(selection), *prose.texts("how")),
            methods=prose.text("methods"),
            waits=self.waits(result),
        )
        shown, parts = self._parts(result)
        whole = with_few_clusters(_with_parts(report, parts, selection, result, prose))
        # What the answer warns of already is not shown twice.
        shown_notices = with_few_clusters(
            _with_parts(Report(), shown, selection, result, prose)
        ).notices
        return replace(
            whole, notices=tuple(one for one in whole.notices if one not in shown_notices)
        )

    def _parts(self, result: Result) -> tuple[list[PagePart[Result]], list[PagePart[Result]]]:
        """Return what the answer shows, and the parts of the details.

        The answer has the first figure and the first table that have anything to show.
        """
        folded = list(self.folded(result) if callable(self.folded) else self.folded)
        tables = (one for one in folded if isinstance(one, TableOf))
        table = next((one for one in (self.table, *tables) if one.rows(result)), self.table)
        shown: list[PagePart[Result]] = [table]
        if self.figure is not None:
            figures = (one for one in folded if isinstance(one, FigureOf))
            fitting = (one for one in (self.figure, *figures) if one.fits(result))
            shown.insert(0, next(fitting, self.figure))
        return shown, [one for one in folded if not any(one is other for other in shown)]

    def deferred_report(self, folder: str, selection: Selection) -> Report:
        """Return what takes too long for a request."""
        assert self.deferred is not None
        return self.deferred.build(folder, selection)


@dataclass(frozen=True)
class ReportOf(Generic[Result]):
    """A report on something else than chosen runs, such as the quality of a study's answers.

    Its sentences stand in ``answer.html`` and ``details.html`` of ``folder``. A page shows the
    first figure and the first table of the report, and folds the others.
    """

    folder: str
    figure: FigureOf[Result] | None
    table: PagePart[Result]
    folded: tuple[PagePart[Result], ...] = ()

    def build(self, result: Result, *, address: str = "", **context: Any) -> Report:
        """Return answer and details as one report; numbers lead to ``address``, if it is given."""
        links = OneAddress(address)
        context = {**context, "result": result}
        answer, details = (
            read_prose(f"pages/{self.folder}/{part}.html", context)
            for part in ("answer", "details")
        )
        report = Report(
            sentence=answer.text("answer"),
            onward=answer.onward(),
            notices=(*answer.notices(), *details.notices()),
            banners=answer.banners(),
            how=details.texts("how"),
            methods=details.text("methods"),
        )
        first = [self.table] if self.figure is None else [self.figure, self.table]
        built = [part.build(result, links, answer) for part in first]
        built += [part.build(result, links, details) for part in self.folded]
        return _with_built(report, built)

    def empty(self, **context: Any) -> Report:
        """Return a report that says why there is nothing, by ``empty.html``."""
        return Report(empty=read_prose(f"pages/{self.folder}/empty.html", context).empty())


def _prose(folder: str, part: str, selection: Selection, result: object) -> Prose:
    """Return the sentences of a part of a page, from what was computed."""
    context = {"selection": selection, "result": result}
    return read_prose(f"pages/{folder}/{part}.html", context)


def _with_parts(
    report: Report,
    parts: Sequence[PagePart[Any]],
    selection: Selection,
    result: object,
    prose: Prose,
) -> Report:
    """Return the report with these figures and tables, as far as the result has them."""
    links = Links(selection)
    return _with_built(report, [part.build(result, links, prose) for part in parts])


def _with_built(report: Report, built: Sequence[FigureSpec | Table | None]) -> Report:
    return replace(
        report,
        figures=tuple(one for one in built if isinstance(one, FigureSpec)),
        tables=tuple(one for one in built if isinstance(one, Table)),
    )


def _without_answer(folder: str, selection: Selection, nothing: NothingToShow) -> Report:
    """Return a report that says why there is nothing, and the one thing to do about it."""
    context = {"selection": selection, "reason": nothing.reason, **nothing.facts}
    prose = read_prose(f"pages/{folder}/empty.html", context)
    return Report(
        empty=prose.empty(),
        onward=prose.onward(),
        notices=tuple(chosen_runs.selection_notices(selection)),
    )
