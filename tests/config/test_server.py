"""Bringing database and static files up to date, and compiling templates."""

import io
import os
import threading
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as DjangosMigrate
from django.db import connection, transaction

from benchmarks.models import Run
from config import server
from config.upgrades import migrate_if_needed


@pytest.fixture
def sources(settings, tmp_path: Path) -> Path:
    """A folder of static files, and nothing else to collect."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "a.css").write_text("a { color: red }")
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS = [folder]
    settings.STATIC_ROOT = tmp_path / "collected"
    return folder


def test_static_files_are_collected_when_they_change(sources: Path, settings) -> None:
    collected = Path(settings.STATIC_ROOT)
    assert server.collect_static_if_needed() is True
    assert (collected / "a.css").exists()
    assert server.collect_static_if_needed() is False

    (sources / "b.css").write_text("b { color: blue }")
    (sources / "a.css").unlink()
    assert server.collect_static_if_needed() is True
    assert (collected / "b.css").exists()
    assert not (collected / "a.css").exists()


def test_a_changed_file_changes_the_fingerprint(sources: Path) -> None:
    before = server.static_fingerprint()
    assert server.static_fingerprint() == before
    os.utime(sources / "a.css", ns=(0, 1))
    assert server.static_fingerprint() != before


def test_an_interrupted_collection_is_done_again(sources: Path, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(server, "call_command", lambda *args, **options: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            server.collect_static_if_needed()
    assert server.collect_static_if_needed() is True


def test_a_migrated_database_is_left_alone(db: None) -> None:
    assert migrate_if_needed() is False


@pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite changes tables in no other's way"
)
@pytest.mark.django_db(transaction=True)
def test_a_migration_begins_again_while_a_table_is_in_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[int] = []
    in_use, free = threading.Event(), threading.Event()

    def use() -> None:
        with transaction.atomic():
            Run.objects.exists()
            in_use.set()
            free.wait(60)
        connection.close()

    def change_the_table(*args: object, **options: object) -> None:
        tries.append(1)
        if len(tries) == 2:
            free.set()
            user.join()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE benchmarks_run IN ACCESS EXCLUSIVE MODE")

    monkeypatch.setattr(DjangosMigrate, "handle", change_the_table)
    monkeypatch.setattr("config.management.commands.migrate.PAUSE_SECONDS", 0)
    user = threading.Thread(target=use)
    user.start()
    assert in_use.wait(60)
    said = io.StringIO()
    call_command("migrate", stderr=said)
    assert len(tries) == 2 and said.getvalue().startswith("A table is in use")
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("0",)


def test_every_template_compiles() -> None:
    call_command("check_templates", verbosity=0)


def test_a_broken_template_is_named(settings, tmp_path: Path) -> None:
    (tmp_path / "broken.html").write_text("{% if %}")
    settings.TEMPLATES = [settings.TEMPLATES[0] | {"DIRS": [tmp_path]}]
    with pytest.raises(CommandError, match=r"broken\.html"):
        call_command("check_templates")
