"""Restore a backup file into the database, even while the server runs."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.utils import DEFAULT_DB_ALIAS

from analysis.search.services import forget_index
from benchmarks.jobs.leases import settle_restored
from config.backups import postgresql, sqlite
from config.backups.archive import Manifest, extract_database, product_version, read_manifest
from config.backups.backup import applied_migrations, write_backup
from config.backups.errors import BackupError, ignore_interrupts
from config.backups.rows import all_models, copy_rows
from config.upgrades import is_behind, migrate_if_needed

SAFETY_FOLDER = "backups"
WORK_FOLDER = "restoring"
# Made anew with every database, or worth nothing without the rest.
NOT_DATA = {
    "contenttypes.ContentType",
    "auth.Permission",
    "sessions.Session",
    "analysis.RunFacts",
    "benchmarks.JudgeCounts",
    "benchmarks.WorkerProcess",
}
# What ships with the product has nobody in this column; only what people added is missed.
BY_PEOPLE = {"annotation.FailureLabel": "made_by_id", "annotation.FailureWording": "by_id"}


class RestoredBackup(NamedTuple):
    """The result of a restore, and how long it took."""

    manifest: Manifest
    upgraded: bool
    seconds: float


Say = Callable[[str], None]


def restore_backup(
    path: Path, *, replace: bool = False, safety_copy: bool = True, say: Say = lambda text: None
) -> RestoredBackup:
    """Replace everything in the database by what the backup holds, or change nothing."""
    started = time.monotonic()
    connection = connections[DEFAULT_DB_ALIAS]
    postgresql.refuse_pooler(connection)
    with _work_folder() as folder:
        database = folder / "database"
        manifest = read_manifest(path)
        _refuse_newer(manifest.migrations, "The backup", manifest.version)
        extract_database(path, manifest, database)
        there = _has_database(connection)
        if there:
            _refuse_newer(applied_migrations(connection), "The database")
        old = count_data(connection) if there else {}
        if old and not replace:
            raise BackupError(_would_be_lost(old))

        def keep_old_data() -> None:
            if old and safety_copy:
                say(f"What was here before is kept in {_write_safety_copy()}.")

        restore = _restore_dump if manifest.engine == "postgresql" else _restore_sqlite_file
        upgraded = restore(connection, manifest, database, keep_old_data)
    return RestoredBackup(manifest, upgraded, time.monotonic() - started)


def _refuse_newer(migrations: Mapping[str, list[str]], whose: str, version: str = "") -> None:
    """Raise an error where this version is too old for a backup or a database."""
    disk = MigrationLoader(None).disk_migrations
    known = set(disk).union(*(migration.replaces for migration in disk.values()))
    unknown = [
        f"{app} {name}"
        for app, names in sorted(migrations.items())
        for name in names
        if (app, name) not in known
    ]
    mine = product_version()
    if unknown:
        raise BackupError(
            f"{whose} is newer than this PlanJury ({mine}), which does not know the "
            f"migration{'s' * (len(unknown) > 1)} {', '.join(unknown[:3])}"
            f"{' and others' * (len(unknown) > 3)}. Install the newer version first."
        )
    if version and _number(version) > _number(mine):
        raise BackupError(
            f"{whose} was made by PlanJury {version}, which is newer than this PlanJury ({mine}). "
            "Install the newer version first."
        )


def _number(version: str) -> list[int]:
    return [int(part) if part.isdigit() else 0 for part in version.split(".")]


def _has_database(connection: BaseDatabaseWrapper) -> bool:
    return connection.vendor != "sqlite" or Path(connection.settings_dict["NAME"]).exists()


def count_data(connection: BaseDatabaseWrapper) -> dict[str, int]:
    """Count what people would miss, by a name that they know; most first."""
    tables = set(connection.introspection.table_names())
    counted = []
    with connection.cursor() as cursor:
        for model in all_models():
            name, column = model._meta.db_table, BY_PEOPLE.get(model._meta.label)
            if name not in tables or model._meta.label in NOT_DATA:
                continue
            # Not by the model: the tables may be those of an older version.
            where = f"WHERE {column} IS NOT NULL" if column else ""
            cursor.execute(f"SELECT count(*) FROM {connection.ops.quote_name(name)} {where}")
            (count,) = cursor.fetchone()
            words = str(model._meta.verbose_name_plural).replace("trajectorys", "trajectories")
            counted.append((str(model._meta.verbose_name) if count == 1 else words, count))
    return {name: count for name, count in sorted(counted, key=lambda each: -each[1]) if count}


def _would_be_lost(counts: Mapping[str, int]) -> str:
    lost = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return (
        f"The database holds data that would be lost: {lost}. "
        "With --replace they are backed up and then replaced."
    )


def _write_safety_copy() -> Path:
    folder = Path(settings.DATA_DIR) / SAFETY_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return write_backup(folder / f"before-restore-{moment}.zip").path


@contextmanager
def _work_folder() -> Iterator[Path]:
    """Make a folder for one restore at a time; what a killed one left there is deleted."""
    folder = Path(settings.DATA_DIR) / WORK_FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError("Another restore is under way.") from None
        for left in folder.iterdir():
            left.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)


def _settle() -> None:
    """Make rows that come from a backup fit for work."""
    settle_restored()
    forget_index()


def _restore_sqlite_file(
    connection: BaseDatabaseWrapper,
    manifest: Manifest,
    database: Path,
    keep_old_data: Callable[[], None],
) -> bool:
    """Make the file ready aside, then let it take the database's place; say if it was older."""
    sqlite.check_database(database)
    with sqlite.open_aside(database) as aside:
        upgraded = is_behind(aside)
        if upgraded:
            call_command("migrate", interactive=False, verbosity=0)
        _settle()
    if connection.vendor == "sqlite":
        keep_old_data()
        connection.close()
        ignore_interrupts()
        sqlite.replace_database(database, Path(connection.settings_dict["NAME"]))
    else:
        migrate_if_needed()
        keep_old_data()
        with sqlite.open_aside(database, alias="aside") as aside, transaction.atomic():
            copy_rows(aside, connection)
            _settle()
            ignore_interrupts()
    return upgraded


def _restore_dump(
    connection: BaseDatabaseWrapper,
    manifest: Manifest,
    database: Path,
    keep_old_data: Callable[[], None],
) -> bool:
    """Put a dump of PostgreSQL's in place; say if it was of an older version."""
    if connection.vendor != "postgresql":
        raise BackupError(
            "The backup was made on PostgreSQL, and this database is SQLite. To move the data, "
            "back them up there with manage.py backup --as-sqlite."
        )
    made_on = int(manifest.engine_version.split(".")[0])
    postgresql.check_dump(connection, database, made_on=made_on)
    keep_old_data()
    with transaction.atomic():
        postgresql.restore_dump(connection, database)
        upgraded = is_behind(connection)
        if upgraded:
            call_command("migrate", interactive=False, verbosity=0)
        _settle()
        ignore_interrupts()
    connection.close()  # pg_restore's script has changed settings of the session
    return upgraded
