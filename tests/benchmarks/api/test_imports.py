"""Importing through the API: at once or as a job, repeated, refused with the faults."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks.imports import rows as import_rows
from benchmarks.imports.services import import_trajectories
from benchmarks.jobs import wake_up
from benchmarks.models import Job, Run, StoredAnswer, Upload, UploadChunk
from tests.benchmarks.api.conftest import Caller
from tests.benchmarks.api.files import chat_file
from tests.benchmarks.formats import samples

KEY = {"Idempotency-Key": "file-1"}


@pytest.fixture
def large(settings: Any) -> None:
    """Every file is a large one."""
    settings.IMPORT_AT_ONCE_BYTES = 10


def test_a_small_file_is_imported_at_once(api: Caller, starter: User) -> None:
    response = api.send("/imports", {"file": chat_file(), "name": "Talks", "agent": "me"})
    assert response.status_code == 201
    made = response.json()
    run = Run.objects.get(pk__in=made["runs"])
    assert (made["created"], made["dataset"], made["trajectories"]) == (True, run.dataset_id, 2)
    assert (run.dataset.name, run.source, run.created_by) == ("Talks", "talks.jsonl", starter)
    assert not Job.objects.exists() and not Upload.objects.exists()
    again = api.send("/imports", {"file": chat_file(), "format": "openai-chat"}).json()
    assert (again["created"], again["runs"]) == (False, made["runs"])


def test_a_large_file_becomes_a_job(
    api: Caller, large: None, django_capture_on_commit_callbacks: Any
) -> None:
    response = api.send("/imports", {"file": chat_file(), "agent": "me"})
    assert response.status_code == 202
    waiting = response.json()
    assert waiting["status"] == "queued"
    path = waiting["url"].removeprefix(api.BASE)
    assert api.get(path).json() == waiting
    assert [job["id"] for job in api.get("/imports").json()["items"]] == [waiting["id"]]
    wake_up.wake_for_job(waiting["id"])
    done = api.get(path).json()
    assert (done["status"], done["refused"]) == ("done", None)
    assert Run.objects.get(pk__in=done["result"]["runs"]).agent.title == "zebra-7b"
    assert not Upload.objects.exists()


@pytest.mark.parametrize("headers", [{}, KEY])
def test_a_small_file_becomes_a_job_while_another_import_into_its_dataset_goes_on(
    api: Caller, headers: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_rows, "CHUNK", 1)
    answers: list[Any] = []

    def send_another(turns: int) -> None:
        if not answers:
            fields = {"file": chat_file(), "name": "Talks"}
            answers.append(api.send("/imports", fields, **headers))

    path = samples.write_sample(tmp_path, "openai-chat")
    import_trajectories(path=path, name="Talks", progress=send_another)
    assert answers[0].status_code == 202
    job = answers[0].json()
    assert job["status"] == "queued" and Run.objects.count() == 1
    wake_up.wake_for_job(job["id"])
    done = api.get(f"/imports/{job['id']}").json()
    assert (done["status"], done["result"]["trajectories"]) == ("done", 2)


def test_a_refused_job_names_the_faults(api: Caller, large: None) -> None:
    file = SimpleUploadedFile("t.jsonl", b'{"messages": [{"role": "narrator", "content": "x"}]}\n')
    job = api.send("/imports", {"file": file, "format": "openai-chat"}).json()
    wake_up.wake_for_job(job["id"])
    done = api.get(f"/imports/{job['id']}").json()
    assert (done["status"], done["result"]) == ("failed", None)
    assert done["refused"]["total"] >= 1
    assert "line 1" in done["refused"]["faults"][0]["where"]
    assert "narrator" in json.dumps(done["refused"]["faults"])
    assert not Upload.objects.exists() and not Run.objects.exists()


def test_a_refused_small_file_says_so_in_the_one_shape(api: Caller, error_of: Any) -> None:
    response = api.send("/imports", {"file": SimpleUploadedFile("t.jsonl", b"{")})
    assert error_of(response) == (422, "refused", "")
    assert "t.jsonl" in response.json()["error"]["message"]
    assert not Run.objects.exists()


@pytest.mark.parametrize("size", ["small", "large"])
def test_the_same_key_twice_is_one_import(
    api: Caller, size: str, request: pytest.FixtureRequest, error_of: Any
) -> None:
    if size == "large":
        request.getfixturevalue("large")
    first, second = (api.send("/imports", {"file": chat_file()}, **KEY) for _ in range(2))
    assert (first.status_code, first.json()) == (second.status_code, second.json())
    assert Job.objects.count() == Upload.objects.count() == (size == "large")
    other = api.send("/imports", {"file": chat_file(words="other")}, **KEY)
    assert error_of(other) == (409, "key_reused", "Idempotency-Key")
    assert Job.objects.count() == Upload.objects.count() == (size == "large")


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "file"),
        ({"file": "not a file"}, "file"),
        ({"format": "excel"}, "format"),
        ({"name": "x" * 121}, "name"),
        ({"agent": "a\x00b"}, "agent"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_nonsense_is_named(api: Caller, fields: dict[str, Any], field: str, error_of: Any) -> None:
    given = fields if field == "file" else {"file": chat_file(), **fields}
    status, _, found = error_of(api.send("/imports", given))
    assert (status, found) == (422, field)
    assert not Run.objects.exists()


def test_json_is_no_form(api: Caller, error_of: Any) -> None:
    assert error_of(api.post("/imports", {"file": "x"})) == (422, "invalid", "file")


def test_a_broken_form_is_a_bad_request(api: Caller, error_of: Any) -> None:
    response = api.client.generic(
        "POST", "/api/v1/imports", b"\r\n", headers=api.headers,
        content_type="multipart/form-data",
    )  # fmt: skip
    assert error_of(response) == (400, "bad_request", "")


def test_a_file_above_the_bound_is_too_large(api: Caller, settings: Any, error_of: Any) -> None:
    settings.UPLOAD_BYTES = 100
    assert error_of(api.send("/imports", {"file": chat_file()})) == (413, "too_large", "file")
    settings.UPLOAD_BYTES = 1
    huge = SimpleUploadedFile("x.json", b"x" * 70_000)  # told by its length alone
    assert error_of(api.send("/imports", {"file": huge})) == (413, "too_large", "file")
    assert not UploadChunk.objects.exists() and not StoredAnswer.objects.exists()


def test_formats_are_described(api: Caller) -> None:
    formats = api.get("/formats").json()
    assert {"openai-chat", "tau-bench"} <= {one["name"] for one in formats}
    assert all(one["title"] and one["about"] for one in formats)


def test_jobs_of_other_kinds_are_none_of_ours(api: Caller, error_of: Any) -> None:
    job = Job.objects.create(kind="demo", title="Loading the demo")
    assert error_of(api.get(f"/imports/{job.pk}")) == (404, "not_found", "")
    assert api.get("/imports").json()["items"] == []
