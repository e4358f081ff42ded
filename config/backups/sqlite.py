"""SQLite: copies by its online backup API.

A restored database is made ready in a file that nobody uses, and takes the live one's place in one
transaction: whoever reads goes on reading, whoever writes waits, and a kill leaves the old data.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DEFAULT_DB_ALIAS, load_backend

from config.backups.errors import BackupError
from config.private_files import create_private

BUSY_SECONDS = 60.0
# A file that is thrown away when something fails need not be safe.
_UNSAFE = "PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-64000;"


def copy_database(live: Path, target: Path) -> None:
    """Copy a live database as it is at this moment; nobody has to wait for it."""
    with closing(sqlite3.connect(live)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, not three


def check_database(path: Path) -> None:
    """Raise an error if SQLite finds anything wrong within a file."""
    try:
        with closing(sqlite3.connect(path)) as raw:
            (problem,) = raw.execute("PRAGMA quick_check(1)").fetchone()
            orphan = raw.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        problem, orphan = str(error), None
    if problem != "ok":
        raise BackupError(f"The database in the backup is damaged: {problem}.")
    if orphan:
        raise BackupError(
            f"The database in the backup has a row in {orphan[0]} whose foreign key leads nowhere."
        )


@contextmanager
def open_aside(path: Path, alias: str = DEFAULT_DB_ALIAS) -> Iterator[BaseDatabaseWrapper]:
    """Open an SQLite file as a database of Django's within the block, in this thread.

    As the default one it is what migrations and services use that name no database.
    """
    given: dict[str, Any] = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {"init_command": _UNSAFE},
    }
    settings = connections.configure_settings({DEFAULT_DB_ALIAS: given})[DEFAULT_DB_ALIAS]
    backend: Any = load_backend(given["ENGINE"])
    wrapper: BaseDatabaseWrapper = backend.DatabaseWrapper(settings, alias)
    before = connections[alias] if alias == DEFAULT_DB_ALIAS else None
    connections[alias] = wrapper
    ContentType.objects.clear_cache()
    try:
        yield wrapper
    finally:
        if before is None:
            del connections[alias]
        else:
            connections[alias] = before
        ContentType.objects.clear_cache()
        wrapper.close()


def replace_database(new: Path, live: Path) -> None:
    """Make ``live`` hold what ``new`` holds, as one transaction that waits for other writers."""
    limit = time.monotonic() + BUSY_SECONDS
    create_private(live)
    _match_page_size(new, live)
    with closing(sqlite3.connect(new)) as source, closing(sqlite3.connect(live)) as target:
        target.execute("PRAGMA synchronous=FULL")
        (pages,) = source.execute("PRAGMA page_count").fetchone()
        # A new database has given out no ids, and lets nobody read it while it is written.
        (is_new,) = target.execute("SELECT count(*) = 0 FROM sqlite_master").fetchone()
        locked = bool(is_new)

        def step(status: int, left: int, total: int) -> None:
            nonlocal locked
            if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                if time.monotonic() > limit:
                    raise BackupError("The database was busy for a minute; try again.")
            elif status == sqlite3.SQLITE_OK and not locked:
                # From here to the end nobody else writes: these are the last ids it gave out.
                locked = True
                _raise_ids(source, live)

        source.backup(target, pages=max(1, pages - 1), progress=step, sleep=0.05)


def _match_page_size(new: Path, live: Path) -> None:
    """Give the new file the live one's page size, which a database in WAL mode cannot change."""
    with closing(sqlite3.connect(new)) as source, closing(sqlite3.connect(live)) as target:
        (wanted,) = target.execute("PRAGMA page_size").fetchone()
        if source.execute("PRAGMA page_size").fetchone() != (wanted,):
            source.execute(f"PRAGMA page_size={wanted}")
            source.execute("VACUUM")


def _raise_ids(source: sqlite3.Connection, live: Path) -> None:
    """Let ids go on after the last that the live database gave out.

    Somebody may still hold a row of the old data in memory.
    """
    tables = {name for (name,) in source.execute("SELECT name FROM sqlite_master")}
    with closing(sqlite3.connect(live)) as old:
        if old.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'").fetchone():
            last = dict(old.execute("SELECT name, seq FROM sqlite_sequence"))
            set_last_ids(source, {name: n for name, n in last.items() if name in tables})
    source.commit()


def set_last_ids(raw: sqlite3.Connection, last_ids: dict[str, int]) -> None:
    """Raise the last ids of tables to these, where they are lower."""
    for name, last in last_ids.items():
        if not raw.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name)
        ).rowcount:
            raw.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))


def last_ids(raw: sqlite3.Connection) -> dict[str, int]:
    """Return the last id that each table gave out."""
    return dict(raw.execute("SELECT name, seq FROM sqlite_sequence WHERE seq > 0"))
