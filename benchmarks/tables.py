"""Rows as CSV, one line at a time, for spreadsheets and statistics programs."""

import csv
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

Cell = str | int | float


def cell(value: Any) -> Cell:
    """A value as a cell; what a spreadsheet would run as a formula becomes plain text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    text = str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


class _Line:
    """A file of one line: csv writes into it and the line is sent on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """The rows as lines of CSV."""
    writer = csv.writer(_Line())
    return (writer.writerow([cell(value) for value in row]) for row in rows)
