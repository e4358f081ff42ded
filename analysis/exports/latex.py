"""A table as LaTeX: booktabs, caption above, notes below, for the plain article class.

A row is set as on the page: values, and under them their intervals and n. What the page says on
focus stands in lettered notes. A table longer than a page is cut into parts with one number.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.exports.latex_layout import (
    CAPTION_SKIP,
    COLUMN,
    MARK,
    NORMAL,
    CellLine,
    Entry,
    Heading,
    Layout,
    Note,
    float_bodies,
    lay_out,
    lines_of,
    longest_word,
    width_of,
)
from analysis.exports.latex_text import latex_comment, latex_text
from analysis.exports.notes import TableNotes, counts_note, hidden_note
from analysis.reports.content import Banner, Cell, Column, Table

UNDEFINED = "--"


@dataclass(frozen=True)
class TableSource:
    """The origin of a table: the page's name for its label, the subject for its caption.

    ``about`` are lines for comments at the head of the file; ``banners`` mark what is not real.
    """

    page: str
    subject: str = ""
    about: tuple[str, ...] = ()
    banners: tuple[Banner, ...] = ()


def latex_table(table: Table, source: TableSource) -> str:
    """Return the table as one or more ``table`` floats that need nothing but booktabs."""
    notes = TableNotes()
    entries = [_entry(row, table.columns, notes) for row in table.rows[: table.most]]
    layout = lay_out([Heading(c.label, not c.num) for c in table.columns], entries)
    caption = _caption(table, source)
    caption_height = CAPTION_SKIP + NORMAL.leading * lines_of(f"Table 1: {caption}")
    bodies = float_bodies(layout, entries, list(_below(table, source, notes)), used=caption_height)
    title = latex_text(table.title)
    first = [
        rf"\caption[{{{title}}}]{{{latex_text(caption)}}}",
        rf"\label{{{latex_label(source.page, table.name)}}}",
    ]
    floats = []
    for number, body in enumerate(bodies):
        floats += [
            r"\begin{table}[tbp]",
            *([r"\addtocounter{table}{-1}"] if number else []),
            r"\centering",
            *([rf"\caption[]{{{title} (continued)}}"] if number else first),
            *([] if layout.size == NORMAL else [layout.size.command]),
            *(
                [rf"\setlength{{\tabcolsep}}{{{layout.size.sep:g}pt}}"]
                if layout.size.sep < NORMAL.sep
                else []
            ),
            *body,
            r"\end{table}",
        ]
    return "\n".join([*_head(layout, source), *floats]) + "\n"


def _head(layout: Layout, source: TableSource) -> Iterator[str]:
    """Yield comments: who made it, and what it needs."""
    yield from map(latex_comment, source.about)
    yield r"% In the preamble: \usepackage{booktabs}"
    yield "% Characters that need further packages stand as [U+XXXX]."
    if len(layout.blocks) > 1:
        yield f"% Wide: its columns stand in {len(layout.blocks)} blocks, one under the other."
    if layout.width > COLUMN:
        yield "% In two columns use table*."


def _caption(table: Table, source: TableSource) -> str:
    subject = f" ({source.subject})" if source.subject else ""
    note = f" {table.note}" if table.note.strip() else ""
    return f"{table.title}{subject}.{note}"


def latex_label(page: str, table: str) -> str:
    """Return a label that can be referred to: ``tab:leaderboard-board``."""
    words = unicodedata.normalize("NFKD", f"{page}-{table}").encode("ascii", "ignore").decode()
    return f"tab:{re.sub('[^a-z0-9]+', '-', words.lower()).strip('-')}"


def _entry(row: Sequence[Cell], columns: Sequence[Column], notes: TableNotes) -> Entry:
    """Return a row as lines: the values, then what stands under them."""
    first, under = [], []
    for cell, column in zip(row, columns, strict=True):
        first.append(_value(cell, notes))
        lines = [] if cell.reason else [line for line in cell.sub.split("\n") if line.strip()]
        # Sentences are broken by their column, numbers line by line.
        under.append([" ".join(lines)] if lines and not column.num else lines)
    depth = max((len(lines) for lines in under), default=0)
    below = [
        [_small(lines[i]) if i < len(lines) else CellLine() for lines in under]
        for i in range(depth)
    ]
    return [first, *below]


def _value(cell: Cell, notes: TableNotes) -> CellLine:
    plain = UNDEFINED if cell.reason else cell.text
    badges = [] if cell.reason else [f"({badge.text})" for badge in cell.badges]
    marks = notes.marks_of(cell)
    letters = rf"\textsuperscript{{{','.join(marks)}}}" if marks else ""
    text = UNDEFINED if cell.reason else latex_text(cell.text)
    kinds = [rf"\textit{{{latex_text(badge)}}}" for badge in badges]
    latex = " ".join(part for part in (text, *kinds) if part) + letters
    words = " ".join(part for part in (plain, *badges) if part)
    width = MARK * len(",".join(marks))
    return CellLine(latex, width_of(words) + width, word=longest_word(words) + width)


def _small(text: str) -> CellLine:
    return CellLine(latex_text(text), width_of(text), small=True, word=longest_word(text))


def _below(table: Table, source: TableSource, notes: TableNotes) -> Iterator[Note]:
    """Yield the notes: n, reasons, what is published, and what is not the real thing."""
    lines = [f"{banner.title}: {banner.text}" for banner in source.banners]
    lines += [counts_note(table), hidden_note(table, len(table.rows[: table.most]))]
    yield from ((line, latex_text(line)) for line in lines if line)
    for letter, text in notes.lines():
        ended = f"{text.rstrip('.')}."
        yield f"{letter} {ended}", rf"\textsuperscript{{{letter}}}~{latex_text(ended)}"
