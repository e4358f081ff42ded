"""``manage.py backup`` and ``restore`` on the database under test."""

import gc
import json
import os
import random
import signal
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from benchmarks.models import Dataset, Exchange, Job, Run
from benchmarks.runs.log import DatabaseLog, LeaseLost
from benchmarks.runs.worker import claim_trajectory
from config.backups import archive as archive_module
from config.backups import restoring, sqlite
from config.backups.archive import Archive, ArchiveWriter, new_archive
from config.backups.dump import write_backup
from config.backups.manifest import Manifest
from config.backups.schema import stored_schema
from tests import databases
from tests.config.backup_rows import everything, fill_every_table
from tests.factories.benchmarks import DatasetFactory, ExchangeFactory, TrajectoryFactory

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _data_folder(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()


@pytest.fixture(autouse=True)
def _no_migrating(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restore to SQLite takes moments; in functional/test_backup_live.py it migrates."""
    monkeypatch.setattr(sqlite, "MigrationExecutor", databases.CopyingExecutor)


def backup(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("backup", str(path), *options, stdout=out)
    return out.getvalue()


def restore(path: Path, *options: str) -> str:
    out = StringIO()
    call_command("restore", str(path), *options, stdout=out)
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


def lines(path: Path, table: str) -> list[Any]:
    with zipfile.ZipFile(path) as file:
        return [json.loads(line) for line in file.read(f"tables/{table}.jsonl").splitlines()]


def rewrite(
    source: Path,
    target: Path,
    *,
    manifest: Callable[[Manifest], Manifest] = lambda manifest: manifest,
    rows: Callable[[str, list[bytes]], list[bytes]] = lambda table, rows: rows,
    broken: bool = False,
) -> Path:
    """A backup as another program would have written it, sealed and all."""
    with Archive(source) as old, new_archive(target, force=True) as writer:
        tables = []
        for table in old.manifest.tables:
            count, digest = writer.add(table.member, rows(table.name, list(old.lines(table))))
            tables.append(table if broken else replace(table, rows=count, sha256=digest))
        writer.finish(manifest(replace(old.manifest, tables=tuple(tables))))
    return target


# --- there and back -------------------------------------------------------------------------------


def test_what_is_restored_is_what_was_backed_up_in_every_table(tmp_path: Path) -> None:
    fill_every_table()
    before = everything()
    assert all(before.values()), "a table without rows proves nothing"
    said = backup(tmp_path / "b.zip")
    assert f"{sum(map(len, before.values())):,} rows of {len(before)} tables" in said
    User.objects.create_user("later")
    Job.objects.all().delete()
    Group.objects.filter(pk=Group.objects.latest("pk").pk).update(name="changed")
    said = restore(tmp_path / "b.zip", "--replace")
    assert everything() == before
    assert f"{sum(map(len, before.values())):,} rows" in said
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
    assert gone not in [row[0] for row in lines(tmp_path / "b.zip", "benchmarks_dataset")]
    handed_out = [DatasetFactory().pk for _ in range(3)][-1]
    restore(tmp_path / "b.zip", "--replace")
    assert DatasetFactory().pk > handed_out


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
    """A writer keeps as many jobs as datasets all the time; so must each backup."""
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
        assert written.wait(10)
        counts = []
        for number in range(5):
            path = tmp_path / f"{number}.zip"
            backup(path)
            datasets, jobs = lines(path, "benchmarks_dataset"), lines(path, "benchmarks_job")
            assert {row[2] for row in datasets} == {row[2] for row in jobs}
            counts.append(len(jobs))
    finally:
        stop.set()
        writer.join()
    assert not failures
    assert counts[0] < counts[-1], "nobody wrote while the backups were made"


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
    Archive(path).__exit__(None, None, None)


@pytest.mark.embedded
def test_a_backup_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "b.zip").write_text("precious")

    def full(self: ArchiveWriter, manifest: Manifest) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ArchiveWriter, "finish", full)
    said = refusal(backup, tmp_path / "b.zip", "--force")
    assert said == "No space left on device. No backup was made."
    assert (tmp_path / "b.zip").read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.zip", "data"]


def test_a_disk_that_is_full_in_the_middle_of_a_table(tmp_path: Path, monkeypatch: Any) -> None:
    for _ in range(3):
        DatasetFactory()

    def full(self: ArchiveWriter, member: str, rows: Iterator[bytes]) -> Any:
        if next(iter(rows), None):
            raise OSError(28, "No space left on device")
        return 0, ""

    monkeypatch.setattr(ArchiveWriter, "add", full)
    monkeypatch.setattr("config.backups.dump.ROWS_AT_ONCE", 1)
    with pytest.raises(CommandError, match="No space left on device. No backup was made.") as error:
        backup(tmp_path / "b.zip")
    connection.close()  # as at the end of a command; a cursor left open would complain
    del error
    gc.collect()
    assert [p.name for p in tmp_path.iterdir()] == ["data"]


@pytest.mark.embedded
def test_an_interrupted_backup_leaves_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    add = ArchiveWriter.add

    def interrupted(self: ArchiveWriter, member: str, rows: Iterator[bytes]) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return add(self, member, rows)

    monkeypatch.setattr(ArchiveWriter, "add", interrupted)
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

    monkeypatch.setattr(archive_module.tempfile, "mkstemp", denied)
    said = refusal(backup, tmp_path / "b.zip")
    assert said == "/backups: Permission denied. No backup was made."


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.embedded
def test_every_changed_byte_and_every_cut_is_seen(tmp_path: Path) -> None:
    fill_every_table()
    whole = tmp_path / "b.zip"
    backup(whole)
    content = whole.read_bytes()
    damaged = tmp_path / "damaged.zip"
    rng = random.Random(20261121)
    places = {0, 1, 30, 40, len(content) - 1, len(content) - 65, len(content) - 80}
    for place in sorted(places | {rng.randrange(len(content)) for _ in range(60)}):
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randrange(8)
        damaged.write_bytes(changed)
        with pytest.raises(CommandError, match="damaged|not a backup") as error:
            restore(damaged, "--replace")
        assert "\n" not in str(error.value)
    for size in sorted({0, 1, 29, 60, len(content) - 1} | {*range(0, len(content), 5_000)}):
        damaged.write_bytes(content[:size])
        with pytest.raises(CommandError, match="cut off|not a backup"):
            restore(damaged, "--replace")
    damaged.write_bytes(content + b"\n")
    with pytest.raises(CommandError, match="cut off or damaged"):
        restore(damaged, "--replace")
    restore(whole, "--replace", "--no-safety-copy")


@pytest.mark.embedded
def test_the_damaged_table_is_named(tmp_path: Path) -> None:
    DatasetFactory()
    backup(tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as file:
        member = file.getinfo("tables/benchmarks_dataset.jsonl")
    content = bytearray((tmp_path / "b.zip").read_bytes())
    content[member.header_offset + 100] ^= 1
    (tmp_path / "b.zip").write_bytes(content)
    assert "table benchmarks_dataset " in refusal(restore, tmp_path / "b.zip", "--replace")


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


@pytest.mark.embedded
def test_a_backup_of_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    backup(tmp_path / "b.zip")

    def newer(manifest: Manifest) -> Manifest:
        migrations = {**manifest.migrations, "benchmarks": ("0001_initial", "9999_future")}
        return replace(manifest, migrations=migrations, version="99.0")

    rewrite(tmp_path / "b.zip", tmp_path / "n.zip", manifest=newer)
    said = refusal(restore, tmp_path / "n.zip")
    assert "newer than this PlanJury" in said
    assert "benchmarks 9999_future" in said


@pytest.mark.embedded
def test_a_newer_format_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("config.backups.manifest.FORMAT", 2)
        backup(tmp_path / "b.zip")
    assert "in format 2" in refusal(restore, tmp_path / "b.zip")


@pytest.mark.embedded
def test_a_row_that_does_not_fit_is_named_and_nothing_is_changed(tmp_path: Path) -> None:
    DatasetFactory()
    DatasetFactory()
    backup(tmp_path / "b.zip")
    spoilt = {
        "benchmarks_dataset": lambda rows: [rows[0], b"[1]\n"],
        "benchmarks_job": lambda rows: [b"not json\n"],
    }
    for table, spoil in spoilt.items():
        rewrite(
            tmp_path / "b.zip",
            tmp_path / "x.zip",
            rows=lambda name, rows, t=table, s=spoil: s(rows) if name == t else rows,
        )
        said = refusal(restore, tmp_path / "x.zip", "--replace", "--no-safety-copy")
        assert f"of table {table} does not fit" in said
        assert f"Row {2 if table == 'benchmarks_dataset' else 1} " in said


def test_a_row_without_its_parent_is_refused(tmp_path: Path) -> None:
    TrajectoryFactory()
    backup(tmp_path / "b.zip")
    rewrite(
        tmp_path / "b.zip",
        tmp_path / "x.zip",
        rows=lambda name, rows: [] if name == "benchmarks_task" else rows,
    )
    assert "foreign key" in refusal(restore, tmp_path / "x.zip", "--replace", "--no-safety-copy")


@pytest.mark.embedded
def test_rows_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    DatasetFactory()
    backup(tmp_path / "b.zip")
    rewrite(
        tmp_path / "b.zip",
        tmp_path / "x.zip",
        rows=lambda name, rows: [] if name == "benchmarks_dataset" else rows,
        broken=True,
    )
    assert "table benchmarks_dataset" in refusal(restore, tmp_path / "x.zip", "--replace")


@pytest.mark.embedded
def test_one_restore_at_a_time(tmp_path: Path) -> None:
    backup(tmp_path / "b.zip")
    with restoring._work_folder():
        assert "Another restore is under way" in refusal(restore, tmp_path / "b.zip")
    restore(tmp_path / "b.zip")


# --- versions -------------------------------------------------------------------------------------


def test_a_backup_of_an_older_version_is_brought_up_to_date(tmp_path: Path) -> None:
    """Made by a database that stopped at the first migrations of the product's own apps."""
    with sqlite.aside(tmp_path / "older.sqlite3") as older:
        first = [("benchmarks", "0001_initial"), ("annotation", "0001_initial")]
        sqlite.migrate_to(older, first)
        schema = stored_schema(older)
        assert schema.is_older
        schema.models["benchmarks_dataset"]._base_manager.create(name="from long ago", system="x")
        write_backup(tmp_path / "b.zip", connection=older)
    assert not Dataset.objects.exists()
    said = restore(tmp_path / "b.zip")
    assert "brought up to date" in said
    assert Dataset.objects.get().name == "from long ago"
    executor = MigrationExecutor(connection)
    assert not executor.migration_plan(executor.loader.graph.leaf_nodes())
    DatasetFactory()  # today's columns are there


@pytest.mark.embedded
def test_a_database_aside_is_the_default_and_only_there(tmp_path: Path) -> None:
    with sqlite.aside(tmp_path / "x.sqlite3"):
        call_command("migrate", verbosity=0)
        DatasetFactory()
    assert not Dataset.objects.exists()
