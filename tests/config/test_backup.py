"""``manage.py backup`` and ``restore`` on the database under test."""

import json
import os
import random
import re
import signal
import sqlite3
import stat
import threading
import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from benchmarks.calls.log import LeaseLost
from benchmarks.models import Dataset, Exchange, Job, Run
from benchmarks.runs.log import DatabaseLog
from benchmarks.runs.worker import claim_trajectory
from config.backups import archive as archive_module
from config.backups import backup as backup_module
from config.backups import postgresql, sqlite
from config.backups import restore as restore_module
from config.backups.archive import (
    digest_file,
    extract_database,
    read_manifest,
    write_archive,
)
from config.backups.check import check_backup
from config.backups.errors import BackupError, ignore_interrupts, report_errors
from config.upgrades import is_behind
from tests import databases
from tests.config.backup_rows import everything, fill_every_table
from tests.factories.benchmarks import DatasetFactory, ExchangeFactory, TrajectoryFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _data_folder(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()


def backup(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("backup", str(path), *options, stdout=out)
    return out.getvalue()


def restore(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("restore", str(path), *options, stdout=out)
    return out.getvalue()


def check(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("check_backup", str(path), *options, stdout=out)
    return out.getvalue()


def refusal(do: Callable[..., str], *args: Any) -> str:
    """The one line that the command says, having changed nothing."""
    before = everything()
    with pytest.raises(CommandError) as error:
        do(*args)
    assert everything() == before
    said = str(error.value)
    assert "\n" not in said
    return said


def change_backup(
    source: Path,
    target: Path,
    *,
    database: Callable[[Path], object] = lambda path: None,
    **manifest: Any,
) -> Path:
    """Write a backup that says something else, or whose database was changed, but is whole."""
    old, file = read_manifest(source), target.with_suffix(".database")
    extract_database(source, old, file)
    database(file)
    new = replace(old, **{"sha256": digest_file(file), **manifest})
    write_archive(target, new, file)
    return target


def execute(statement: str) -> Callable[[Path], None]:
    """Change an SQLite file behind everybody's back."""

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute(statement)

    return change


# --- there and back -------------------------------------------------------------------------------


def test_what_is_restored_is_what_was_backed_up_in_every_table(tmp_path: Path) -> None:
    fill_every_table()
    before = everything()
    assert all(before.values()), "a table without rows proves nothing"
    said = backup(tmp_path / "b.zip")
    assert f"The backup is {tmp_path / 'b.zip'}: " in said
    User.objects.create_user("later")
    Job.objects.all().delete()
    Group.objects.filter(pk=Group.objects.latest("pk").pk).update(name="changed")
    said = restore(tmp_path / "b.zip", "--replace")
    assert everything() == before
    assert "The database is as it was on" in said
    connection.check_constraints()


def test_json_null_and_no_value_stay_two_things(tmp_path: Path) -> None:
    for value in (None, "null"):
        ExchangeFactory()
        with connection.cursor() as cursor:
            pk = Exchange.objects.latest("pk").pk
            cursor.execute("UPDATE benchmarks_exchange SET value = %s WHERE id = %s", [value, pk])
    backup(tmp_path / "b.zip")
    Exchange.objects.all().delete()
    restore(tmp_path / "b.zip", "--replace")
    with connection.cursor() as cursor:
        cursor.execute("SELECT value IS NULL FROM benchmarks_exchange ORDER BY id")
        assert [bool(row[0]) for row in cursor.fetchall()] == [True, False]


def test_data_are_replaced_only_when_asked_to_and_kept_aside(tmp_path: Path, settings: Any) -> None:
    DatasetFactory(name="old")
    backup(tmp_path / "b.zip")
    DatasetFactory(name="new")
    before = everything()
    said = refusal(restore, tmp_path / "b.zip")
    assert "2 datasets" in said
    assert "--replace" in said

    said = restore(tmp_path / "b.zip", "--replace")
    assert [d.name for d in Dataset.objects.all()] == ["old"]
    (kept,) = (settings.DATA_DIR / "backups").iterdir()
    assert str(kept) in said
    restore(kept, "--replace", "--no-safety-copy")
    assert everything() == before
    assert [*(settings.DATA_DIR / "backups").iterdir()] == [kept]
    assert not (settings.DATA_DIR / "restoring").exists()


def test_an_empty_database_takes_a_backup_without_more_ado(tmp_path: Path) -> None:
    DatasetFactory(name="old")
    backup(tmp_path / "b.zip")
    Dataset.objects.all().delete()
    restore(tmp_path / "b.zip")
    assert Dataset.objects.get().name == "old"


def test_numbers_are_never_given_out_again(tmp_path: Path) -> None:
    gone = DatasetFactory().pk
    Dataset.objects.all().delete()
    backup(tmp_path / "b.zip")
    handed_out = [DatasetFactory().pk for _ in range(3)][-1]
    restore(tmp_path / "b.zip", "--replace")
    assert DatasetFactory().pk > handed_out > gone


# --- under those who work -------------------------------------------------------------------------


@pytest.mark.embedded
def test_whoever_held_something_has_lost_it_and_the_work_is_free(tmp_path: Path) -> None:
    later = timezone.now() + timedelta(hours=1)
    trajectory = TrajectoryFactory(
        status="running", lease_owner="me", lease_until=later, run__status="running"
    )
    job = Job.objects.create(kind="x", status="running", lease_owner="me", lease_until=later)
    sent = ExchangeFactory(trajectory=trajectory, state=Exchange.State.SENT)
    version = trajectory.run.data_version
    log = DatabaseLog(trajectory, "me")
    backup(tmp_path / "b.zip")
    restore(tmp_path / "b.zip", "--replace")

    with pytest.raises(LeaseLost):
        log.open_asks([])
    assert claim_trajectory(run_id=trajectory.run_id, owner="other") == trajectory.pk
    job.refresh_from_db()
    assert (job.status, job.lease_owner) == ("running", "")
    assert job.lease_until is not None
    assert job.lease_until <= timezone.now()
    sent.refresh_from_db()
    assert sent.state == Exchange.State.LOST
    assert Run.objects.get().data_version > version


@pytest.mark.embedded
def test_what_pages_kept_of_a_run_is_not_shown_again(tmp_path: Path) -> None:
    run = TrajectoryFactory().run
    backup(tmp_path / "b.zip")
    seen = {run.data_version}
    for _ in range(2):
        Run.objects.update(data_version=run.data_version + 1)
        seen.add(run.data_version + 1)
        restore(tmp_path / "b.zip", "--replace", "--no-safety-copy")
        run.refresh_from_db()
        assert run.data_version not in seen
        seen.add(run.data_version)


def test_a_backup_is_of_one_moment(tmp_path: Path) -> None:
    """A writer keeps as many jobs as datasets all the time; so must the backup."""
    stop, written, failures = threading.Event(), threading.Event(), []

    def write() -> None:
        number = 0
        try:
            while not stop.is_set():
                number += 1
                with transaction.atomic():
                    DatasetFactory(name=f"d{number}")
                    Job.objects.create(kind="x", title=f"d{number}")
                written.set()
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(60)
        backup(tmp_path / "b.zip")
        done = written_after = Job.objects.count()
        while written_after == done and not failures:
            written_after = Job.objects.count()
    finally:
        stop.set()
        writer.join()
    assert not failures
    restore(tmp_path / "b.zip", "--replace", "--no-safety-copy")
    assert Job.objects.count() < written_after, "nobody wrote after the backup was made"
    titles = set(Job.objects.values_list("title", flat=True))
    assert titles == set(Dataset.objects.values_list("name", flat=True))


# --- the file -------------------------------------------------------------------------------------


@pytest.mark.embedded
def test_a_file_is_replaced_only_when_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    path.write_text("precious")
    assert "--force" in refusal(backup, path)
    assert path.read_text() == "precious"
    backup(path, "--force")
    assert zipfile.is_zipfile(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600, "it holds password hashes"
    assert [*tmp_path.glob(".*")] == []


@pytest.mark.embedded
def test_a_folder_gets_a_file_named_after_the_time(tmp_path: Path) -> None:
    backup(tmp_path)
    (path,) = tmp_path.glob("planjury-*.zip")
    assert read_manifest(path).engine == "sqlite"


@pytest.mark.embedded
def test_a_backup_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "b.zip").write_text("precious")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_module, "write_archive", full)
    said = refusal(backup, tmp_path / "b.zip", "--force")
    assert said == "No space left on device. No backup was made."
    assert (tmp_path / "b.zip").read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zip", "data"]


@pytest.mark.embedded
def test_an_interrupted_backup_leaves_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    def interrupted(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(backup_module, "write_archive", interrupted)
    assert refusal(backup, tmp_path / "b.zip") == "Interrupted. No backup was made."
    assert [p.name for p in tmp_path.iterdir()] == ["data"]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.embedded
@pytest.mark.parametrize("do", [backup, restore])
def test_a_folder_that_is_not_there(do: Callable[..., str], tmp_path: Path) -> None:
    said = refusal(do, tmp_path / "no" / "b.zip")
    assert "No such file or directory" in said
    assert str(tmp_path / "no") in said


@pytest.mark.embedded
def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: Any) -> None:
    def denied(**_: Any) -> None:
        raise PermissionError(13, "Permission denied", "/backups")

    monkeypatch.setattr(archive_module.tempfile, "TemporaryDirectory", denied)
    said = refusal(backup, tmp_path / "b.zip")
    assert said == "/backups: Permission denied. No backup was made."


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.embedded
def test_no_damaged_file_is_restored(tmp_path: Path) -> None:
    """Whatever byte is another, the file is refused or still gives the same database."""
    DatasetFactory()
    whole, damaged = tmp_path / "b.zip", tmp_path / "damaged.zip"
    backup(whole)
    manifest, content = read_manifest(whole), whole.read_bytes()
    rng, refused = random.Random(20261121), 0
    places = [0, 1, 30, 40, *rng.sample(range(len(content)), 200)]
    places += rng.sample(range(len(content) - 300, len(content)), 50)
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        damaged.write_bytes(changed)
        target = tmp_path / "database"
        try:
            found = read_manifest(damaged)
            extract_database(damaged, found, target)
        except BackupError:
            refused += 1
        else:
            assert (found, digest_file(target)) == (manifest, manifest.sha256)
        target.unlink(missing_ok=True)
    assert refused > 150
    for size in (0, 1, 29, 60, 1_000, len(content) // 2, len(content) - 1):
        damaged.write_bytes(content[:size])
        with pytest.raises(CommandError, match="cut off|not a backup") as error:
            restore(damaged, "--replace")
        assert "\n" not in str(error.value)


@pytest.mark.embedded
def test_a_database_that_does_not_match_its_digest_is_refused(tmp_path: Path) -> None:
    backup(tmp_path / "b.zip")
    change_backup(tmp_path / "b.zip", tmp_path / "x.zip", sha256="0" * 64)
    assert "does not match its digest" in refusal(restore, tmp_path / "x.zip", "--replace")


@pytest.mark.embedded
@pytest.mark.parametrize("content", [b"", b"PK", b"SQLite format 3\x00" + bytes(4096), b"\x00"])
def test_another_file_is_no_backup(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(content)
    assert "is not a backup of PlanJury. Nothing was changed." in refusal(restore, tmp_path / "x")


@pytest.mark.embedded
def test_another_zip_is_no_backup(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as file:
        file.writestr("manifest.json", "{}")
    assert "is not a backup" in refusal(restore, tmp_path / "x.zip")


def test_a_backup_of_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    backup(tmp_path / "b.zip")
    newer = {"benchmarks": ["0001_initial", "9999_future"]}
    change_backup(tmp_path / "b.zip", tmp_path / "n.zip", migrations=newer)
    said = refusal(restore, tmp_path / "n.zip")
    assert "newer than this PlanJury" in said
    assert "benchmarks 9999_future" in said
    change_backup(tmp_path / "b.zip", tmp_path / "v.zip", version="99.0.0")
    assert "made by PlanJury 99.0.0, which is newer" in refusal(restore, tmp_path / "v.zip")


@pytest.mark.embedded
def test_a_newer_format_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(archive_module, "FORMAT", 3)
        backup(tmp_path / "b.zip")
    assert "in format 3" in refusal(restore, tmp_path / "b.zip")


@pytest.mark.embedded
def test_a_backup_in_the_first_format_names_the_version_that_restores_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as file:
        file.writestr("planjury-backup.txt", "This is a backup of PlanJury.")
        old = {"product": "PlanJury", "format": 1, "version": "0.2.0", "tables": []}
        file.writestr("manifest.json", json.dumps(old))
    said = refusal(restore, tmp_path / "old.zip")
    assert "Install PlanJury 0.2.0, restore the backup there, then upgrade." in said


@pytest.mark.embedded
def test_a_row_without_its_parent_is_refused(tmp_path: Path) -> None:
    TrajectoryFactory()
    backup(tmp_path / "b.zip")
    orphan = execute("DELETE FROM benchmarks_task")
    change_backup(tmp_path / "b.zip", tmp_path / "x.zip", database=orphan)
    assert "foreign key" in refusal(restore, tmp_path / "x.zip", "--replace", "--no-safety-copy")


@pytest.mark.embedded
def test_a_database_with_another_page_size_is_restored(tmp_path: Path) -> None:
    DatasetFactory(name="old")
    backup(tmp_path / "b.zip")

    def change(path: Path) -> None:
        with closing(sqlite3.connect(path)) as raw:
            raw.execute("PRAGMA page_size=8192")
            raw.execute("VACUUM")

    change_backup(tmp_path / "b.zip", tmp_path / "x.zip", database=change)
    Dataset.objects.all().delete()
    restore(tmp_path / "x.zip")
    assert Dataset.objects.get().name == "old"


@pytest.mark.embedded
def test_one_restore_at_a_time(tmp_path: Path) -> None:
    backup(tmp_path / "b.zip")
    with restore_module._work_folder():
        assert "Another restore is under way" in refusal(restore, tmp_path / "b.zip")
    restore(tmp_path / "b.zip")


# --- versions and engines -------------------------------------------------------------------------


@pytest.mark.embedded
def test_a_backup_of_an_older_version_is_brought_up_to_date(tmp_path: Path) -> None:
    DatasetFactory(name="from long ago")
    backup(tmp_path / "b.zip")
    Dataset.objects.all().delete()

    def take_back_a_migration(path: Path) -> None:
        with sqlite.open_aside(path):
            call_command("migrate", "sessions", "zero", verbosity=0)

    change_backup(tmp_path / "b.zip", tmp_path / "old.zip", database=take_back_a_migration)
    said = restore(tmp_path / "old.zip")
    assert "brought up to date" in said
    assert Dataset.objects.get().name == "from long ago"
    assert not is_behind(connection)
    assert not Session.objects.exists()  # its table is there again


@pytest.mark.embedded
def test_a_database_aside_is_the_default_and_only_there(tmp_path: Path) -> None:
    with sqlite.open_aside(tmp_path / "x.sqlite3") as aside:
        aside.ensure_connection()
        databases.fill_with_copy(aside.connection)
        DatasetFactory()
    assert not Dataset.objects.exists()


@pytest.mark.embedded
def test_a_database_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    DatasetFactory(name="old")
    live = Path(connection.settings_dict["NAME"])
    sqlite.copy_database(live, tmp_path / "copy.sqlite3")
    sqlite.replace_database(tmp_path / "copy.sqlite3", tmp_path / "new.sqlite3")
    with closing(sqlite3.connect(tmp_path / "new.sqlite3")) as new:
        assert new.execute("SELECT name FROM benchmarks_dataset").fetchall() == [("old",)]
    mode = stat.S_IMODE((tmp_path / "new.sqlite3").stat().st_mode)
    assert mode == 0o600, "it holds password hashes"


@pytest.mark.embedded
def test_a_dump_of_postgresql_is_refused_by_sqlite(tmp_path: Path) -> None:
    backup(tmp_path / "b.zip")
    change_backup(tmp_path / "b.zip", tmp_path / "x.zip", engine="postgresql")
    assert "backup --as-sqlite" in refusal(restore, tmp_path / "x.zip")


@pytest.mark.embedded
@pytest.mark.parametrize("said", ["pg_dump (PostgreSQL) 13.4", "", None])
def test_a_tool_that_is_missing_or_too_old_is_named(
    said: str | None, tmp_path: Path, monkeypatch: Any
) -> None:
    if said is not None:
        (tmp_path / "pg_dump").write_text(f"#!/bin/sh\necho '{said}'\n")
        (tmp_path / "pg_dump").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError) as error:
        postgresql.find_tool("pg_dump", least=15)
    assert ("is not installed" if said is None else "needs 15 or later") in str(error.value)


def test_a_random_part_of_a_backup_is_restored_and_again_with_its_seed(
    tmp_path: Path, settings: Any
) -> None:
    User.objects.bulk_create(User(username=f"person-{number}") for number in range(400))
    path = tmp_path / "b.zip"
    backup(path)
    said = check(path, "--whole")
    assert "can be restored: " in said and "400 users" in said
    settings.BACKUP_SAMPLE = 10
    said = check(path, "--seed", "5")
    if connection.vendor == "sqlite":  # is a database already
        assert "400 users" in said
        return
    found = re.search(r"seed 5: .*?([\d,]+) of 400 in auth_user", said)
    assert found is not None, said
    assert 10 <= int(found[1]) <= 90
    assert check(path, "--seed", "5") == said
    sample = check_backup(path, part=0.1, seed=5).sample
    assert all(table.restored > 0 for table in sample.values() if table.rows)
    # Whoever repeats a check finds the seed in what it said.
    assert re.search(r"drawn with seed \d+: ", check(path))


def test_after_a_restore_the_process_heeds_signals_as_before() -> None:
    stops = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in stops]
    with report_errors("Nothing was changed."):
        ignore_interrupts()
        assert {signal.getsignal(number) for number in stops} == {signal.SIG_IGN}
    assert [signal.getsignal(number) for number in stops] == before
