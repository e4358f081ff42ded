"""A table as LaTeX: booktabs, one line a row, scaled by adjustbox to the width that was chosen.

Numbers stand in S columns of siunitx, which align them at their decimal points, with the unit in
the heading; the interval follows in a column of its own. The caption says what the table is, its n,
and which intervals it has; what the page says on focus stands in lettered notes below.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import NamedTuple

from analysis.exports.latex_text import latex_comment, latex_text, latex_url
from analysis.exports.notes import TableNotes, counts_note, hidden_note
from analysis.exports.table_choice import (
    FITTING_POINTS,
    GAP,
    LETTERS_A_MM,
    WIDTHS,
    TableChoice,
    chosen_table,
    fitting,
    with_columns,
)
from analysis.reports.content import Banner, Cell, Column, Table, comparability_text
from analysis.reports.formatting import MINUS
from analysis.reports.methods import intervals_sentence

UNDEFINED = "--"
NO_ROWS = "No rows."
# Rows of one float, and letters of its notes; what is more stands in further floats.
MOST_ROWS, MOST_LETTERS = 40, 1800
# Texts with more letters are set in lines of a column of so many millimetres.
LONG, PARAGRAPH = 40, 45
# A word of more letters may be broken after so many: nothing else keeps it within its column.
LONGEST_WORD = 24
_COUNT = re.compile(r"n = ([\d,]+)")
# A number as tables show it, with the unit that may stand behind it.
_NUMBER = re.compile(
    rf"(?P<sign>[+{MINUS}]?)(?P<whole>\d[\d,]*)(?:\.(?P<part>\d+))?(?P<unit> %| pt)?"
)


@dataclass(frozen=True)
class TableSource:
    """The origin of a table: the page's name for its label, the subject for its caption.

    ``about`` are lines for comments at the head of the file; ``banners`` mark what is not real;
    ``choice`` is what the reader chose of the table. With ``server``, the address of the product,
    numbers link to what they count. ``caption`` replaces the title of the table in its caption, and
    ``place`` is where its float may stand.
    """

    page: str
    subject: str = ""
    about: tuple[str, ...] = ()
    banners: tuple[Banner, ...] = ()
    choice: TableChoice = TableChoice()
    server: str = ""
    caption: str = ""
    place: str = "tbp"


def latex_table(table: Table, source: TableSource) -> str:
    """Return the table as one or more ``table`` floats."""
    choice = source.choice
    table, count = _with_one_count(chosen_table(table, choice), choice)
    notes, server = TableNotes(), source.server
    rows, columns = _rows_and_columns(table, notes, count, server)
    whole = choice.every or choice.columns
    shown = (
        range(len(columns))
        if whole
        else fitting([column.letters for column in columns], choice.width)
    )
    left_out = [one.label for i, one in enumerate(table.columns) if i not in shown]
    if left_out:  # letters of notes begin anew
        table, notes = with_columns(table, shown), TableNotes()
        shortened = table.rows[: table.most]
        rows = [[_cell(cell, notes, count, server) for cell in row] for row in shortened]
        columns = [columns[i] for i in shown]
    below = list(_below(table, source, notes, count))
    title = latex_text(source.caption or table.title)
    caption = _breakable(_caption(table, source, count))
    label = latex_label(source.page, table.name)
    parts = [rows[i : i + MOST_ROWS] for i in range(0, len(rows), MOST_ROWS)] or [[]]
    bodies = [_tabular(columns, part, choice) for part in parts]
    first, *others = _note_parts(below, choice)
    bodies[-1] += first
    kind = "table*" if choice.width == WIDTHS["170"] else "table"
    floats = []
    for number, body in enumerate([*bodies, *others]):
        floats += [
            rf"\begin{{{kind}}}[{source.place}]",
            *([r"\addtocounter{table}{-1}"] if number else []),
            r"\centering",
            rf"\caption[]{{{title} (continued)}}"
            if number
            else rf"\caption[{{{title}}}]{{{caption}}}",
            *([] if number else [rf"\label{{{label}}}"]),
            *body,
            rf"\end{{{kind}}}",
        ]
    return "\n".join([*_head(source, left_out), *floats]) + "\n"


def letter_points(table: Table, choice: TableChoice) -> float:
    """Return about how high the letters of a printed table are, in points."""
    table, count = _with_one_count(chosen_table(table, choice), choice)
    _, columns = _rows_and_columns(table, TableNotes(), count, "")
    if not (choice.every or choice.columns):
        return FITTING_POINTS
    needed = sum(column.letters + GAP for column in columns)
    return FITTING_POINTS * min(1.0, choice.width * LETTERS_A_MM / needed)


def _rows_and_columns(
    table: Table, notes: TableNotes, count: str, server: str
) -> tuple[list[list["_Text"]], list["_ColumnForm"]]:
    """Return the cells of a table's first rows and the form of its columns; add to ``notes``."""
    rows = [[_cell(cell, notes, count, server) for cell in row] for row in table.rows[: table.most]]
    return rows, [
        _column(column, [row[i] for row in rows]) for i, column in enumerate(table.columns)
    ]


