"""Convert rows to the text of files; what many rows share is converted once.

A study has many rows of forty columns each, so this is where an export spends its time.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from json.encoder import encode_basestring
from typing import Any

from annotation.exports.table import Parts, Row
from benchmarks.formats.parquet import pyarrow
from benchmarks.tables import line_writer

LINE_END = "\r\n"


class RowWriter:
    """Writes rows as text; a part that several rows share is converted once."""

    def __init__(self, write: Callable[[Row], str], between: str) -> None:
        self.write, self.between = write, between
        self.front: Row | None = None
        self.head = ""
        self.asked: dict[int, str] = {}

    def line(self, parts: Parts) -> str:
        """Return one row; the same objects as before are not written anew."""
        front, asked, answer = parts
        if front is not self.front:
            self.front, self.head = front, self.write(front)
        middle = self.asked.get(id(asked))
        if middle is None:
            middle = self.asked[id(asked)] = self.write(asked)
        return f"{self.head}{self.between}{middle}{self.between}{self.write(answer)}"


class _TextConverters(dict[type, Callable[[Any], str]]):
    """Converters to text by type of value: a look-up is quicker than `isinstance`."""

    def __init__(self, known: dict[type, Callable[[Any], str]], other: Callable[[Any], str]):
        super().__init__(known)
        self.other = other

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        return self.other

    def of(self, row: Row) -> list[str]:
        return [self[type(value)](value) for value in row.values()]


def _nothing(value: None) -> str:
    return ""


# --- CSV ------------------------------------------------------------------------------------------

# Words that need no quotes and are no formula.
_PLAIN = re.compile(r"(?:\w[\w .:/-]*)?").fullmatch


def csv_row_writer() -> RowWriter:
    """Return a writer of CSV rows; lists are JSON."""
    line = line_writer()

    def quoted(value: Any) -> str:
        return line([value])[: -len(LINE_END)]

    def words(value: str) -> str:
        return value if _PLAIN(value) else quoted(value)

    texts = _TextConverters(
        {
            type(None): _nothing,
            str: words,
            int: str,
            bool: {False: "0", True: "1"}.__getitem__,
            datetime: datetime.isoformat,
            list: lambda value: quoted(dumped(value)),
        },
        quoted,
    )
    return RowWriter(lambda row: ",".join(texts.of(row)), ",")


# --- JSON -----------------------------------------------------------------------------------------


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in an export")


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)


def dumped(value: Any) -> str:
    """Return a value as JSON, with times as ISO 8601."""
    return _ENCODER.encode(value)


# As `dumped`, which takes many times longer for what most cells hold.
_VALUES = _TextConverters(
    {
        type(None): lambda value: "null",
        str: encode_basestring,
        int: str,
        bool: {False: "false", True: "true"}.__getitem__,
        datetime: lambda value: f'"{value.isoformat()}"',
    },
    dumped,
)
_NAMES: dict[tuple[str, ...], str] = {}


def members(row: Row) -> str:
    """Return the members of an object; their names are those of columns."""
    names = tuple(row)
    if names not in _NAMES:
        _NAMES[names] = ", ".join(f"{dumped(name)}: %s" for name in names)
    return _NAMES[names] % tuple(_VALUES.of(row))


def json_row_writer() -> RowWriter:
    """Return a writer of rows as members of a JSON object."""
    return RowWriter(members, ", ")


# --- Parquet --------------------------------------------------------------------------------------


def arrow_tables(rows: Iterator[Parts], schema: Any, size: int) -> Iterator[Any]:
    """Yield tables of so many rows; what rows have in common is put into columns once and
    repeated.
    """
    arrow = pyarrow()
    while group := list(islice(rows, size)):
        columns: dict[str, Any] = {}
        for part in zip(*group, strict=True):
            once = {id(row): row for row in part}
            values = _columns(list(once.values()), schema)
            if len(once) < len(group):
                places = {key: place for place, key in enumerate(once)}
                index = arrow.array([places[id(row)] for row in part], type=arrow.int32())
                values = {name: column.take(index) for name, column in values.items()}
            columns |= values
        yield arrow.table([columns[name] for name in schema.names], schema=schema)


def _columns(rows: Sequence[Row], schema: Any) -> dict[str, Any]:
    arrow = pyarrow()
    return {
        name: arrow.array([row[name] for row in rows], type=schema.field(name).type)
        for name in rows[0]
    }
