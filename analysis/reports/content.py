"""The parts of a report: one sentence, figures, tables, notices, and how it was computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from analysis.reports.formatting import Unit, counted, ends, number
from analysis.stats.results import Estimate
from benchmarks.comparability.certificates import Certificate, join_certificates
from benchmarks.tables import csv_lines

Tone = Literal["ok", "warn", "bad", "info", "aside", "idle", ""]
Datum = str | int | float | None
PUBLISHED = "published without an interval"
# The last column of a CSV whose rows stand beside published ones.
COMPARABILITY = "comparability"


@dataclass(frozen=True)
class Badge:
    """A word in a frame; ``why`` is shown on focus."""

    text: str
    tone: Tone = ""
    why: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, and what the CSV holds (``data``, one entry per part of the column).

    ``reason`` stands in for a value that does not exist; ``sub`` may have several lines; ``source``
    is where a value stands in a paper, if it was published there.
    ``estimate`` is the result behind the cell and ``unit`` what it counts in, for the sentence on
    methods.
    """

    text: str = ""
    data: tuple[Datum, ...] = ()
    sub: str = ""
    url: str = ""
    reason: str = ""
    tip: str = ""
    badges: tuple[Badge, ...] = ()
    source: str = ""
    estimate: Estimate | None = field(default=None, compare=False, repr=False)
    unit: Unit | Literal[""] = ""

    @property
    def sub_lines(self) -> list[str]:
        """The parts of ``sub``, which stand in one line where there is room."""
        return self.sub.split("\n")


@dataclass(frozen=True)
class Column:
    """One column. ``parts`` are the columns of the CSV that it becomes; ``words``: sentences."""

    label: str
    parts: tuple[str, ...]
    num: bool = True
    help: str = ""
    words: bool = False


@dataclass(frozen=True)
class Table:
    """One table; the first cell of a row names it. ``open``: shown at once, not on request.

    ``note`` says what the values are, wherever the table goes; ``certificates`` how its runs
    compare with the published values beside them. A page shows at most ``most`` rows, if that is
    given; the CSV has all.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    open: bool = True
    most: int | None = None
    certificates: tuple[Certificate, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Where published values of the table stand in their paper; empty without any."""
        return tuple(dict.fromkeys(c.source for row in self.rows for c in row if c.source))

    @property
    def lines(self) -> list[list[tuple[Cell, Column]]]:
        """The rows that are shown, with the column of each cell."""
        return [list(zip(row, self.columns, strict=True)) for row in self.rows[: self.most]]

    @property
    def hidden(self) -> int:
        """The number of rows that are in the CSV alone."""
        return len(self.rows) - len(self.rows[: self.most])

    @property
    def header(self) -> list[str]:
        own = [part for column in self.columns for part in column.parts]
        return [*own, COMPARABILITY] if self.certificates else own

    def records(self) -> list[list[Datum]]:
        """Return the rows as the CSV has them."""
        certified = [comparability_text(self.certificates)] if self.certificates else []
        return [[*(datum for cell in row for datum in cell.data), *certified] for row in self.rows]

    def csv(self) -> str:
        """Return all rows under the names of the columns' parts, not rounded for reading."""
        return "".join(csv_lines([self.header, *self.records()]))


@dataclass(frozen=True)
class FigureSpec:
    """One figure as JSON, ready to be served.

    ``table`` names the table of the report that holds its numbers, where that has another name.
    """

    name: str
    title: str
    subtitle: str
    json: str
    height: int
    table: str = ""

    @property
    def css_height(self) -> str:
        """The room that the page keeps free until the figure is drawn."""
        return f"{self.height}px"


@dataclass(frozen=True)
class Notice:
    """A notice that limits how a page may be read; ``url`` lists what it counts.

    ``link`` is what the address is called.
    """

    text: str
    tone: Literal["info", "warning"] = "warning"
    url: str = ""
    link: str = "List them"


