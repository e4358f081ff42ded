"""From a file to the database, under whoever works with it."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DEFAULT_DB_ALIAS

from config import background, preparation
from config.backups import postgresql, sqlite
from config.backups.archive import Archive
from config.backups.dump import write_backup
from config.backups.engines import engine_of
from config.backups.errors import BackupError
from config.backups.interrupts import point_of_no_return
from config.backups.manifest import Manifest
from config.backups.schema import Schema, data_counts, stored_schema

SAFETY_FOLDER = "backups"
WORK_FOLDER = "restoring"


@dataclass(frozen=True)
class Restored:
    """What was restored, from what, and where the old data are."""

    manifest: Manifest
    upgraded: bool
    safety_copy: Path | None
    seconds: float


Say = Callable[[str], None]


def restore_backup(
    path: Path, *, replace: bool = False, safety_copy: bool = True, say: Say = lambda text: None
) -> Restored:
    """Replace everything in the database by what the backup holds, or change nothing."""
    started = time.monotonic()
    connection = connections[DEFAULT_DB_ALIAS]
    engine_of(connection)
    with ExitStack() as stack:
        archive = stack.enter_context(Archive(path))
        manifest = archive.manifest
        schema = Schema(manifest.applied, whose="The backup")
        schema.check_tables(manifest.tables)
        old = _data_here(connection)
        if old and not replace:
            raise BackupError(_would_be_lost(old))
        folder = stack.enter_context(_work_folder())
        kept = None

        def keep() -> None:
            nonlocal kept
            if old and safety_copy:
                kept = _safety_copy(connection)
                say(f"What was here before is kept in {kept}.")

        if connection.vendor == "sqlite":
            _restore_sqlite(connection, archive, schema, folder, keep)
        else:
            if schema.is_older:
                archive = stack.enter_context(_upgraded(archive, schema, folder))
                schema = Schema(archive.manifest.applied, whose="The backup")
            keep()
            _restore_postgresql(connection, archive, schema)
    return Restored(
        manifest,
        upgraded=archive.manifest is not manifest or schema.is_older,
        safety_copy=kept,
        seconds=time.monotonic() - started,
    )


def _data_here(connection: BaseDatabaseWrapper) -> dict[str, int]:
    if connection.vendor == "sqlite" and not Path(connection.settings_dict["NAME"]).exists():
        return {}
    return data_counts(connection, stored_schema(connection))


def _would_be_lost(counts: dict[str, int]) -> str:
    found = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return (
        f"The database holds data that would be lost: {found}. "
        "With --replace they are backed up and then replaced."
    )


def _safety_copy(connection: BaseDatabaseWrapper) -> Path:
    folder = Path(settings.DATA_DIR) / SAFETY_FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return write_backup(folder / f"before-restore-{moment}.zip", connection=connection).path


@contextmanager
def _work_folder() -> Iterator[Path]:
    """A folder for one restore at a time; what a killed one left there is deleted."""
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


def _build(new: BaseDatabaseWrapper, archive: Archive, schema: Schema) -> None:
    sqlite.fill(new, archive, schema)
    if schema.is_older:
        call_command("migrate", interactive=False, verbosity=0)


def _restore_sqlite(
    connection: BaseDatabaseWrapper,
    archive: Archive,
    schema: Schema,
    folder: Path,
    keep: Callable[[], None],
) -> None:
    live, aside = Path(connection.settings_dict["NAME"]), folder / "new.sqlite3"
    with sqlite.aside(aside, page_size=sqlite.page_size_of(live)) as new:
        _build(new, archive, schema)
        background.settle_restored()
    keep()
    connection.close()
    point_of_no_return()
    sqlite.take_place(aside, live)


def _restore_postgresql(connection: BaseDatabaseWrapper, archive: Archive, schema: Schema) -> None:
    preparation.migrate_if_needed()
    with transaction.atomic():
        postgresql.fill(connection, archive, schema)
        background.settle_restored()
        point_of_no_return()
    postgresql.analyse(connection, schema)


@contextmanager
def _upgraded(archive: Archive, schema: Schema, folder: Path) -> Iterator[Archive]:
    """The same backup as this version would have made it."""
    with sqlite.aside(folder / "older.sqlite3") as new:
        _build(new, archive, schema)
        write_backup(folder / "newer.zip", connection=new)
    with Archive(folder / "newer.zip") as newer:
        yield newer
