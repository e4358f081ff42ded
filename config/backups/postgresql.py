"""PostgreSQL: all tables are emptied and filled in one transaction.

While it lasts, pages and workers wait. A failure or a kill leaves the old data.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.db import Error, OperationalError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField

from config.backups.archive import Archive
from config.backups.errors import BackupError
from config.backups.manifest import Table
from config.backups.schema import Model, Schema, columns
from config.backups.values import rows, to_postgresql

# Who waits for a lock makes all others wait that come after, and two may wait for each other: so
# none is waited for long, and all are asked for again.
LOCK_SECONDS = 3
LOCK_TRIES = 10


def last_ids(connection: BaseDatabaseWrapper, schema: Schema) -> dict[str, int]:
    """By table, the last number that was given out."""
    found = {}
    with connection.cursor() as cursor:
        for name, model in schema.models.items():
            sequence = _sequence(cursor, name, model)
            if sequence is None:
                continue
            cursor.execute(f"SELECT last_value, is_called FROM {sequence}")
            last, called = cursor.fetchone()
            if called:
                found[name] = last
    return found


def fill(connection: BaseDatabaseWrapper, archive: Archive, schema: Schema) -> None:
    """Replace all rows; to be called within a transaction."""
    tables = archive.manifest.tables
    names = ", ".join(connection.ops.quote_name(name) for name in schema.models)
    with connection.cursor() as cursor:
        _lock(cursor, names)
        before = last_ids(connection, schema)
        keys = _foreign_keys(cursor, connection, schema)
        # Checked row by row they would take most of the time; made anew they are checked at once.
        for owner, name, _ in keys:
            cursor.execute(f"ALTER TABLE {owner} DROP CONSTRAINT {name}")
        cursor.execute(f"TRUNCATE {names}")
        for table in tables:
            _load(cursor, connection, table, schema.models[table.name], archive)
            _number_on(cursor, table, schema.models[table.name], before.get(table.name))
        for owner, name, definition in keys:
            cursor.execute(f"ALTER TABLE {owner} ADD CONSTRAINT {name} {definition}")


def _lock(cursor: Any, names: str) -> None:
    cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
    for _ in range(LOCK_TRIES):
        with suppress(OperationalError), transaction.atomic():
            cursor.execute(f"LOCK TABLE {names} IN ACCESS EXCLUSIVE MODE")
            return
    raise BackupError("The database is too busy to be locked; try again, or stop the server.")


def analyse(connection: BaseDatabaseWrapper, schema: Schema) -> None:
    """Let the planner know the new rows; it works without, only slower."""
    names = ", ".join(connection.ops.quote_name(name) for name in schema.models)
    with suppress(Error), connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {names}")


def _load(
    cursor: Any, connection: BaseDatabaseWrapper, table: Table, model: Model, archive: Archive
) -> None:
    quote = connection.ops.quote_name
    fields = columns(model)
    names = ", ".join(map(quote, table.columns))
    converters = [to_postgresql(fields[column]) for column in table.columns]
    with (
        rows(archive, table, converters) as found,
        cursor.copy(f"COPY {quote(table.name)} ({names}) FROM STDIN") as copy,
    ):
        for row in found:
            copy.write_row(row)


def _number_on(cursor: Any, table: Table, model: Model, before: int | None) -> None:
    """Let numbers go on after all that were ever given out, here or where the backup was made.

    Somebody may still hold a row of the old data in memory.
    """
    sequence = _sequence(cursor, table.name, model)
    last = max((n for n in (before, table.last_id) if n is not None), default=None)
    if sequence is not None and last is not None:
        cursor.execute("SELECT setval(%s, %s)", [sequence, last])


def _sequence(cursor: Any, table: str, model: Model) -> str | None:
    key = model._meta.pk
    if not isinstance(key, AutoField):
        return None
    cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [f'"{table}"', key.column])
    name: str | None = cursor.fetchone()[0]
    return name


def _foreign_keys(
    cursor: Any, connection: BaseDatabaseWrapper, schema: Schema
) -> Sequence[tuple[str, str, str]]:
    cursor.execute(
        "SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) "
        "FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY(%s::regclass[]) "
        "ORDER BY 1, 2",
        [[connection.ops.quote_name(name) for name in schema.models]],
    )
    found: list[tuple[str, str, str]] = cursor.fetchall()
    return found