@dataclass(frozen=True)
class Banner:
    """One line over the page that marks what is not the real thing."""

    title: str
    text: str


@dataclass(frozen=True)
class Onward:
    """A link to where one goes on from a page: what one finds there, and its address."""

    text: str
    url: str


@dataclass(frozen=True)
class Empty:
    """The reason why there is nothing to show, and the one thing to do about it.

    ``needs`` is the permission without which the button would only lead to a refusal.
    """

    title: str
    text: str
    action: str = ""
    action_url: str = ""
    needs: str = ""


@dataclass(frozen=True)
class Report:
    """Everything that a page of analysis shows.

    ``methods`` says in a sentence for a paper what was measured and how; n, intervals, what was
    left out and the seed are added to it by `analysis.reports.methods`, which also makes up for it
    where a report has none. ``answers``: its sentence answers the question of the page, rather than
    saying why nothing can be said of these data. ``waits``: its answer is still being computed in
    the background, so that it must not be kept. ``certificates`` say how its runs compare with the
    published figures that stand beside them. ``marks`` say whether it is as registered.
    """

    sentence: str = ""
    onward: tuple[Onward, ...] = ()
    figures: tuple[FigureSpec, ...] = ()
    tables: tuple[Table, ...] = ()
    notices: tuple[Notice, ...] = ()
    banners: tuple[Banner, ...] = ()
    how: tuple[str, ...] = ()
    empty: Empty | None = None
    methods: str = ""
    answers: bool = True
    waits: bool = False
    certificates: tuple[Certificate, ...] = ()
    marks: tuple[Notice, ...] = ()

    @property
    def notices_in_order(self) -> list[Notice]:
        """The notices, warnings before what only explains: a page shows the first, and folds the
        others.
        """
        return sorted(self.notices, key=lambda notice: notice.tone == "info")

    def figure(self, name: str) -> FigureSpec | None:
        return next((figure for figure in self.figures if figure.name == name), None)

    def table(self, name: str) -> Table | None:
        return next((table for table in self.tables if table.name == name), None)

    def numbers_of(self, figure: FigureSpec) -> Table | None:
        """Return the table that holds the numbers of a figure."""
        return numbers_of(figure, self.tables)


def join_reports(first: Report, second: Report) -> Report:
    """Return two reports as one: all figures, tables and lines; the sentence of the first."""
    return replace(
        first,
        figures=(*first.figures, *second.figures),
        tables=(*first.tables, *second.tables),
        notices=(*first.notices, *second.notices),
        how=(*first.how, *second.how),
        methods=first.methods or second.methods,
        certificates=join_certificates((*first.certificates, *second.certificates)),
    )


def comparability_text(certificates: Sequence[Certificate]) -> str:
    """Return certificates as one paragraph, as files have them."""
    return " ".join(one.text for one in certificates)


def numbers_of(figure: FigureSpec, tables: Sequence[Table]) -> Table | None:
    """Return the table with a figure's numbers: as it says, of its name, the points, or the first.

    A figure whose table is named but not among these has its numbers elsewhere.
    """
    named = {table.name: table for table in tables}
    if figure.table:
        return named.get(figure.table)
    for name in (figure.name, "points"):
        if name in named:
            return named[name]
    return tables[0] if tables else None


def text_column(label: str, part: str = "", help: str = "") -> Column:
    return Column(label, (part or label.lower(),), num=False, help=help)


def words_column(label: str, part: str = "") -> Column:
    """Return a column of sentences, which is never squeezed to a word a line."""
    return Column(label, (part or label.lower(),), num=False, words=True)


def number_column(label: str, part: str = "", help: str = "") -> Column:
    return Column(label, (part or label.lower(),), help=help)


def estimate_column(label: str, part: str = "", help: str = "") -> Column:
    name = part or label.lower()
    return Column(
        label, (name, f"{name} low", f"{name} high", f"{name} n", f"{name} note"), help=help
    )


