"""SQLite: the restored database is built beside the live one and takes its place in one moment.

Whatever can go wrong does so before that moment, in a file that nobody uses. The last step is
SQLite's own online backup, one transaction on the live file: whoever reads goes on reading, whoever
writes waits, and a kill leaves the old data.
"""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.utils import DEFAULT_DB_ALIAS, load_backend

from config.backups.archive import Archive
from config.backups.errors import BackupError
from config.backups.manifest import Table
from config.backups.schema import Model, Node, Schema, columns
from config.backups.values import rows, to_sqlite

# It is thrown away when something fails, so nothing need be safe in it.
ASIDE_PRAGMAS = (
    "PRAGMA page_size={page_size}; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; "
    "PRAGMA cache_size=-64000;"
)
USUAL_PAGE_SIZE = 4096
BUSY_SECONDS = 60.0


def last_ids(connection: BaseDatabaseWrapper, schema: Schema) -> dict[str, int]:
    """By table, the last number that was given out."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, seq FROM sqlite_sequence WHERE seq > 0")
        found = dict(cursor.fetchall())
    return {name: found[name] for name in schema.models if name in found}


@contextmanager
def aside(path: Path, *, page_size: int = USUAL_PAGE_SIZE) -> Iterator[BaseDatabaseWrapper]:
    """A new database that is everybody's default within the block, in this thread.

    Migrations and services need not know: some of them name no database.
    """
    given: dict[str, Any] = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": path,
        "OPTIONS": {"init_command": ASIDE_PRAGMAS.format(page_size=page_size)},
    }
    settings = connections.configure_settings({DEFAULT_DB_ALIAS: given})[DEFAULT_DB_ALIAS]
    backend: Any = load_backend(given["ENGINE"])
    wrapper: BaseDatabaseWrapper = backend.DatabaseWrapper(settings, DEFAULT_DB_ALIAS)
    real = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = wrapper
    ContentType.objects.clear_cache()
    try:
        yield wrapper
    finally:
        connections[DEFAULT_DB_ALIAS] = real
        ContentType.objects.clear_cache()
        wrapper.close()


def migrate_to(connection: BaseDatabaseWrapper, leaves: Sequence[Node]) -> None:
    """Migrate an empty database to these migrations, squashed since or not."""
    executor = MigrationExecutor(connection)
    if not all(leaf in executor.loader.graph.nodes for leaf in leaves):
        executor.loader = MigrationLoader(connection, replace_migrations=False)
    executor.migrate(leaves)


def fill(connection: BaseDatabaseWrapper, archive: Archive, schema: Schema) -> None:
    """Make the tables as the backup has them, and put its rows in."""
    migrate_to(connection, schema.leaves)
    connection.disable_constraint_checking()
    with transaction.atomic(), _without_indexes(connection.connection):
        for table in archive.manifest.tables:
            _load(connection, table, schema.models[table.name], archive)
        _number_on(connection.connection, archive.manifest.tables)
    connection.enable_constraint_checking()
    connection.check_constraints()


@contextmanager
def _without_indexes(raw: sqlite3.Connection) -> Iterator[None]:
    """Indexes are made when all rows are there: sorted once, not torn open at each row."""
    made = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    found = raw.execute(made).fetchall()
    for name, _ in found:
        raw.execute(f'DROP INDEX "{name}"')
    yield
    for _, sql in found:
        raw.execute(sql)


def _load(connection: BaseDatabaseWrapper, table: Table, model: Model, archive: Archive) -> None:
    quote = connection.ops.quote_name
    fields = columns(model)
    order = [fields[column] for column in table.columns]
    names = ", ".join(map(quote, table.columns))
    marks = ", ".join("?" * len(order))
    raw: sqlite3.Connection = connection.connection
    # Migrations may have left rows of their own.
    raw.execute(f"DELETE FROM {quote(table.name)}")
    with rows(archive, table, [to_sqlite(field, connection) for field in order]) as found:
        # Django's own executemany keeps every row until the last.
        raw.executemany(f"INSERT INTO {quote(table.name)} ({names}) VALUES ({marks})", found)


def _number_on(raw: sqlite3.Connection, tables: tuple[Table, ...]) -> None:
    for table in tables:
        if table.last_id is not None:
            _raise_sequence(raw, table.name, table.last_id)


def _raise_sequence(raw: sqlite3.Connection, name: str, last: int) -> None:
    if not raw.execute(
        "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name)
    ).rowcount:
        raw.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last))


def page_size_of(path: Path) -> int:
    """That of a live database: a database in WAL mode keeps the one that it was made with."""
    if not path.exists():
        return USUAL_PAGE_SIZE
    with closing(sqlite3.connect(path)) as raw:
        (size,) = raw.execute("PRAGMA page_size").fetchone()
    return int(size)


def take_place(new: Path, live: Path) -> None:
    """Make ``live`` hold what ``new`` holds, as one transaction that waits for other writers."""
    limit = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(new)) as source, closing(sqlite3.connect(live)) as target:
        target.execute("PRAGMA synchronous=FULL")
        (pages,) = source.execute("PRAGMA page_count").fetchone()
        before = False

        def step(status: int, left: int, total: int) -> None:
            nonlocal before
            if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                if time.monotonic() > limit:
                    raise BackupError("The database was busy for a minute; try again.")
            elif status == sqlite3.SQLITE_OK and not before:
                # From here to the end nobody else writes. Numbers that the old data gave out are
                # not given out again: somebody may still hold a row of theirs in memory.
                before = True
                _keep_numbers(source, live)

        source.backup(target, pages=max(1, pages - 1), progress=step, sleep=0.05)


def _keep_numbers(source: sqlite3.Connection, live: Path) -> None:
    with closing(sqlite3.connect(live)) as old:
        try:
            given = old.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        except sqlite3.OperationalError:
            return  # a database without tables
    known = {
        name for (name,) in source.execute("SELECT name FROM sqlite_master WHERE type='table'")
    }
    for name, last in given:
        if name in known:
            _raise_sequence(source, name, last)
    source.commit()
