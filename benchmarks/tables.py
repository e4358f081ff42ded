"""Rows as CSV, one line at a time, for spreadsheets and statistics programs."""

import csv
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

Cell = str | int | float
FORMULA = frozenset("=+-@\t\r")


def cell(value: Any) -> Cell:
    """A value as a cell; what a spreadsheet would run as a formula becomes plain text."""
    if value is None or value == "":
        return ""
    kind = type(value)
    if kind is int or kind is float:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return int(value)
    if kind is datetime:
        return value.isoformat()  # type: ignore[no-any-return]
    if kind is not str and isinstance(value, int | float):
        return value
    text = value if kind is str else str(value)
    return f"'{text}" if text[:1] in FORMULA else text


class _Line:
    """A file of one line: csv writes into it and the line is sent on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """The rows as lines of CSV."""
    return map(line_writer(), rows)


def line_writer() -> Callable[[Iterable[Any]], str]:
    """What makes a line of CSV of a row; each thread needs its own."""
    write = csv.writer(_Line()).writerow
    return lambda row: write([cell(value) for value in row])
