"""The databases of tests: made by migrations once, copied wherever else an empty one is needed.

Migrating takes seconds of processor time. Of the processes of one test run the first does it, in
the usual way; the others, and installations of tests that start real processes, begin with a copy.
SQLite files so made are kept, and serve later runs as long as nothing in the source changes.
"""

import fcntl
import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

_TEMPLATE = "planjury_migrated"
# The SQLite file that copies are made of.
_file: Path | None = None
_KEPT = Path(settings.BASE_DIR) / ".pytest_cache" / "migrated"
_KEPT_MOST = 4


def server() -> psycopg.Connection[Any]:
    """The PostgreSQL under test."""
    return psycopg.connect(settings.TEST_DATABASE_URL, autocommit=True)


@contextmanager
def locked_database() -> Iterator[None]:
    """Another program writes to the SQLite file of the tests, and does not end."""
    path = connection.settings_dict["NAME"]
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def empty_database(folder: Path) -> Iterator[None]:
    """The connection leads to one. ``folder`` is common to all processes of the run."""
    global _file
    usual = connection.settings_dict["NAME"]
    made = folder / "migrated"
    common = folder
    if not settings.TEST_DATABASE_URL:
        _file, common = folder / "migrated.sqlite3", _KEPT
        _KEPT.mkdir(parents=True, exist_ok=True)
    with (common / "migrating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = _KEPT / f"{_digest_of_source()}.sqlite3"
        if made.exists() or (_file is not None and kept.exists()):
            if _file is not None and not made.exists():
                shutil.copy(kept, _file)
            _use_copy()
        else:
            connection.creation.create_test_db(verbosity=0, autoclobber=True)
            _keep_template()
            if _file is not None:
                _keep(_file, kept)
        made.touch()
    yield
    if settings.TEST_DATABASE_URL:
        _end_sessions()
    connection.creation.destroy_test_db(usual, verbosity=0)


def _end_sessions() -> None:
    """End what threads and processes of tests have left open: a database in use cannot be dropped,
    and the last test would be blamed for it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _digest_of_source() -> str:
    """Return a digest of all sources on which the content of an empty database can depend."""
    digest = hashlib.sha256()
    root = Path(settings.BASE_DIR)
    folders = ("config", "benchmarks", "annotation", "analysis")
    sources = sorted(path for folder in folders for path in (root / folder).rglob("*.py"))
    for path in (root / "requirements" / "dev.lock", *sources):
        text = path.read_bytes()
        digest.update(f"{path} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def _keep(file: Path, kept: Path) -> None:
    aside = kept.with_suffix(".new")
    shutil.copy(file, aside)
    aside.replace(kept)
    for old in sorted(_KEPT.glob("*.sqlite3"), key=lambda path: path.stat().st_mtime)[:-_KEPT_MOST]:
        old.unlink()


def make_copy(*, name: str = "", path: Path | None = None) -> None:
    """An empty database with all tables: in that file, or under that name in the PostgreSQL."""
    if path is not None:
        assert _file is not None
        shutil.copy(_file, path)
        return
    with server() as cursor:
        cursor.execute(f"create database {name} template {_TEMPLATE}")


def fill_with_copy(raw: sqlite3.Connection) -> None:
    """Make an open SQLite database, whatever it holds, such a copy."""
    assert _file is not None
    with closing(sqlite3.connect(_file)) as source:
        source.backup(raw)


def use_copies_of(file: Path) -> None:
    """Copies in this process, which is none of pytest's, are made of that file."""
    global _file
    _file = file


def file_of_copies() -> Path | None:
    """Return the file of copies, for processes other than pytest's; None on PostgreSQL."""
    return _file


class CopyingExecutor(MigrationExecutor):
    """An executor that fills an empty SQLite with a copy, instead of applying all migrations."""

    def migrate(self, targets: Any, *args: Any, **kwargs: Any) -> Any:
        newest = self.loader.graph.leaf_nodes()
        if self.loader.applied_migrations or sorted(targets) != sorted(newest):
            return super().migrate(targets, *args, **kwargs)
        fill_with_copy(self.connection.connection)
        return None


def _keep_template() -> None:
    if _file is not None:
        with closing(sqlite3.connect(_file)) as copy:
            connection.ensure_connection()
            connection.connection.backup(copy)
        return
    made = connection.settings_dict["NAME"]
    connection.close()
    with server() as cursor:
        cursor.execute(f"drop database if exists {_TEMPLATE} with (force)")
        cursor.execute(f"create database {_TEMPLATE} template {made}")


def _use_copy() -> None:
    """Do what ``create_test_db`` does, but for the migrations."""
    connection.close()
    name = str(connection.settings_dict["TEST"]["NAME"])
    if _file is not None:
        make_copy(path=Path(name))
    else:
        with server() as cursor:
            cursor.execute(f"drop database if exists {name} with (force)")
        make_copy(name=name)
    settings.DATABASES[connection.alias]["NAME"] = name
    connection.settings_dict["NAME"] = name


@contextmanager
def taken_back() -> Iterator[None]:
    """Undo what is written within, as after a test."""
    block = transaction.atomic()
    block._from_testcase = True  # so that services may insist on being the outermost
    with block:
        yield
        transaction.set_rollback(True)


@contextmanager
def standing_rows(blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep the rows that a module's fixture makes until the tests of the module are over.

    Each test's own changes are taken back to it.
    """
    with blocker.unblock(), taken_back():
        yield


def rows_put_back() -> Callable[..., None]:
    """Puts the rows back that there are now, when Django has flushed what a test committed.

    It would have them made anew by the signal that follows migrations, which takes longer than most
    tests.
    """
    models = apps.get_models(include_auto_created=True)
    managed = [model for model in models if model._meta.managed and not model._meta.proxy]
    rows = {model: list(model._base_manager.all()) for model in managed}

    def put_back(*_: Any) -> None:
        with transaction.atomic():
            for model, found in rows.items():
                model._base_manager.bulk_create(found)
        caches["kept"].clear()  # its table is no model's, so no flush empties it

    return put_back
