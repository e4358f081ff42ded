"""Back up the database to a file, while others go on writing."""

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from django.core.management import call_command
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import DEFAULT_DB_ALIAS

from config.backups import postgresql, sqlite
from config.backups.archive import (
    Manifest,
    digest_file,
    open_draft_folder,
    product_version,
    put_in_place,
    refuse_existing,
    write_archive,
)
from config.backups.errors import BackupError
from config.backups.rows import copy_rows
from config.upgrades import is_behind


class Backup(NamedTuple):
    """A backup that was made."""

    path: Path
    engine: str
    size: int
    seconds: float


def write_backup(path: Path, *, force: bool = False, as_sqlite: bool = False) -> Backup:
    """Write a backup of the database as it is at this moment."""
    started = time.monotonic()
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.vendor not in ("sqlite", "postgresql"):
        raise BackupError(f"Databases of the kind {connection.vendor} cannot be backed up.")
    postgresql.refuse_pooler(connection)
    applied = applied_migrations(connection)
    if not applied:
        raise BackupError("The database is empty: it has no tables yet.")
    engine = "sqlite" if as_sqlite else connection.vendor
    with open_draft_folder(path, force=force) as folder:
        database, draft = folder / "database", folder / "backup.zip"
        if connection.vendor == "sqlite":
            sqlite.copy_database(Path(connection.settings_dict["NAME"]), database)
        elif as_sqlite:
            _copy_to_sqlite(connection, database)
        else:
            postgresql.dump_database(connection, database)
        manifest = Manifest(
            version=product_version(),
            made_at=datetime.now(UTC),
            engine=engine,
            engine_version=".".join(map(str, connection.get_database_version())),
            migrations=applied,
            sha256=digest_file(database),
        )
        write_archive(draft, manifest, database)
        refuse_existing(path, force=force)
        put_in_place(draft, path)
    return Backup(path, engine, path.stat().st_size, time.monotonic() - started)


def delete_older(folder: Path, age: timedelta) -> list[Path]:
    """Delete the backups in a folder that were named by a time longer ago; return them."""
    limit = f"planjury-{datetime.now(UTC) - age:%Y%m%d-%H%M%S}.zip"
    old = [path for path in folder.glob("planjury-????????-??????.zip") if path.name < limit]
    for path in old:
        path.unlink()
    return old


def applied_migrations(connection: BaseDatabaseWrapper) -> dict[str, list[str]]:
    """Return the migrations that a database has, by app."""
    applied: dict[str, list[str]] = {}
    for app, name in sorted(MigrationRecorder(connection).applied_migrations()):
        applied.setdefault(app, []).append(name)
    return applied


def _copy_to_sqlite(connection: BaseDatabaseWrapper, target: Path) -> None:
    if is_behind(connection):
        raise BackupError("The database is of an older version; run manage.py migrate first.")
    with sqlite.open_aside(target):
        call_command("migrate", interactive=False, verbosity=0)
    with sqlite.open_aside(target, alias="aside") as aside:
        copy_rows(connection, aside)
