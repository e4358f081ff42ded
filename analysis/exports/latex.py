"""A table as LaTeX: booktabs, caption above, notes below, for the plain article class.

A row is set as on the page: values, and under them their intervals and n. What the page says on
focus stands in lettered notes. A table longer than a page is cut into parts with one number.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.exports.latex_text import latex_comment, latex_text
from analysis.exports.notes import Notes, counts_note, hidden_note
from analysis.reports.parts import Banner, Cell, Column, Table

# Lines of one part: what fits on a page of article with its caption and some notes.
LINES = 44
# A column of text that is longer than this many characters is broken into lines.
LONG = 34
# So many characters fit beside each other in the text of article, by size of type.
SIZES = ((78, r"\normalsize"), (88, r"\small"), (100, r"\footnotesize"), (128, r"\scriptsize"))
# What stands under a value is set smaller than the value.
UNDER = {
    r"\normalsize": r"\footnotesize",
    r"\small": r"\scriptsize",
    r"\footnotesize": r"\scriptsize",
    r"\scriptsize": r"\tiny",
}
TIGHT = 88
UNDEFINED = "--"


@dataclass(frozen=True)
class Source:
    """Where a table comes from: the page's name for the label, its subject for the caption.

    ``about`` are lines for comments at the head of the file; ``banners`` mark what is not real.
    """

    page: str
    subject: str = ""
    about: tuple[str, ...] = ()
    banners: tuple[Banner, ...] = ()


def latex_table(table: Table, source: Source) -> str:
    """The table as one or more ``table`` floats that need nothing but booktabs."""
    notes = Notes()
    columns, size = _columns(table), _size(table)
    rows = [_entry(row, table.columns, notes, UNDER[size]) for row in table.rows[: table.most]]
    parts = _parts(rows)
    head = [latex_comment(line) for line in source.about]
    head += [
        "% In the preamble: \\usepackage{booktabs}",
        "% Characters that need further packages stand as [U+XXXX].",
    ]
    if size == SIZES[-1][1]:
        head.append("% Wide: in two columns use table*, or turn the page (package rotating).")
    label = latex_label(source.page, table.name)
    floats = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        floats.append(
            "\n".join(
                [
                    r"\begin{table}[tbp]",
                    *([r"\addtocounter{table}{-1}"] if number else []),
                    r"\centering",
                    _caption(table, source, continued=number > 0),
                    *([] if number else [rf"\label{{{label}}}"]),
                    *([size] if size != SIZES[0][1] else []),
                    *([r"\setlength{\tabcolsep}{3pt}"] if _width(table) > TIGHT else []),
                    rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
                    r"\toprule",
                    " & ".join(latex_text(column.label) for column in table.columns) + r" \\",
                    r"\midrule",
                    *_body(part),
                    r"\bottomrule",
                    r"\end{tabular}",
                    *(_below(table, source, notes) if last else []),
                    r"\end{table}",
                ]
            )
        )
    return "\n".join([*head, *floats]) + "\n"


def latex_label(page: str, table: str) -> str:
    """A label that can be referred to: ``tab:leaderboard-board``."""
    words = unicodedata.normalize("NFKD", f"{page}-{table}").encode("ascii", "ignore").decode()
    return f"tab:{re.sub('[^a-z0-9]+', '-', words.lower()).strip('-')}"


# One row of the page: lines of LaTeX cells.
Entry = list[list[str]]


def _entry(row: Sequence[Cell], columns: Sequence[Column], notes: Notes, size: str) -> Entry:
    """A row as lines: the values, then what stands under them."""
    first, under = [], []
    for cell, column in zip(row, columns, strict=True):
        first.append(_value(cell, notes))
        lines = [] if cell.reason else [line for line in cell.sub.split("\n") if line.strip()]
        # Sentences are broken by their column, numbers line by line.
        under.append([" ".join(lines)] if lines and not column.num else lines)
    depth = max((len(lines) for lines in under), default=0)
    below = [
        [_small(lines[i], size) if i < len(lines) else "" for lines in under] for i in range(depth)
    ]
    return [first, *below]


def _value(cell: Cell, notes: Notes) -> str:
    text = UNDEFINED if cell.reason else latex_text(cell.text)
    kinds = [] if cell.reason else [rf"\textit{{({latex_text(b.text)})}}" for b in cell.badges]
    marks = notes.marks_of(cell)
    letters = rf"\textsuperscript{{{','.join(marks)}}}" if marks else ""
    return " ".join(part for part in (text, *kinds) if part) + letters


def _small(text: str, size: str) -> str:
    return rf"{{{size} {latex_text(text)}}}"


def _parts(rows: Sequence[Entry]) -> list[list[Entry]]:
    """The rows in parts of so many lines; a row stays whole."""
    parts: list[list[Entry]] = [[]]
    used = 0
    for row in rows:
        if used + len(row) > LINES and parts[-1]:
            parts.append([])
            used = 0
        parts[-1].append(row)
        used += len(row)
    return parts


def _body(rows: Sequence[Entry]) -> list[str]:
    lines: list[str] = []
    spaced = any(len(row) > 1 for row in rows)
    for number, row in enumerate(rows):
        if number and spaced:
            lines.append(r"\addlinespace")
        lines += [" & ".join(cells) + r" \\" for cells in row]
    return lines


def _caption(table: Table, source: Source, *, continued: bool) -> str:
    title = latex_text(table.title)
    if continued:
        return rf"\caption[]{{{title} (continued)}}"
    subject = f" ({latex_text(source.subject)})" if source.subject else ""
    note = f" {latex_text(table.note)}" if table.note.strip() else ""
    return rf"\caption[{{{title}}}]{{{title}{subject}.{note}}}"


def _below(table: Table, source: Source, notes: Notes) -> list[str]:
    """The notes: n, reasons, what is published, and what is not the real thing."""
    said = [latex_text(f"{banner.title}: {banner.text}") for banner in source.banners]
    said += [
        latex_text(line)
        for line in (counts_note(table), hidden_note(table, len(table.rows[: table.most])))
        if line
    ]
    said += [
        rf"\textsuperscript{{{letter}}}~{latex_text(text.rstrip('.'))}."
        for letter, text in notes.lines()
    ]
    if not said:
        return []
    return [
        r"\par\smallskip",
        r"\begin{minipage}{\linewidth}\footnotesize\raggedright",
        *(f"{line} \\par" for line in said),
        r"\end{minipage}",
    ]


def _columns(table: Table) -> str:
    """Numbers to the right, words to the left, long texts in lines of their own."""
    texts = [i for i, column in enumerate(table.columns) if not column.num]
    long = [i for i in texts if table.columns[i].words or _longest(table, i) > LONG]
    share = min(0.42, 0.8 / max(1, len(long)))
    return "".join(
        "r" if column.num else rf"p{{{share:.2f}\linewidth}}" if i in long else "l"
        for i, column in enumerate(table.columns)
    )


def _size(table: Table) -> str:
    width = _width(table)
    return next((size for most, size in SIZES if width <= most), SIZES[-1][1])


def _width(table: Table) -> int:
    """About how many characters stand beside each other."""
    widths = [
        max(len(column.label), min(_longest(table, i), LONG if not column.num else 40))
        for i, column in enumerate(table.columns)
    ]
    return sum(widths) + 2 * len(widths)


def _longest(table: Table, index: int) -> int:
    lines = [
        len(line)
        for row in table.rows[: table.most]
        for line in (row[index].text, *row[index].sub.split("\n"))
    ]
    return max(lines, default=0)
