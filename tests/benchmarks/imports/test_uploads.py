"""Files on their way to a worker: kept in pieces, put together, deleted in the end."""

import json
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from benchmarks.imports import uploads
from benchmarks.imports.selectors import ImportView
from benchmarks.imports.uploads import (
    UploadTooLarge,
    enqueue_import,
    forget_uploads,
    safe_name,
    store_upload,
)
from benchmarks.jobs import services as jobs
from benchmarks.models import Job, Run, Upload, UploadChunk
from tests.benchmarks.api.files import chat_file
from tests.benchmarks.formats import samples

pytestmark = pytest.mark.django_db
NOTHING = {"format": "", "name": "", "agent": ""}


def waiting(file: Any = None) -> Job:
    """An import whose wake-up message was lost."""
    upload = store_upload(upload=file or chat_file(), created_by=None)
    return enqueue_import(upload=upload, created_by=None, **NOTHING)


def perform(job: Job) -> Job:
    jobs.perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    return job


def test_pieces_are_put_together_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "CHUNK", 7)
    seen: list[tuple[str, bytes]] = []
    real = uploads.import_trajectories

    def look(*, path: Path, **more: Any) -> Any:
        seen.append((path.name, path.read_bytes()))
        return real(path=path, **more)

    monkeypatch.setattr(uploads, "import_trajectories", look)
    file = chat_file("../../etc/talks.jsonl")
    content = file.read()
    file.seek(0)
    job = waiting(file)
    assert UploadChunk.objects.count() == -(-len(content) // 7) > 10
    assert Upload.objects.get().size == len(content)
    assert perform(job).status == Job.Status.DONE
    assert seen == [("talks.jsonl", content)]
    assert (job.done, job.total) == (-(-len(content) // 7),) * 2
    assert not Upload.objects.exists() and not UploadChunk.objects.exists()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("talks.jsonl", "talks.jsonl"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\run 1.json", "run 1.json"),
        ("", "upload"),
        ("..", "upload"),
        ("/", "upload"),
        ("a\x00b\n.json", "a_b_.json"),
        ("<script>.json", "_script_.json"),
        ("größe.json.gz", "größe.json.gz"),
        ("-rf", "-rf"),
        ("x" * 300 + ".json.gz", "x" * 92 + ".json.gz"),
        ("é" * 300 + ".json", "é" * 47 + ".json"),
        (".hidden", "hidden"),
    ],
)
def test_names_can_lie_in_a_folder(given: str, kept: str, tmp_path: Path) -> None:
    name = safe_name(given)
    assert name == kept
    assert len(name.encode()) <= 100
    (tmp_path / name).write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_refusal_is_kept_with_the_job_and_the_file_is_not() -> None:
    file = SimpleUploadedFile("t.jsonl", b'{"messages": [{"role": "user", "content": 7}]}')
    job = perform(waiting(file))
    assert job.status == Job.Status.FAILED
    assert job.message
    assert job.payload["refused"]["total"] >= 1
    assert not Upload.objects.exists() and not Run.objects.exists()


def test_a_worker_that_died_leaves_the_file_to_the_next() -> None:
    job = waiting()
    Job.objects.filter(pk=job.pk).update(
        status=Job.Status.RUNNING, lease_owner="dead", attempts=1,
        lease_until=timezone.now() - timedelta(seconds=1),
    )  # fmt: skip
    assert perform(job).status == Job.Status.DONE
    assert Run.objects.count() == 1


def test_an_import_that_was_stored_is_not_stored_again() -> None:
    """The worker dies between the import and the note about it."""
    job, again = waiting(), waiting()
    assert perform(job).payload["result"]["created"] is True
    assert perform(again).payload["result"] == {
        **job.payload["result"], "created": False,
    }  # fmt: skip


def test_without_its_file_a_job_says_what_to_do() -> None:
    job = waiting()
    Upload.objects.all().delete()
    assert perform(job).status == Job.Status.FAILED
    assert "upload it again" in job.message


def test_a_fault_of_ours_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "import_trajectories", lambda **_: 1 / 0)
    job = perform(waiting())
    assert job.status == Job.Status.FAILED
    assert "refused" not in job.payload
    assert not Upload.objects.exists()


def test_what_no_job_needs_is_forgotten_after_an_hour() -> None:
    needed = waiting()
    orphan = store_upload(upload=chat_file(words="cut off"), created_by=None)
    failed = waiting(chat_file(words="given up"))
    Job.objects.filter(pk=failed.pk).update(status=Job.Status.FAILED)
    forget_uploads()
    assert Upload.objects.count() == 3
    with time_machine.travel(timezone.now() + timedelta(hours=1, minutes=1)):
        forget_uploads()
    assert failed.payload["upload"] != orphan.pk
    assert [row.pk for row in Upload.objects.all()] == [needed.payload["upload"]]


def test_a_file_above_the_bound_is_not_kept(settings: Any) -> None:
    settings.UPLOAD_BYTES = 10
    with pytest.raises(UploadTooLarge, match="gzip it"):
        store_upload(upload=chat_file(), created_by=None)
    assert not Upload.objects.exists()


def test_whoever_sent_it_made_the_runs(django_user_model: type[User]) -> None:
    user = django_user_model.objects.create_user("sender")
    upload = store_upload(upload=chat_file(), created_by=user)
    perform(enqueue_import(upload=upload, created_by=user, **NOTHING))
    assert Run.objects.get().created_by == user


def test_a_job_that_was_taken_over_stores_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker holds it: the import is rolled back at its next word about progress."""
    import threading

    job = waiting()
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.01)
    told = threading.Event()

    def lost(self: Any, **_: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            told.set()
            raise jobs.JobCancelled

    def stored(*, progress: Any, **_: Any) -> Any:
        assert told.wait(60)
        for _ in range(1000):
            progress(1)
            threading.Event().wait(0.005)
        pytest.fail("went on")

    monkeypatch.setattr(jobs.Progress, "report", lost)
    monkeypatch.setattr(uploads, "import_trajectories", stored)
    assert perform(job).status == Job.Status.CANCELLED
    assert Upload.objects.exists()


@pytest.mark.embedded
def test_an_import_maps_no_pages_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mapped pages are the worker's memory: it would grow with the file."""
    asked: list[str] = []
    real = uploads.import_trajectories

    def noted(**wishes: Any) -> Any:
        asked.append("import")
        return real(**wishes)

    def execute(run: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "mmap_size" in sql:
            asked.append(sql)
        if sql.startswith("DELETE") and "uploadchunk" in sql:
            asked.append("delete")
        return run(sql, params, many, context)

    monkeypatch.setattr(uploads, "import_trajectories", noted)
    with connection.execute_wrapper(execute):
        assert perform(waiting()).status == Job.Status.DONE
    *during, after = asked
    # The pieces of the file are pages, too, and deleting them reads them once more.
    assert during == ["PRAGMA mmap_size", "PRAGMA mmap_size = 0", "import", "delete"]
    assert after.startswith("PRAGMA mmap_size = ")


def archive_of(folder: Path, files: dict[str, bytes]) -> SimpleUploadedFile:
    path = folder / "mixed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return SimpleUploadedFile("mixed.zip", path.read_bytes())


def chats() -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in samples.chat_lines())


def test_an_archive_of_several_formats_is_imported_by_each(tmp_path: Path) -> None:
    files = {
        "chats.jsonl": chats(),
        "deep/atif.json": json.dumps(samples.atif()).encode(),
        "notes.json": b'{"nothing": "of ours"}',
    }
    job = perform(waiting(archive_of(tmp_path, files)))
    view = ImportView(job)
    assert job.status == Job.Status.DONE
    assert {run.settings["format"] for run in view.runs} == {"openai-chat", "atif"}
    assert len({run.dataset_id for run in view.runs}) == 2
    counted = sum(run.trajectories.count() for run in view.runs)
    assert job.payload["result"]["trajectories"] == counted > 2
    assert job.payload["result"]["refused"] == []
    assert [reason.partition(":")[0] for reason in view.left_out] == ["notes.json"]
    again = perform(waiting(archive_of(tmp_path, files)))
    assert again.payload["result"]["created"] is False
    assert again.payload["result"]["runs"] == job.payload["result"]["runs"]


def test_a_format_that_is_refused_leaves_the_others(tmp_path: Path) -> None:
    broken = dict(samples.atif(), steps=[{"step_id": "first"}])
    files = {"chats.jsonl": chats(), "atif.json": json.dumps(broken).encode()}
    job = perform(waiting(archive_of(tmp_path, files)))
    assert job.status == Job.Status.DONE
    assert [run.settings["format"] for run in ImportView(job).runs] == ["openai-chat"]
    ((title, reason),) = job.payload["result"]["refused"]
    assert "ATIF" in title
    assert "atif.json" in reason


def test_an_archive_whose_formats_are_all_refused_changes_nothing(tmp_path: Path) -> None:
    broken = dict(samples.atif(), steps=[{"step_id": "first"}])
    files = {
        "atif.json": json.dumps(broken).encode(),
        "chats.jsonl": b'{"messages": [{"role": 5}]}',
    }
    job = perform(waiting(archive_of(tmp_path, files)))
    assert job.status == Job.Status.FAILED
    assert not Run.objects.exists()
    assert not Upload.objects.exists()
