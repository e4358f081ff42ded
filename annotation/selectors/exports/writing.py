"""Rows as files have them. What many rows have in common is put into words once.

A study has many rows and each of them forty columns, so this is where the time of an export goes.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from json.encoder import encode_basestring
from typing import Any

from annotation.selectors.exports.table import Parts, Row
from benchmarks.importers.parquet import pyarrow
from benchmarks.tables import line_writer

LINE_END = "\r\n"


class Written:
    """Rows as texts, from their parts."""

    def __init__(self, write: Callable[[Row], str], between: str) -> None:
        self.write, self.between = write, between
        self.front: Row | None = None
        self.head = ""
        self.asked: dict[int, str] = {}

    def line(self, parts: Parts) -> str:
        """One row; the same objects as before are not written anew."""
        front, asked, said = parts
        if front is not self.front:
            self.front, self.head = front, self.write(front)
        middle = self.asked.get(id(asked))
        if middle is None:
            middle = self.asked[id(asked)] = self.write(asked)
        return f"{self.head}{self.between}{middle}{self.between}{self.write(said)}"


# --- CSV ------------------------------------------------------------------------------------------


def csv_written() -> Written:
    """What writes the cells of a row; lists are JSON."""
    line = line_writer()

    def write(part: Row) -> str:
        cells = (dumped(value) if type(value) is list else value for value in part.values())
        return line(cells)[: -len(LINE_END)]

    return Written(write, ",")


# --- JSON -----------------------------------------------------------------------------------------


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in an export")


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)


def dumped(value: Any) -> str:
    """A value as JSON, with times as ISO 8601."""
    return _ENCODER.encode(value)


def _value(value: Any) -> str:
    """As `dumped`, which takes many times longer for what most cells hold."""
    if value is None:
        return "null"
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    return f'"{value.isoformat()}"' if kind is datetime else dumped(value)


def members(row: Row) -> str:
    """The members of an object whose names are plain."""
    return ", ".join([f'"{name}": {_value(value)}' for name, value in row.items()])


def json_written() -> Written:
    """What writes the members of a JSON object."""
    return Written(members, ", ")


# --- Parquet --------------------------------------------------------------------------------------


def arrow_tables(rows: Iterator[Parts], schema: Any, size: int) -> Iterator[Any]:
    """Tables of so many rows; what rows have in common is put into columns once and repeated."""
    arrow = pyarrow()
    while group := list(islice(rows, size)):
        columns: dict[str, Any] = {}
        for part in zip(*group, strict=True):
            distinct: dict[int, int] = {}
            places = [distinct.setdefault(id(row), len(distinct)) for row in part]
            firsts = {id(row): row for row in part}.values()
            values = _columns(firsts, schema)
            if len(distinct) < len(group):
                index = arrow.array(places, type=arrow.int32())
                values = {name: column.take(index) for name, column in values.items()}
            columns |= values
        yield arrow.table([columns[name] for name in schema.names], schema=schema)


def _columns(rows: Iterable[Row], schema: Any) -> dict[str, Any]:
    rows = list(rows)
    arrow = pyarrow()
    return {
        name: arrow.array([row[name] for row in rows], type=schema.field(name).type)
        for name in rows[0]
    }
