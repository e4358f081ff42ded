"""Reading and writing rows by their columns with SQL that is written here rather than by the ORM.

The ORM builds the SQL of a statement anew each time, column by column: a study has 25 of them,
and an assignment is read with its study and its item at every click. There ``raw`` takes half the
time (docs/decisions/plain-django.md has the measurement), and so it does where a worker takes up a
trajectory. The statements with which a call is stored are kept for the same reason. Everything else
is plain ORM.

``only`` names the columns to read beside the key, since each one costs time. The others are
deferred: Django reads such a column when it is asked for, by a statement of its own.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import connection
from django.db.models import Field, Model
from django.db.models.query import RawQuerySet

M = TypeVar("M", bound=Model)


def read_rows(
    model: type[M], *, only: Sequence[str] = (), locked: bool = False, **columns: int | str
) -> "RawQuerySet[M]":
    """Return the rows that have these values in these columns, in no order.

    ``locked``: until the transaction ends.
    """
    names = ", ".join(map(connection.ops.quote_name, ("id", *only))) if only else "*"
    where = " AND ".join(f"{column} = %s" for column in columns)
    statement = f"SELECT {names} FROM {model._meta.db_table} WHERE {where}{row_lock(locked)}"
    return model._default_manager.raw(statement, list(columns.values()))


def find_row(
    model: type[M], *, only: Sequence[str] = (), locked: bool = False, **columns: int
) -> M | None:
    """Return the only row that has these numbers in these columns; None where there is none."""
    return next(iter(read_rows(model, only=only, locked=locked, **columns)), None)


def read_row(model: type[M], key: int, *, only: Sequence[str] = ()) -> M:
    """Return the row that a foreign key leads to."""
    (row,) = read_rows(model, only=only, id=key)
    return row


def row_lock(locked: bool) -> str:
    """Return the end of a statement that locks what it reads, until the transaction ends."""
    # SQLite needs none: its transactions are IMMEDIATE, so there is one at a time.
    return " FOR NO KEY UPDATE" if locked and connection.vendor == "postgresql" else ""


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert new rows of one model, and give each its id.

    The statement for a single row, the usual case, is kept: 0.22 ms of CPU in place of 0.29 by
    ``save`` and 0.32 by ``bulk_create`` (docs/decisions/kept-for-speed.md). Like ``bulk_create``,
    this sends no signals and calls no ``save``. Fields that make their own value (``auto_now``) are
    not supported.
    """
    if not rows:
        return
    if len(rows) > 1:
        type(rows[0])._default_manager.bulk_create(rows)
        return
    (row,) = rows
    statement, fields = _insert_statement(type(row))
    values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        (row.pk,) = cursor.fetchone()
    row._state.adding = False


def update_row(model: type[Model], changes: Mapping[str, Any], **columns: int | str) -> bool:
    """Change the row that has these values in these columns; return whether there is one.

    As with ``insert_rows``, the statement is kept.
    """
    statement, fields = _update_statement(model, tuple(changes), tuple(columns))
    given = zip(fields, changes.values(), strict=True)
    values = [field.get_db_prep_save(value, connection) for field, value in given]
    with connection.cursor() as cursor:
        cursor.execute(statement, [*values, *columns.values()])
        return bool(cursor.rowcount)


@cache
def _update_statement(
    model: type[Model], changes: tuple[str, ...], columns: tuple[str, ...]
) -> tuple[str, list[Any]]:
    """Return the statement that changes these columns of rows, and their fields."""
    fields: list[Any] = [model._meta.get_field(name) for name in changes]
    setting = ", ".join(f'"{field.column}" = %s' for field in fields)
    where = " AND ".join(f'"{column}" = %s' for column in columns)
    return f'UPDATE "{model._meta.db_table}" SET {setting} WHERE {where}', fields


@cache
def _insert_statement(model: type[Model]) -> tuple[str, list[Any]]:
    """Return the statement that inserts one row, and the fields that it takes values of."""
    fields = [
        field
        for field in model._meta.get_fields()
        if isinstance(field, Field) and field.concrete and not field.primary_key
    ]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table = model._meta.db_table
    return f'INSERT INTO "{table}" ({columns}) VALUES ({places}) RETURNING "id"', fields
