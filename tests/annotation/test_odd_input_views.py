"""Tests of input that no database stores, and of absurd numbers, times and nesting, everywhere."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Assignment, LiveDraft, RatingEdit, Study
from benchmarks.models import Exchange
from tests.annotation.live_sessions import asked, begin, make_live_session, make_live_study
from tests.annotation.studies.test_views import browser_of

# On PostgreSQL a NUL is refused, on both engines a half of a surrogate pair.
pytestmark = [pytest.mark.django_db, pytest.mark.either]
ODD = "half \ud83d of a face, and \x00"
KEPT = "half \ufffd of a face, and \ufffd"
NUL = "a reason with \x00 in it"
KEPT_NUL = NUL.replace("\x00", "\ufffd")
MOMENTS = ["0001-01-01T00:00", "9999-12-31T23:59", "2001-99-99T00:00", "1e400", "["]


def test_a_draft_of_a_reply_keeps_the_rest_of_its_text(ann: User) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    (ask,) = asked(session)
    url = f"/sessions/{session.pk}/draft/{ask.pk}/"
    tab = browser_of(ann)
    body = json.dumps({"fields": {"text": ODD}, "version": 0})
    assert tab.post(url, body, content_type="application/json").status_code == 200
    assert LiveDraft.objects.get().fields == {"text": KEPT}
    for broken in ("[" * 100_000, '{"fields": {"text": "x"}, "version": 1e400}', '{"fields": [1]}'):
        assert tab.post(url, broken, content_type="application/json").status_code == 422
    assert LiveDraft.objects.get().fields == {"text": KEPT}


def test_a_reply_with_nul_is_refused_and_kept_on_the_page(ann: User) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    (ask,) = asked(session)
    url = f"/sessions/{session.pk}/reply/{ask.pk}/"
    for fields in ({"text": NUL}, {"text": NUL, "from_fields": "1"}):
        page = browser_of(ann).post(url, fields)
        assert page.status_code == 422 and b"Null characters" in page.content
    overridden = {"text": "No ladder, please.", "override": "[" * 100_000}
    assert browser_of(ann).post(url, overridden).status_code in (302, 422)
    assert not Exchange.objects.filter(text__contains="reason with").exists()


def test_the_form_of_the_desk_without_script(ann: User, item: Assignment) -> None:
    url = f"/studies/{item.study_id}/annotate/{item.position}/"
    tab = browser_of(ann)
    fields = {"safety": "4", ":comment": NUL, "shown": "[" * 100_000}
    assert tab.post(url, {**fields, "action": "save"}).status_code < 400
    assert set(RatingEdit.objects.values_list("text", flat=True)) == {"", KEPT_NUL}
    assert tab.post(url, {"action": "skip", "reason": NUL}).status_code < 400


@pytest.mark.parametrize("moment", MOMENTS)
def test_moments_at_the_edges_of_the_calendar(manager: User, study: Study, moment: str) -> None:
    """A form says what is wrong, or takes the moment; no page fails after that."""
    tab = browser_of(manager)
    url = f"/studies/{study.pk}/settings/"
    form = {"name": "Pilot", "closes_at": moment, "idle_seconds": "90", "lease_minutes": "60",
            "break_minutes": "45", "go": "save"}  # fmt: skip
    assert tab.post(url, form).status_code in (200, 302, 422)
    assert tab.get(url).status_code == 200
    assert tab.get(f"/studies/{study.pk}/").status_code == 200
    page = tab.get(f"/studies/{study.pk}/record/", {"since": moment, "until": moment})
    assert page.status_code in (200, 422)


def test_reasons_with_nul(manager: User, ann: User, study: Study) -> None:
    tab = browser_of(manager)
    for path, fields in (
        ("status/", {"status": "paused"}),
        ("status/", {"status": "open"}),
        ("people/1/change/", {"action": "pause"}),
    ):
        answer = tab.post(f"/studies/{study.pk}/{path}", {**fields, "reason": NUL})
        assert answer.status_code == 302, path


@pytest.mark.parametrize(
    "draft",
    ["[" * 100_000, json.dumps({"given": {"items": {"name": [ODD]}}}),
     '{"specials": [{"use": "training", "item": 1e400, "expected": {}}]}'],
)  # fmt: skip
def test_the_draft_of_a_study(client: Client, manager: User, draft: str) -> None:
    client.force_login(manager)
    sent: dict[str, Any] = {"draft": draft, "step": "items", "go": "next", "name": "Pilot"}
    assert client.post("/studies/new/", sent).status_code in (200, 302, 403, 422)
