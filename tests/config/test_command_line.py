"""Commands on a database that they cannot use: a sentence instead of a traceback."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.db import IntegrityError, OperationalError, ProgrammingError, connection
from pytest_django import Settings

from benchmarks import outages
from config import command_line
from config.command_line import explain, explain_file
from config.demo_folder import use_temporary_folder

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings.local"} | variables,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_database_without_tables_is_explained(tmp_path: Path) -> None:
    done = run("reproduce", "--list", PLANJURY_DATA_DIR=str(tmp_path), DATABASE_URL="")
    assert done.returncode == 1
    assert done.stderr.startswith("The tables of the database are missing")
    assert "Traceback" not in done.stderr and not done.stdout
    asked = run("metrics", "3", "--traceback", PLANJURY_DATA_DIR=str(tmp_path), DATABASE_URL="")
    assert "Traceback" in asked.stderr


def test_a_data_folder_that_cannot_be_written_is_explained(settings: Settings) -> None:
    folder = settings.DATA_DIR
    full = explain_file(OSError(errno.ENOSPC, "No space left on device"))
    assert full is not None
    assert full.startswith(f"The disk is full. Make room on the disk of {folder}, or name another")
    locked = explain_file(PermissionError(errno.EACCES, "Permission denied", f"{folder}/static/a"))
    assert locked is not None
    assert locked.startswith(f"Cannot write {folder}/static/a: Permission denied. Make it writable")
    # An output file elsewhere has nothing to do with the data folder; a connection is no file.
    assert explain_file(PermissionError(errno.EACCES, "Permission denied", "/elsewhere/a")) is None
    assert explain_file(ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")) is None


def test_a_demo_without_a_temporary_folder_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(prefix: str) -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory in ['/tmp']")

    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    with pytest.raises(SystemExit, match=r"No usable temporary.*Name a folder in TMPDIR"):
        use_temporary_folder()


@pytest.mark.django_db
def test_a_fault_of_the_program_stays_one() -> None:
    # Every migration is applied here, so that a missing table is no matter of set-up.
    assert explain(ProgrammingError('relation "no_such" does not exist')) is None
    assert explain(OperationalError("no such table: no_such")) is None
    locked = explain(OperationalError("database is locked"))
    assert locked is not None and locked.startswith("The database is locked by another program.")


def test_a_migration_that_fails_tells_its_own_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise `migrate` on a broken row answered "Run manage.py migrate first", or crashed."""

    def migrations(_: object) -> None:
        raise AssertionError("the state of the tables was asked for")

    monkeypatch.setattr(command_line, "MigrationExecutor", migrations)
    assert explain(IntegrityError("FOREIGN KEY constraint failed")) is None
    assert explain(OperationalError("no such column: x"), ["migrate"]) is None
    full = explain(OperationalError("database or disk is full"), ["migrate"])
    where = "is full. Make room" if connection.vendor == "sqlite" else "of the server is full"
    assert full is not None and full.startswith(f"The disk {where}")


def test_an_error_of_a_disk_without_room_is_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite tells no difference where its shared memory finds no room."""
    error = OperationalError("disk I/O error")
    assert outages.outage_behind(error) is outages.UNREACHABLE
    monkeypatch.setattr(outages, "disk_usage", lambda path: SimpleNamespace(free=20_000))
    assert outages.outage_behind(error) is outages.FULL
