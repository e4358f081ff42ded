"""A full disk and a locked database, met while saving: what is said, and that nothing is lost."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from annotation.models import Assignment, Rating, RatingEdit
from benchmarks.outages import FULL, LOCKED, outage_behind
from tests.databases import locked_database

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]


@pytest.fixture
def tab(ann: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(ann)
    return client


@pytest.fixture
def url(item: Assignment) -> str:
    return f"/studies/{item.study_id}/annotate/{item.position}/"


@contextmanager
def full_disk() -> Iterator[None]:
    """SQLite may not grow by a page."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # rows that other tests deleted left pages that could be filled
        cursor.execute("PRAGMA page_count")
        pages = cursor.fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages}")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")


def comment(text: str) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), "question": "", "aspect": "comment", "text": text}


def send(tab: Client, url: str, *edits: dict[str, Any]) -> Any:
    return tab.post(
        f"{url}answers/", data=json.dumps({"edits": edits}), content_type="application/json"
    )


def test_a_full_disk_is_named_and_what_was_acknowledged_is_there(tab: Client, url: str) -> None:
    acknowledged, refused = [], []
    with full_disk():
        for number in range(60):
            edit = comment(f"{number} " + "x" * 4000)
            reply = send(tab, url, edit)
            if reply.status_code == 200:
                acknowledged.append(edit["id"])
                continue
            assert reply.status_code == 503
            assert reply.json() == {"code": "disk_full", "refused": FULL.reason}
            assert reply["Retry-After"]
            refused.append(edit)
            break
        assert refused, "the disk was never full"
        page = tab.post(url, {":comment": "y" * 4900, "shown": "{}", "action": "save"})
        assert page.status_code == 503
        shown = page.content.decode()
        assert (
            "The disk of the server is full" in shown and "What was saved before is safe" in shown
        )
        fields = {":comment": "y" * 4900, "shown": "{}", "action": "save"}
        part = tab.post(url, fields, headers={"HX-Request": "true"})
        assert part.status_code == 503 and part["Content-Type"].startswith("text/plain")
    stored = {str(pk) for pk in RatingEdit.objects.values_list("client_id", flat=True)}
    assert stored == set(acknowledged)
    assert send(tab, url, *refused).status_code == 200
    assert Rating.objects.get(aspect="comment").text == refused[0]["text"]


def test_a_locked_database_is_named_and_nothing_is_half_stored(
    tab: Client, item: Assignment, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit = comment("later")
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.1)
    with locked_database():
        reply = send(tab, url, edit, comment("latest"))
        assert reply.status_code == 503
        assert reply.json() == {"code": "database_locked", "refused": LOCKED.reason}
        page = tab.post(url, {":comment": "form", "shown": "{}", "action": "save"})
        assert page.status_code == 503 and "locked by another program" in page.content.decode()
    assert not RatingEdit.objects.exists()
    assert send(tab, url, edit).status_code == 200


def test_other_failures_stay_what_they_are() -> None:
    assert outage_behind(None) is None
    assert outage_behind(ZeroDivisionError("by zero")) is None
    try:
        try:
            raise OSError(28, "No space left on device")
        except OSError as error:
            raise RuntimeError("the upload could not be kept") from error
    except RuntimeError as error:
        assert outage_behind(error) == FULL
