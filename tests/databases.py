"""The databases of tests: made by migrations once, copied wherever else an empty one is needed.

Migrating takes seconds of processor time. Of the processes of one test run the first does it, in
the usual way; the others, and installations of tests that start real processes, begin with a copy.
"""

import fcntl
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

_TEMPLATE = "planjury_migrated"
# The SQLite file that copies are made of.
_file: Path | None = None


def server() -> psycopg.Connection[Any]:
    """The PostgreSQL under test."""
    return psycopg.connect(settings.TEST_DATABASE_URL, autocommit=True)


@contextmanager
def empty_database(folder: Path) -> Iterator[None]:
    """The connection leads to one. ``folder`` is common to all processes of the run."""
    global _file
    usual = connection.settings_dict["NAME"]
    made = folder / "migrated"
    if not settings.TEST_DATABASE_URL:
        _file = folder / "migrated.sqlite3"
    with (folder / "migrating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if made.exists():
            _use_copy()
        else:
            connection.creation.create_test_db(verbosity=0, autoclobber=True)
            _keep_template()
            made.touch()
    yield
    connection.creation.destroy_test_db(usual, verbosity=0)


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
    """What ``create_test_db`` does, but for the migrations."""
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
    """What is written within is undone, as it is after a test."""
    block = transaction.atomic()
    block._from_testcase = True  # so that services may insist on being the outermost
    with block:
        yield
        transaction.set_rollback(True)


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