def text_cell(text: str, *, url: str = "", sub: str = "", badges: Sequence[Badge] = ()) -> Cell:
    return Cell(text, (text,), url=url, sub=sub, badges=tuple(badges))


def number_cell(value: float | None, unit: Unit, *, reason: str = "", url: str = "") -> Cell:
    """Return a plain number, or a dash with the reason."""
    if value is None:
        return Cell(data=(None,), reason=reason or "not known")
    return Cell(number(value, unit), (rounded(value),), url=url)


def count_cell(count: int | None, *, reason: str = "", url: str = "", tip: str = "") -> Cell:
    if count is None:
        return Cell(data=(None,), reason=reason or "not known")
    return Cell(f"{count:,}", (count,), url=url, tip=tip)


def estimate_cell(
    estimate: Estimate,
    unit: Unit,
    *,
    signed: bool = False,
    url: str = "",
    show_n: bool = False,
) -> Cell:
    """Return a value with its interval and n under it; what is odd about it on focus."""
    notes = [*estimate.warnings]
    if estimate.excluded:
        notes.append(f"left out: {counted(estimate.excluded)}")
    if estimate.value is None:
        why = "; ".join([estimate.undefined, *(notes if len(estimate.excluded) > 1 else [])])
        return Cell(
            data=(None, None, None, estimate.n, why), reason=why, estimate=estimate, unit=unit
        )
    interval = estimate.interval
    if estimate.no_interval:
        notes.insert(0, estimate.no_interval)
    if estimate.printed_error:
        notes.insert(0, estimate.printed_error)
    # That every published row lacks intervals is said once, in the note of the table.
    tips = [note for note in notes if note not in (PUBLISHED, estimate.printed_error)]
    low = rounded(interval.low) if interval else None
    high = rounded(interval.high) if interval else None
    sub = [estimate.printed_error] if estimate.printed_error else []
    if interval:
        sub.append(ends(interval, unit, signed=signed).removesuffix(" %"))
    if show_n and estimate.n:
        sub.append(f"n = {estimate.n:,}")
    return Cell(
        estimate.printed or number(estimate.value, unit, signed=signed),
        # Of a value without observations, such as a published one, nobody knows n.
        (rounded(estimate.value), low, high, estimate.n or None, "; ".join(notes)),
        sub="\n".join(sub),
        url=url,
        tip="; ".join(tips),
        source=estimate.source,
        estimate=estimate,
        unit=unit,
    )


def points_cell(change: Estimate, url: str = "") -> Cell:
    """Return a difference of two shares, in points of 100, with its n."""
    cell = estimate_cell(change, "share", signed=True, url=url, show_n=True)
    return replace(cell, text=f"{cell.text.removesuffix(' %')} pt") if cell.text else cell


# Methods that are called after a person alone.
PROPER_NAMES = {"wilson": "Wilson", "wald": "Wald"}


def how_interval(estimates: Sequence[Estimate]) -> str:
    """Return the methods of the intervals among the estimates, with the seed where chance had a
    part.
    """
    details_of: dict[str, Mapping[str, Any]] = {}
    for estimate in estimates:
        if estimate.interval is not None:
            details_of.setdefault(estimate.interval.method, estimate.interval.details)
    words = []
    for method, details in details_of.items():
        seed = details.get("seed")
        more = f", {details['resamples']:,} resamples, seed {seed}" if seed is not None else ""
        words.append(f"{PROPER_NAMES.get(method, method)}{more}")
    return "; ".join(words)


def rounded(value: float | None) -> float | None:
    """Return a number as the CSV has it."""
    return None if value is None else round(value, 6) + 0.0  # never −0


def exclusions(estimates: Sequence[Estimate]) -> dict[str, int]:
    """Return what was left out, by reason, summed over the estimates."""
    total: dict[str, int] = {}
    for estimate in estimates:
        for reason, count in estimate.excluded.items():
            total[reason] = total.get(reason, 0) + count
    return total
