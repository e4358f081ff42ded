"""The data folder and the database belong to their owner alone, also after an upgrade."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from config.private_files import make_data_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run_manage(data: Path, *words: str) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=settings.BASE_DIR,
        env=kept | {"PLANJURY_DATA_DIR": str(data)},
        check=True,
        capture_output=True,
        umask=0o022,
    )


# Opens the database and asks for the modes while the files beside it are there.
LOOK = """
import os, stat
from django.conf import settings
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("CREATE TABLE a_table (number INTEGER)")
    cursor.execute("INSERT INTO a_table VALUES (1)")
    folder = settings.DATA_DIR
    open_to_others = [
        name for name in os.listdir(folder)
        if stat.S_IMODE(os.stat(folder / name).st_mode) & 0o077
    ]
    assert {"planjury.sqlite3", "planjury.sqlite3-wal"} <= set(os.listdir(folder))
    assert not open_to_others, open_to_others
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
"""


def test_a_new_installation_is_private_from_the_first_moment(tmp_path: Path) -> None:
    data = tmp_path / "var"
    run_manage(data, "shell", "-v0", "-c", LOOK)
    assert mode(data) == 0o700
    assert mode(data / "secret-key") == 0o600


def test_an_installation_of_an_earlier_version_is_closed_at_its_next_start(tmp_path: Path) -> None:
    data = tmp_path / "var"
    for folder in ("", "broker", "static", "before-restore"):
        (data / folder).mkdir(mode=0o755)
    with sqlite3.connect(data / "planjury.sqlite3") as database:
        database.execute("PRAGMA journal_mode=WAL")
    database.close()
    for name in ("backup.zip", "planjury.sqlite3"):
        (data / name).touch()
        (data / name).chmod(0o644)
    run_manage(data, "shell", "-v0", "-c", LOOK)
    assert mode(data) == 0o700
    assert {mode(path) for path in data.iterdir() if path.is_dir()} == {0o700}
    assert {mode(path) for path in data.iterdir() if path.is_file()} == {0o600}


def test_a_database_outside_the_folder_is_closed_too(tmp_path: Path) -> None:
    database = tmp_path / "elsewhere.sqlite3"
    beside = database.with_name("elsewhere.sqlite3-wal")
    for path in (database, beside):
        path.touch()
        path.chmod(0o664)
    make_data_private(tmp_path / "var", database)
    assert (mode(database), mode(beside)) == (0o600, 0o600)


def test_the_target_of_a_link_keeps_its_rights(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    data = tmp_path / "var"
    data.mkdir()
    (data / "shared").symlink_to(shared)
    make_data_private(data)
    assert mode(shared) == 0o755


def test_a_folder_that_cannot_be_made_is_left_to_the_system_check(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    make_data_private(tmp_path / "file" / "var")
    assert not (tmp_path / "file").is_dir()


def test_other_kinds_of_files_do_not_stop_the_start(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    make_data_private(tmp_path)
    assert mode(tmp_path) == 0o700


def test_servers_that_run_as_users_of_their_own_still_reach_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    services = tmp_path / "services"
    services.mkdir()
    for path in (tmp_path, services):
        path.chmod(0o755)
    make_data_private(tmp_path)
    assert (mode(tmp_path), mode(services)) == (0o711, 0o711)
