"""From a database to a file, in one snapshot and with few rows in memory at a time."""

import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, TextField
from django.db.models.functions import Cast

from config.backups import engines
from config.backups.archive import ArchiveWriter, new_archive
from config.backups.errors import BackupError
from config.backups.manifest import Manifest, Table, product_version
from config.backups.schema import Field, Model, Schema, column_kinds, columns, stored_schema
from config.backups.values import encode

ROWS_AT_ONCE = 500
# Rows with bytes in them are as large as a piece of an uploaded file.
LARGE_ROWS_AT_ONCE = 4


@dataclass(frozen=True)
class Written:
    """A backup that was made."""

    path: Path
    rows: int
    tables: int
    size: int
    seconds: float


def write_backup(path: Path, *, connection: BaseDatabaseWrapper, force: bool = False) -> Written:
    """Back the database up as it is at this moment, while others go on writing."""
    started = time.monotonic()
    with new_archive(path, force=force) as writer, _snapshot(connection):
        schema = stored_schema(connection)
        if not schema.models:
            raise BackupError("The database is empty: it has no tables yet.")
        manifest = _write(writer, schema, connection)
    return Written(
        path,
        manifest.rows,
        len(manifest.tables),
        path.stat().st_size,
        time.monotonic() - started,
    )


def _write(writer: ArchiveWriter, schema: Schema, connection: BaseDatabaseWrapper) -> Manifest:
    last_ids = engines.last_ids(connection, schema)
    tables = []
    for name, model in schema.models.items():
        empty = Table(name, model._meta.label, column_kinds(model), 0, "", last_ids.get(name))
        # An error must not leave a cursor behind that outlives its connection.
        with closing(_lines(model, connection.alias)) as lines:
            count, sha256 = writer.add(empty.member, lines)
        tables.append(replace(empty, rows=count, sha256=sha256))
    migrations: dict[str, tuple[str, ...]] = {}
    for app, migration in sorted(schema.applied):
        migrations[app] = (*migrations.get(app, ()), migration)
    manifest = Manifest(
        version=product_version(),
        made_at=datetime.now(UTC),
        engine=engines.describe(connection),
        migrations=migrations,
        tables=tuple(tables),
    )
    writer.finish(manifest)
    return manifest


def _lines(model: Model, alias: str) -> Generator[bytes, None, None]:
    fields = list(columns(model).values())
    large = any(isinstance(field, models.BinaryField) for field in fields)
    rows: Any = (
        model._base_manager.using(alias)
        .order_by("pk")
        .values_list(*map(_expression, fields))
        .iterator(chunk_size=LARGE_ROWS_AT_ONCE if large else ROWS_AT_ONCE)
    )
    with closing(rows):
        for row in rows:
            yield encode(row).encode() + b"\n"


def _expression(field: Field) -> Any:
    if isinstance(field, models.JSONField):
        return Cast(F(field.attname), TextField())
    return field.attname


@contextmanager
def _snapshot(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Reads that all see the same moment and keep nobody from writing."""
    # The product's own transactions on SQLite lock out other writers from their beginning.
    mode = getattr(connection, "transaction_mode", None)
    if connection.vendor == "sqlite":
        connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    try:
        with transaction.atomic(using=connection.alias):
            if connection.vendor == "postgresql":
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
    finally:
        if connection.vendor == "sqlite":
            connection.transaction_mode = mode  # type: ignore[attr-defined]
