"""A table as LaTeX: booktabs, one line a row, scaled by adjustbox to the width that was chosen.

The caption says what the table is; what the page says on focus stands in lettered notes below.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap

from django.http import QueryDict
from django.utils.text import slugify

from analysis.exports.latex_text import latex_comment, latex_text
from analysis.exports.notes import TableNotes, counts_note, hidden_note
from analysis.reports.content import Banner, Cell, Column, Table, comparability_text

UNDEFINED = "--"
NO_ROWS = "No rows."
# The widths of a column and of a page of a paper, in millimetres, by their name in an address.
WIDTHS: Mapping[str, int] = {"85": 85, "170": 170}
# Rows of one float, and letters of its notes; what is more stands in further floats.
MOST_ROWS, MOST_LETTERS = 40, 1800
# Texts with more letters are set in lines of a column of so many millimetres.
LONG, PARAGRAPH = 40, 45
# Letters of a line of a table at three quarters of the size of the text, for each millimetre. Where
# nobody chose the columns, those that fit at that size are taken.
LETTERS_A_MM, GAP = 0.86, 2.4
# A word of more letters may be broken after so many: nothing else keeps it within its column.
LONGEST_WORD = 24
_COUNT = re.compile(r"n = ([\d,]+)")


@dataclass(frozen=True)
class LatexChoice:
    """The columns of a table (by `column_key`; none: the first that fit) and its width in
    millimetres. ``every``: all columns, however small they become.
    """

    columns: tuple[str, ...] = ()
    width: int = WIDTHS["170"]
    every: bool = False

    @property
    def key(self) -> str:
        """A text that differs between choices."""
        return f"{self.width} {' '.join(self.columns)}"


@dataclass(frozen=True)
class TableSource:
    """The origin of a table: the page's name for its label, the subject for its caption.

    ``about`` are lines for comments at the head of the file; ``banners`` mark what is not real;
    ``choice`` is what the reader chose of the table.
    """

    page: str
    subject: str = ""
    about: tuple[str, ...] = ()
    banners: tuple[Banner, ...] = ()
    choice: LatexChoice = LatexChoice()


def read_choice(params: QueryDict) -> LatexChoice:
    """Return the choice of an address; what it cannot mean is left out."""
    width = WIDTHS.get(params.get("width", ""), LatexChoice.width)
    return LatexChoice(tuple(params.getlist("column")[:100]), width)


def column_key(column: Column) -> str:
    """Return the name of a column in an address."""
    return slugify(column.label) or "-".join(column.parts)


def latex_table(table: Table, source: TableSource) -> str:
    """Return the table as one or more ``table`` floats."""
    choice = source.choice
    table, count = _with_one_count(_chosen(table, choice), choice)
    notes = TableNotes()
    rows = [[_cell(cell, notes, count) for cell in row] for row in table.rows[: table.most]]
    columns = [_column(column, [row[i] for row in rows]) for i, column in enumerate(table.columns)]
    whole = choice.every or choice.columns
    shown = range(len(columns)) if whole else _fitting(columns, choice.width)
    left_out = [one.label for i, one in enumerate(table.columns) if i not in shown]
    if left_out:  # letters of notes begin anew
        table, notes = _with_columns(table, shown), TableNotes()
        rows = [[_cell(cell, notes, count) for cell in row] for row in table.rows[: table.most]]
        columns = [columns[i] for i in shown]
    below = list(_below(table, source, notes, count))
    title, caption = latex_text(table.title), _breakable(_caption(table, source, count))
    label = latex_label(source.page, table.name)
    parts = [rows[i : i + MOST_ROWS] for i in range(0, len(rows), MOST_ROWS)] or [[]]
    bodies = [_tabular(columns, part, choice) for part in parts]
    first, *others = _note_parts(below, choice)
    bodies[-1] += first
    kind = "table*" if choice.width == WIDTHS["170"] else "table"
    floats = []
    for number, body in enumerate([*bodies, *others]):
        floats += [
            rf"\begin{{{kind}}}[tbp]",
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


def _head(source: TableSource, left_out: Sequence[str]) -> Iterator[str]:
    """Yield comments: who made it, what it needs, and what it lacks."""
    yield from map(latex_comment, source.about)
    yield r"% In the preamble: \usepackage{booktabs,adjustbox}"
    if left_out:
        words = ", ".join(left_out)
        yield latex_comment(f"Left out at {source.choice.width} mm, unless chosen: {words}")
    yield "% Characters that need further packages stand as [U+XXXX]."


def _chosen(table: Table, choice: LatexChoice) -> Table:
    """Return the table with the chosen columns; the first one names the rows and always stays."""
    wanted = [
        i
        for i, column in enumerate(table.columns)
        if not i or not choice.columns or column_key(column) in choice.columns
    ]
    return _with_columns(table, wanted if len(wanted) > 1 else range(len(table.columns)))


def _with_columns(table: Table, places: Sequence[int]) -> Table:
    return replace(
        table,
        columns=tuple(table.columns[i] for i in places),
        rows=tuple(tuple(row[i] for i in places) for row in table.rows),
    )


def _with_one_count(table: Table, choice: LatexChoice) -> tuple[Table, str]:
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
        table = _with_columns(table, [i for i in range(len(table.columns)) if i not in places])
    return table, counts.pop()


def _caption(table: Table, source: TableSource, count: str) -> str:
    subject = f" ({source.subject})" if source.subject else ""
    note = f" {table.note}" if table.note.strip() else ""
    return f"{table.title}{subject}.{note}" + (f" n = {count}." if count else "")


def latex_label(page: str, table: str) -> str:
    """Return a label that can be referred to: ``tab:leaderboard-board``."""
    words = unicodedata.normalize("NFKD", f"{page}-{table}").encode("ascii", "ignore").decode()
    return f"tab:{re.sub('[^a-z0-9]+', '-', words.lower()).strip('-')}"


@dataclass(frozen=True)
class _Text:
    """A cell in one line: its text, for measuring, and the letters of its notes."""

    text: str
    letters: str = ""

    def latex(self, *, broken: bool) -> str:
        marks = rf"\textsuperscript{{{self.letters}}}" if self.letters else ""
        words = UNDEFINED if self.text == UNDEFINED else latex_text(self.text)
        return (rf"\raggedright {_breakable(self.text)}" if broken else words) + marks


def _cell(cell: Cell, notes: TableNotes, count: str) -> _Text:
    """Return the value with what stands under it in brackets, but for the n of the whole table."""
    letters = ",".join(notes.marks_of(cell))
    if cell.reason:
        return _Text(UNDEFINED, letters)
    under = [line.strip() for line in cell.sub.split("\n")]
    under = [line for line in under if line and not (count and line == f"n = {count}")]
    # A badge that says why stands in the notes.
    kinds = [f"({badge.text})" for badge in cell.badges if not badge.why]
    words = [cell.text, *([f"({'; '.join(under)})"] if under else []), *kinds]
    return _Text(" ".join(word for word in words if word), letters)


@dataclass(frozen=True)
class _ColumnForm:
    """A column as it is set: its heading, and whether its texts are broken into lines."""

    heading: str
    num: bool
    broken: bool
    letters: float

    @property
    def form(self) -> str:
        """Return numbers to the right, words to the left, long texts in lines of their own."""
        return rf"p{{{PARAGRAPH}mm}}" if self.broken else "r" if self.num else "l"


def _column(column: Column, cells: Sequence[_Text]) -> _ColumnForm:
    widest = max((len(cell.text) for cell in cells), default=0)
    lines = [column.label]
    if len(column.label) > max(12, widest) and " " in column.label:
        lines = wrap(column.label, max(12, len(column.label) // 2 + 2), break_long_words=False)
    heading = r" \\ ".join(map(latex_text, lines))
    if len(lines) > 1:
        heading = rf"\shortstack[{'r' if column.num else 'l'}]{{{heading}}}"
    broken = not column.num and widest > LONG
    letters = PARAGRAPH * LETTERS_A_MM if broken else max(widest, *map(len, lines))
    return _ColumnForm(heading, column.num, broken, letters)


def _fitting(columns: Sequence[_ColumnForm], width: int) -> list[int]:
    """Return the places of the first columns that fit; the second one is always among them."""
    room, places = width * LETTERS_A_MM, []
    for place, column in enumerate(columns):
        room -= column.letters + GAP
        if place < 2 or room >= 0:
            places.append(place)
    return places


def _tabular(
    columns: Sequence[_ColumnForm], rows: Sequence[Sequence[_Text]], choice: LatexChoice
) -> list[str]:
    # In lines that are not justified the short command would end a line, not the row.
    end = r" \tabularnewline" if any(column.broken for column in columns) else r" \\"
    lines = [
        " & ".join(
            cell.latex(broken=column.broken) for cell, column in zip(row, columns, strict=True)
        )
        for row in rows
    ] or [NO_ROWS + " &" * (len(columns) - 1)]
    return [
        r"\par\smallskip",
        rf"\begin{{adjustbox}}{{max totalsize={{{choice.width}mm}}{{0.75\textheight}}}}",
        rf"\begin{{tabular}}{{@{{}}{''.join(column.form for column in columns)}@{{}}}}",
        r"\toprule",
        " & ".join(column.heading for column in columns) + r" \\",
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


def _note_parts(notes: Sequence[tuple[str, str]], choice: LatexChoice) -> list[list[str]]:
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
