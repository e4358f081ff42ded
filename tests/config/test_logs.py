"""Tests of the log lines of requests that are denied, and of those that fail."""

import io
import logging
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from benchmarks.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Yield the log, as the product writes it."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def test_a_denied_page_logs_one_line(client: Client, log: io.StringIO) -> None:
    client.force_login(User.objects.create_user("nobody"))
    assert client.get("/runs/").status_code == 403
    assert log.getvalue().splitlines() == [
        "WARNING django.request: Forbidden (Permission denied): /runs/"
    ]


def test_a_page_that_fails_logs_its_stack(
    client: Client, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(Run.objects, "all", broken)
    monkeypatch.setattr("benchmarks.pages.runs.runs.run_list", broken)
    client.force_login(User.objects.create_superuser("root"))
    client.raise_request_exception = False
    assert client.get("/runs/").status_code == 500
    assert "ZeroDivisionError: by zero" in log.getvalue()
