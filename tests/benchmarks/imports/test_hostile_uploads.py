"""Uploads that hang their reader or fill its memory: the request ends, and so does the job, with
the name of the file and the limit; nothing is stored, and the next job goes on.
"""

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from benchmarks.datasets import uploads as dataset_uploads
from benchmarks.datasets.uploads import enqueue_problems
from benchmarks.imports import uploads
from benchmarks.imports.uploads import enqueue_import, is_quick, store_upload
from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Job, Upload
from tests.benchmarks.hostile_workbooks import HOSTILE, high_row, plain

# A child process reads the files, so every engine behaves alike; on PostgreSQL the thread that
# renews the lease would miss the job, which the test has not committed.
pytestmark = [pytest.mark.django_db, pytest.mark.either]

TESTS = "tests.benchmarks.core.test_limited_process"


def send(content: bytes, name: str = "evil.xlsx") -> Job:
    return enqueue_problems(
        upload=SimpleUploadedFile(name, content),
        results=None,
        name="Mine",
        licence="",
        created_by=User.objects.get_or_create(username="rita")[0],
    )


def done(job: Job) -> Job:
    perform(job_id=job.pk, owner="test")
    job.refresh_from_db()
    return job


def test_a_workbook_with_a_row_of_a_high_number_hangs_nobody(researcher: Client) -> None:
    file = SimpleUploadedFile("evil.xlsx", high_row())
    sent = researcher.post("/datasets/import/problems/", {"file": file, "name": "Mine"})
    assert sent.status_code == 302
    assert done(Job.objects.get()).status == Job.Status.FAILED
    page = researcher.get(sent.headers["Location"]).content.decode()
    assert "evil.xlsx" in page and "found a row of a higher number" in page
    assert not Dataset.objects.exists() and not Upload.objects.exists()


@pytest.mark.parametrize(
    ("checker", "seconds", "said"),
    [("endless", 1, "more than 1 seconds of CPU time"), ("swelling", 30, "256 MB of memory")],
)
def test_what_reaches_a_limit_is_named_and_the_next_goes_on(
    settings, monkeypatch: pytest.MonkeyPatch, checker: str, seconds: int, said: str
) -> None:
    settings.READING_SECONDS, settings.READING_MB = seconds, 256
    with monkeypatch.context() as patch:
        patch.setitem(dataset_uploads.CHECKERS, "import-problems", f"{TESTS}:taking_{checker}")
        job = done(send(plain()))
    assert job.status == Job.Status.FAILED
    assert job.message.startswith("evil.xlsx: reading it took more than") and said in job.message
    assert not Dataset.objects.exists() and not Upload.objects.exists()
    settings.READING_SECONDS, settings.READING_MB = 60, 1024
    assert done(send(plain(), "good.xlsx")).status == Job.Status.DONE


def test_trajectories_are_read_apart_too(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.READING_SECONDS = 1
    called: list[str] = []
    real = uploads.check_apart

    def endless(checker: str, arguments: list[str], **more: object) -> None:
        called.append(checker)
        real(f"{TESTS}:taking_endless", arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(uploads, "check_apart", endless)
    user = User.objects.create_user("rita")
    upload = store_upload(upload=SimpleUploadedFile("log.eval", b"x"), created_by=user)
    job = enqueue_import(upload=upload, format="", name="", agent="", created_by=user)
    assert "log.eval: reading it took more than 1 seconds" in done(job).message
    assert called == ["benchmarks.formats.registry:check_upload"]


@pytest.mark.parametrize("name", sorted(HOSTILE)[:6])
def test_the_job_of_a_hostile_workbook_tells_its_faults(name: str) -> None:
    job = done(send(HOSTILE[name]))
    assert job.status == Job.Status.FAILED
    assert job.payload["refused"]["faults"]


@pytest.mark.parametrize("start", [b"PK\x03\x04", b"\x1f\x8b", b"PAR1", b"\x28\xb5\x2f\xfd"])
def test_packed_files_are_never_read_in_a_request(start: bytes) -> None:
    assert not is_quick(SimpleUploadedFile("x", start + b"rest"))
    assert is_quick(SimpleUploadedFile("x", b'{"a": 1}'))


def test_forgotten_uploads_leave_those_of_a_waiting_job(settings, monkeypatch) -> None:
    user = User.objects.create_user("rita")
    results = SimpleUploadedFile("results.json", b"{}")
    job = enqueue_problems(
        upload=SimpleUploadedFile("book.xlsx", plain()), results=results,
        name="M", licence="", created_by=user,
    )  # fmt: skip
    monkeypatch.setattr(uploads, "FORGOTTEN", -uploads.FORGOTTEN)
    uploads.forget_uploads()
    kept = set(Upload.objects.values_list("pk", flat=True))
    assert kept == {job.payload["upload"], *job.payload["more"]}
