"""Rows as CSV, one line at a time, for spreadsheets and statistics programs."""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

Cell = str | int | float
# What spreadsheets run, also behind blanks, line ends and marks of no width, which they strip; some
# read the full-width signs in the same way.
_FORMULA = re.compile(
    r"\A(?:[\s\x00-\x20\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*[=+\-@＝＋－＠]|[\t\r\n])"
)  # noqa: RUF001
_NUMBER = re.compile(r"[+-]?(?:[0-9]++(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def cell(value: Any) -> Cell:
    """Return a value as a cell; what a spreadsheet would run as a formula becomes plain text."""
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
    return plain_text(text)


def plain_text(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula; a number such as -0.5 stays one."""
    if _FORMULA.match(text) is None or _NUMBER.fullmatch(text) is not None:
        return text
    return f"'{text}"


class _Line:
    """A file of one line: csv writes into it and the line is sent on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Return the rows as lines of CSV."""
    return map(line_writer(), rows)


def line_writer() -> Callable[[Iterable[Any]], str]:
    """Return what makes a line of CSV of a row; each thread needs its own."""
    write = csv.writer(_Line()).writerow
    return lambda row: write([cell(value) for value in row])