def _head(source: TableSource, left_out: Sequence[str]) -> Iterator[str]:
    """Yield comments: who made it, what it needs, and what it lacks."""
    yield from map(latex_comment, source.about)
    yield r"% In the preamble: \usepackage{booktabs,adjustbox,siunitx}"
    if source.server:
        yield r"% and \usepackage{hyperref}, without which numbers are no links."
        yield r"\providecommand{\href}[2]{#2}"
    if left_out:
        words = ", ".join(left_out)
        yield latex_comment(f"Left out at {source.choice.width} mm, unless chosen: {words}")
    yield "% Characters that need further packages stand as [U+XXXX]."


def _with_one_count(table: Table, choice: TableChoice) -> tuple[Table, str]:
    """Return the table and its n where that is one number for all values, else an empty text.

    A column that holds nothing else is left out, unless it was asked for.
    """
    counts = {count[1] for row in table.rows for cell in row for count in _COUNT.finditer(cell.sub)}
    places = [i for i, column in enumerate(table.columns) if column.label.lower() == "n"]
    counts |= {row[i].text for row in table.rows for i in places if not row[i].reason}
    if not counts:  # no cell says any
        same = re.fullmatch(r"n = ([\d,]+)\.", counts_note(table))
        return table, same[1] if same else ""
    if len(counts) != 1:
        return table, ""
    if not choice.columns:
        table = with_columns(table, [i for i in range(len(table.columns)) if i not in places])
    return table, counts.pop()


def _caption(table: Table, source: TableSource, count: str) -> str:
    subject = f" ({source.subject})" if source.subject else ""
    note = f" {table.note}" if table.note.strip() else ""
    intervals = intervals_sentence(table)
    counted = f" n = {count}." if count else ""
    title = (source.caption or table.title).rstrip(".")
    return f"{title}{subject}.{note}{counted}{f' {intervals}' if intervals else ''}"


def latex_label(page: str, table: str) -> str:
    """Return a label that can be referred to: ``tab:leaderboard-board``."""
    words = unicodedata.normalize("NFKD", f"{page}-{table}").encode("ascii", "ignore").decode()
    return f"tab:{re.sub('[^a-z0-9]+', '-', words.lower()).strip('-')}"


