"""Uploads that announce too many bytes are refused before anything of them is stored."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.test import Client

from benchmarks.models import Job, Upload

pytestmark = pytest.mark.django_db
PAGES = ["/datasets/import/", "/datasets/import/problems/", "/experiments/new/"]


@pytest.fixture(autouse=True)
def _small_bounds(settings: Any) -> None:
    settings.UPLOAD_BYTES = 100


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of files for which Django opened a store while it read a request."""
    names: list[str] = []
    whole = UploadedFile.__init__

    def noted(self: Any, file: Any = None, name: Any = None, *args: Any, **kwargs: Any) -> None:
        names.append(name)
        whole(self, file, name, *args, **kwargs)

    monkeypatch.setattr(UploadedFile, "__init__", noted)
    return names


def send(client: Client, page: str, size: int) -> Any:
    # The test client sends one list of bytes; nothing is an uploaded file before Django reads it.
    boundary = "0123456789abcdef"
    body = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="x.json"\r\n'
        f"Content-Type: application/json\r\n\r\n{'x' * size}\r\n--{boundary}--\r\n"
    )
    return client.post(page, body, content_type=f"multipart/form-data; boundary={boundary}")


@pytest.mark.parametrize("page", PAGES)
def test_a_file_is_refused_by_its_announced_length(
    researcher: Client, page: str, opened: list[str]
) -> None:
    answer = send(researcher, page, 2_000_000)
    assert answer.status_code == 413
    assert "The file is too large" in answer.content.decode()
    assert opened == []
    assert not Upload.objects.exists() and not Job.objects.exists()
    assert send(researcher, page, 10).status_code == 422  # it is read: name or design is missing
    assert opened == ["x.json"]


@pytest.mark.parametrize("page", PAGES)
def test_only_who_may_start_runs_is_told_of_the_bound(reader: Client, page: str) -> None:
    assert send(reader, page, 2_000_000).status_code == 403


@pytest.mark.parametrize("page", PAGES)
def test_these_forms_still_need_their_token(researcher: Client, page: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = researcher.cookies
    upload = {"file": SimpleUploadedFile("x.json", b"[]"), "name": "N"}
    assert strict.post(page, upload).status_code == 403
    assert not Upload.objects.exists()
