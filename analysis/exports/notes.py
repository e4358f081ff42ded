"""Notes under a table: what a page says on focus, as letters, where nothing can be focused."""

from dataclasses import dataclass, field
from string import ascii_lowercase

from analysis.reports.content import Cell, Table
from analysis.reports.formatting import plural


@dataclass
class TableNotes:
    """Texts with a letter each: a, b, …, z, aa, ab, …; the same text has the same letter."""

    found: dict[str, str] = field(default_factory=dict)

    def mark(self, text: str) -> str:
        """Return the letter of a note."""
        text = " ".join(text.split())
        if text not in self.found:
            self.found[text] = _letters(len(self.found))
        return self.found[text]

    def marks_of(self, cell: Cell) -> list[str]:
        """Return the letters of all that a cell would say on focus, each once."""
        texts = [cell.reason, cell.tip if not cell.reason else ""]
        texts += [f"{badge.text}: {badge.why}" for badge in cell.badges if badge.why]
        return list(dict.fromkeys(self.mark(text) for text in texts if text.strip()))

    def lines(self) -> list[tuple[str, str]]:
        """Return the letters with their texts, in order."""
        return [(letter, text) for text, letter in self.found.items()]


def counts_note(table: Table) -> str:
    """Return the n of a table that shows none: one for all values, or from the least to the
    most.
    """
    shown = any(column.label.lower() == "n" for column in table.columns) or any(
        "n = " in cell.sub for row in table.rows for cell in row
    )
    counts = [
        cell.estimate.n
        for row in table.rows
        for cell in row
        if cell.estimate is not None and cell.estimate.value is not None
    ]
    if shown or not counts:
        return ""
    least, most = min(counts), max(counts)
    return f"n = {least:,}." if least == most else f"n = {least:,} to {most:,} per value."


def hidden_note(table: Table, shown: int) -> str:
    """Return a note that some rows of a table stand in its CSV alone, or '' if none do."""
    more = len(table.rows) - shown
    return f"{plural(more, 'more row')} in the CSV on the server." if more > 0 else ""


def _letters(number: int) -> str:
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(ascii_lowercase))
        letters = ascii_lowercase[rest] + letters
    return letters