class _Text(NamedTuple):
    """A cell in one line: its value, what stands in brackets behind it, and its notes' letters."""

    value: str
    behind: str = ""
    letters: str = ""
    url: str = ""

    @property
    def text(self) -> str:
        """The whole cell as plain text, for measuring."""
        return " ".join(part for part in (self.value, self.behind) if part)

    @property
    def number(self) -> re.Match[str] | None:
        """The parts of a value that is a number."""
        return _NUMBER.fullmatch(self.value)

    @property
    def marks(self) -> str:
        return rf"\textsuperscript{{{self.letters}}}" if self.letters else ""

    def latex(self, *, broken: bool) -> str:
        """Return the whole cell as text."""
        if broken:
            return rf"\raggedright {self._linked(_breakable(self.text))}{self.marks}"
        if self.text == UNDEFINED:
            return UNDEFINED + self.marks
        behind = f" {latex_text(self.behind)}" if self.behind else ""
        return self._linked(latex_text(self.value)) + behind + self.marks

    def aligned(self, form: str) -> str:
        """Return the value for an S column of this ``table-format``; what is no number, as text."""
        number = self.number
        if number is None:
            words = UNDEFINED if self.value == UNDEFINED else latex_text(self.value)
            return f"{{{self._linked(words)}}}"
        digits = number["whole"].replace(",", "") + (f".{number['part']}" if number["part"] else "")
        value = number["sign"].replace(MINUS, "-") + digits
        # A braced cell is not aligned by the column, so a linked number brings its own box along.
        linked = self._linked(rf"\tablenum[{form}]{{{value}}}")
        return f"{{{linked}}}" if self.url else value

    def _linked(self, words: str) -> str:
        return rf"\href{{{latex_url(self.url)}}}{{{words}}}" if self.url and words else words


def _cell(cell: Cell, notes: TableNotes, count: str, server: str) -> _Text:
    """Return the value with what stands under it in brackets, but for the n of the whole table."""
    letters = ",".join(notes.marks_of(cell))
    if cell.reason:
        return _Text(UNDEFINED, letters=letters)
    under = [line.strip() for line in cell.sub.split("\n")]
    under = [line for line in under if line and not (count and line == f"n = {count}")]
    # A badge that says why stands in the notes.
    kinds = [f"({badge.text})" for badge in cell.badges if not badge.why]
    behind = [*([f"({'; '.join(under)})"] if under else []), *kinds]
    url = f"{server}{cell.url}" if server and cell.url.startswith("/") else ""
    return _Text(cell.text, " ".join(behind), letters, url)


class _ColumnForm(NamedTuple):
    """A column as it is set: its heading, and whether its texts are broken into lines.

    ``numbers`` are the options of an S column, empty for a column of texts. ``behind``: a second
    column takes what follows the numbers, such as their intervals.
    """

    heading: str
    num: bool
    broken: bool
    letters: float
    numbers: str = ""
    behind: bool = False

    @property
    def form(self) -> str:
        """Return numbers at their points, words to the left, long texts in lines of their own."""
        if self.numbers:
            return rf"S[{self.numbers}]" + (r"@{\ }l" if self.behind else "")
        return rf"p{{{PARAGRAPH}mm}}" if self.broken else "r" if self.num else "l"

    @property
    def head(self) -> str:
        """The heading, which an S column would take for a number."""
        if not self.numbers:
            return self.heading
        return (
            rf"\multicolumn{{2}}{{c}}{{{self.heading}}}" if self.behind else f"{{{self.heading}}}"
        )

    def cells(self, cell: _Text) -> str:
        """Return a cell, in two columns where the numbers have something behind them."""
        if not self.numbers:
            return cell.latex(broken=self.broken)
        value = cell.aligned(self.numbers)
        return f"{value} & {latex_text(cell.behind)}{cell.marks}" if self.behind else value


