"""What a column's value looks like in a backup, the same whichever engine it comes from.

Numbers, texts, booleans and null are themselves. A JSON document is the text of the document: so
JSON's null and the database's stay two things, and nothing is parsed. Times are ISO 8601 in UTC,
bytes are Base64.
"""

import base64
import datetime
import json
import sqlite3
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import psycopg
from django.db import Error, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.duration import duration_iso_string

from config.backups.archive import Archive
from config.backups.errors import BackupError
from config.backups.manifest import Table
from config.backups.schema import Field

Convert = Callable[[Any], Any]
# Rows go to both drivers directly, past Django's names for their errors.
_MISFITS = (Error, sqlite3.Error, psycopg.Error, ValueError, LookupError, TypeError, OverflowError)


def _plain(value: object) -> object:
    match value:
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return duration_iso_string(value)
        case bytes() | memoryview():
            return base64.b64encode(value).decode()
        case uuid.UUID() | Decimal():
            return str(value)
    raise TypeError(f"a backup cannot hold a {type(value).__name__}")


# ASCII alone, so that no text can be mistaken for the end of a line or fail to be encoded.
encode = json.JSONEncoder(separators=(",", ":"), default=_plain).encode


def stored_kind(field: Field) -> str:
    """The kind of field that a column's values are of; a foreign key's is that of its target."""
    while isinstance(field, models.ForeignKey):
        field = field.target_field
    return field.get_internal_type()


_AS_THEY_ARE = {
    "AutoField", "BigAutoField", "SmallAutoField", "IntegerField", "BigIntegerField",
    "SmallIntegerField", "PositiveIntegerField", "PositiveBigIntegerField",
    "PositiveSmallIntegerField", "BooleanField", "CharField", "TextField", "SlugField",
    "EmailField", "URLField", "JSONField",
}  # fmt: skip


def to_sqlite(field: Field, connection: BaseDatabaseWrapper) -> Convert | None:
    """How a value gets into a column of SQLite; None where it goes as it is."""
    kind = stored_kind(field)
    if kind in _AS_THEY_ARE:
        return None
    if kind == "FloatField":
        return _number
    if kind == "DateTimeField":
        return _naive
    return lambda value: field.get_db_prep_save(field.to_python(value), connection)


def to_postgresql(field: Field) -> Convert | None:
    """How a value gets into a column of PostgreSQL, which reads everything but bytes as text."""
    return base64.b64decode if stored_kind(field) == "BinaryField" else None


def _number(value: float) -> float:
    if value != value:
        raise ValueError("SQLite has no NaN")
    return value


def _naive(value: str) -> str:
    moment = datetime.datetime.fromisoformat(value)
    return str(moment.astimezone(datetime.UTC).replace(tzinfo=None))


@contextmanager
def rows(
    archive: Archive, table: Table, converters: Sequence[Convert | None]
) -> Iterator[Iterator[Sequence[Any]]]:
    """The rows of a table, ready for a database; an error within the block names table and row."""
    at = 0

    def read() -> Iterator[Sequence[Any]]:
        nonlocal at
        changed = [(i, convert) for i, convert in enumerate(converters) if convert]
        for line in archive.lines(table):
            at += 1
            row = json.loads(line)
            for i, convert in changed:
                if row[i] is not None:
                    row[i] = convert(row[i])
            yield row

    try:
        yield read()
    except _MISFITS as error:
        raise BackupError(f"Row {at:,} of table {table.name} does not fit: {error}") from error
