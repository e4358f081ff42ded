"""Reading rows by their columns with SQL that is written here rather than by the ORM.

The ORM builds the SQL of a statement anew each time, column by column: a study has 25 of them,
and an assignment is read with its study and its item at every click. There ``raw`` takes half the
time (docs/decisions/plain-django.md has the measurement), and so it does where a worker takes up a
trajectory. Everything else is plain ORM.

``only`` names the columns to read beside the key, since each one costs time. The others are
deferred: Django reads such a column when it is asked for, by a statement of its own.
"""

from collections.abc import Sequence
from typing import TypeVar

from django.db import connection
from django.db.models import Model
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