def _column(column: Column, cells: Sequence[_Text]) -> _ColumnForm:
    widest = max((len(cell.text) for cell in cells), default=0)
    numbers, unit = _number_format(cells) if column.num else ("", "")
    label = f"{column.label} ({unit})" if unit else column.label
    lines = [label]
    if len(label) > max(12, widest) and " " in label:
        lines = wrap(label, max(12, len(label) // 2 + 2), break_long_words=False)
    behind = bool(numbers) and any(cell.behind or cell.letters for cell in cells)
    heading = r" \\ ".join(map(latex_text, lines))
    if len(lines) > 1:
        heading = rf"\shortstack[{'c' if numbers else 'r' if column.num else 'l'}]{{{heading}}}"
    broken = not column.num and widest > LONG
    letters = PARAGRAPH * LETTERS_A_MM if broken else max(widest, *map(len, lines))
    return _ColumnForm(heading, column.num, broken, letters, numbers, behind)


def _number_format(cells: Sequence[_Text]) -> tuple[str, str]:
    """Return the options of an S column and the unit of its numbers; nothing for other cells.

    Cells with different units stay texts, because one heading cannot name both.
    """
    numbers = [number for cell in cells if (number := cell.number) is not None]
    units = {(number["unit"] or "").strip() for number in numbers}
    if len(units) != 1:
        return "", ""
    wholes = [number["whole"].replace(",", "") for number in numbers]
    sign = "+" if any(number["sign"] for number in numbers) else ""
    whole = max(map(len, wholes))
    part = max(len(number["part"] or "") for number in numbers)
    options = f"table-format={sign}{whole}.{part}" if part else f"table-format={sign}{whole}"
    if any(number["sign"] == "+" for number in numbers):
        options += ",retain-explicit-plus"
    if whole > 3:
        options += ",group-minimum-digits=4,group-separator={,}"
    return options, units.pop()


def _tabular(
    columns: Sequence[_ColumnForm], rows: Sequence[Sequence[_Text]], choice: TableChoice
) -> list[str]:
    # In lines that are not justified the short command would end a line, not the row.
    end = r" \tabularnewline" if any(column.broken for column in columns) else r" \\"
    lines = [
        " & ".join(column.cells(cell) for cell, column in zip(row, columns, strict=True))
        for row in rows
    ] or [NO_ROWS + " &" * (len(columns) - 1)]
    return [
        r"\par\smallskip",
        rf"\begin{{adjustbox}}{{max totalsize={{{choice.width}mm}}{{0.75\textheight}}}}",
        rf"\begin{{tabular}}{{@{{}}{''.join(column.form for column in columns)}@{{}}}}",
        r"\toprule",
        " & ".join(column.head for column in columns) + r" \\",
        r"\midrule",
        *(line + end for line in lines),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
    ]


def _below(
    table: Table, source: TableSource, notes: TableNotes, count: str
) -> Iterator[tuple[str, str]]:
    """Yield the notes with their letters: n, what is not the real thing, reasons, sources."""
    lines = [f"{banner.title}: {banner.text}" for banner in source.banners]
    lines += ["" if count else counts_note(table)]
    lines += [comparability_text(table.certificates)]
    lines += [hidden_note(table, len(table.rows[: table.most]))]
    yield from (("", line) for line in lines if line)
    yield from ((letter, f"{text.rstrip('.')}.") for letter, text in notes.lines())


def _note_parts(notes: Sequence[tuple[str, str]], choice: TableChoice) -> list[list[str]]:
    """Return the notes as a box under the table, those for which a page has no room apart."""
    parts: list[list[str]] = [[]]
    used = 0
    for letter, text in notes:
        if parts[-1] and used + len(text) > MOST_LETTERS * choice.width / WIDTHS["170"]:
            parts.append([])
            used = 0
        mark = rf"\textsuperscript{{{letter}}}~" if letter else ""
        parts[-1].append(rf"{mark}{_breakable(text)} \par")
        used += len(text)
    return [
        [
            r"\par\smallskip",
            rf"\begin{{minipage}}{{{choice.width}mm}}\footnotesize\raggedright",
            *part,
            r"\end{minipage}",
        ]
        if part
        else []
        for part in parts
    ]


def _breakable(text: str) -> str:
    """Return a text as LaTeX in which long words may be broken."""
    words = []
    for word in text.split():
        pieces = [word[i : i + LONGEST_WORD] for i in range(0, len(word), LONGEST_WORD)]
        words.append(r"\allowbreak{}".join(map(latex_text, pieces)))
    return " ".join(words)
