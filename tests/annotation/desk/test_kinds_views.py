"""The desk for every kind of form: what it shows, what it keeps back, and what its form posts."""

import json
import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.assignments.services import change_assignment_state
from annotation.desk.trajectories import load_turns
from annotation.models import Assignment, Rating, RatingEdit, Study
from annotation.studies.services import set_study_status
from benchmarks.models import Task, Turn
from tests.annotation.desks import DECISIONS, PROPOSED, WISH, first_item, make_kind

pytestmark = pytest.mark.django_db
FEEDBACK = "I have no hammer."


@pytest.fixture
def tab(client: Client, ann: User) -> Client:
    client.force_login(ann)
    return client


def url_of(study: Study) -> str:
    return f"/studies/{study.pk}/annotate/1/"


def send(tab: Client, url: str, *edits: dict[str, Any]) -> Any:
    rows = [{"id": str(uuid.uuid4()), **edit} for edit in edits]
    body = json.dumps({"edits": rows, "activeMs": 9})
    return tab.post(f"{url}answers/", data=body, content_type="application/json")


def said(item: Assignment) -> dict[tuple[str, str, str], Any]:
    rows = Rating.objects.filter(assignment=item)
    return {
        (row.question, row.subject, row.aspect): row.chosen
        if row.chosen is not None
        else row.text or row.value
        for row in rows
    }


def mark(question: str, turn: int, chosen: list[str] | None) -> dict[str, Any]:
    return {"question": question, "subject": f"turn-{turn}", "chosen": chosen}


# --- Violation check ------------------------------------------------------------------------------


def test_a_violation_check_never_shows_what_judges_or_user_said(tab: Client, ann: User) -> None:
    study = make_kind("violation_check@1", ann)
    url, item = url_of(study), first_item(study)
    told = [tab.get(url).content.decode()]
    marks = [mark(f"{kind}_violated", turn, []) for kind in ("world", "user") for turn in (1, 2)]
    told += [send(tab, url, *marks).content.decode(), tab.post(f"{url}submit/").content.decode()]
    item.refresh_from_db()
    assert item.state == "submitted"
    told.append(tab.get(url).content.decode())
    for page in told:
        for secret in (FEEDBACK, "revealed", "withheld", "Found violated", "1 violated"):
            assert secret not in page, secret
    assert "Take the hammer." in told[0]
    assert WISH in told[0]


def test_findings_and_feedback_are_shown_where_the_questionnaire_says_so(
    tab: Client, ann: User
) -> None:
    study = make_kind("turn_scores@1", ann)
    page = tab.get(url_of(study)).content.decode()
    assert FEEDBACK in page
    assert "revealed" not in page


def test_marks_say_none_apart_from_nothing_and_can_be_taken_away(tab: Client, ann: User) -> None:
    study = make_kind("violation_check@1", ann)
    url, item = url_of(study), first_item(study)
    place = ("world_violated", "turn-1", "answer")
    none_box = re.compile(r'name="world_violated\.turn-1" value="" ?(checked)?')
    assert none_box.findall(tab.get(url).content.decode()) == [""]
    for chosen, left in (([], 3), (["w1"], 3), (None, 4)):
        assert send(tab, url, mark("world_violated", 1, chosen)).status_code == 200
        assert said(item)[place] == chosen
        reply = tab.post(f"{url}submit/")
        assert len(reply.json()["missing"]) == left
        assert none_box.findall(tab.get(url).content.decode()) == ["checked" * (chosen == [])]
    assert send(tab, url, mark("world_violated", 1, ["u1"])).status_code == 422
    assert send(tab, url, mark("world_violated", 3, [])).status_code == 422


def test_the_form_without_script_posts_marks_turns_and_remarks(tab: Client, ann: User) -> None:
    study = make_kind("violation_check@1", ann)
    url, item = url_of(study), first_item(study)
    given = {
        "world_violated.turn-1": ["w1"],
        "world_violated.turn-2": [""],
        "user_violated.turn-1": [""],
        "user_violated.turn-1:comment": "Hard to say.",
        "user_violated.turn-1:flag": "Two readings.",
        ":comment": "All in all\r\nfine",
    }
    reply = tab.post(url, {"action": "submit", **given})
    page = reply.content.decode()
    assert reply.status_code == 422
    assert "Not answered yet: 2 Preferences violated" in page
    assert 'id="q-user_violated.turn-2-error"' in page
    assert said(item) == {
        ("world_violated", "turn-1", "answer"): ["w1"],
        ("world_violated", "turn-2", "answer"): [],
        ("user_violated", "turn-1", "answer"): [],
        ("user_violated", "turn-1", "comment"): "Hard to say.",
        ("user_violated", "turn-1", "flag"): "Two readings.",
        ("", "", "comment"): "All in all\nfine",
    }
    before = RatingEdit.objects.count()
    shown = re.search(r'name="shown" value="([^"]*)"', tab.get(url).content.decode())
    assert shown is not None
    again = {**given, "shown": shown[1].replace("&quot;", '"')}
    tab.post(url, {"action": "save", **again})
    assert RatingEdit.objects.count() == before
    # What was ticked and is not sent any more was taken away; an empty reason takes the flag back.
    del again["world_violated.turn-1"]
    again["user_violated.turn-1:flag"] = ""
    tab.post(url, {"action": "save", **again})
    assert said(item)["world_violated", "turn-1", "answer"] is None
    assert said(item)["user_violated", "turn-1", "flag"] == 0
    # "None" beside a mark contradicts itself.
    again["world_violated.turn-1"] = ["w1", ""]
    assert tab.post(url, {"action": "save", **again}).status_code == 422


# --- Filter check ---------------------------------------------------------------------------------


def test_a_filter_check_shows_candidates_and_solution_and_no_decision(
    tab: Client, ann: User
) -> None:
    study = make_kind("filter_check@1", ann)
    url, item = url_of(study), first_item(study)
    for after in (False, True):
        page = tab.get(url).content.decode()
        assert all(text in page for text in PROPOSED)
        assert "Take glue." in page
        assert not any(secret in page for secret in DECISIONS.values())
        if after:
            break
        given = {f"keep.candidate-c{n}": str(n % 2) for n in range(3)}
        reply = tab.post(url, {"action": "submit", **given})
        assert reply.status_code == 302
    assert [value for (_, subject, _), value in sorted(said(item).items())] == [0, 1, 0]


@pytest.mark.parametrize(
    ("payload", "seen"),
    [({"reference": ["Step one-77."]}, True), ({"reference": "1. Step one-77.\n2. End."}, True),
     ({}, False), ({"reference": 3}, False)],
)  # fmt: skip
def test_a_reference_is_shown_where_the_task_has_one(
    tab: Client, ann: User, payload: dict[str, Any], seen: bool
) -> None:
    study = make_kind("filter_check@1", ann)
    Task.objects.update(payload=payload)
    page = tab.get(url_of(study)).content.decode()
    assert ("Step one-77." in page, "Known solution" in page) == (seen, seen)


# --- Parts, versions, refusals --------------------------------------------------------------------


def test_the_background_questions_are_a_desk_of_their_own(tab: Client, ann: User) -> None:
    study = make_kind("turn_scores@1", ann, background="about_annotators@1")
    url = f"/studies/{study.pk}/background/1/"
    page = tab.get(url).content.decode()
    assert "Highest degree" in page
    assert "Trajectory" not in page and ":comment" not in page
    given = {"degree": "2", "language": "2", "experience": "0", "field": "Law"}
    reply = tab.post(url, {"action": "submit", **given})
    assert reply.headers["Location"] == f"/studies/{study.pk}/annotate/"
    item = study.assignments.get(part="background")
    assert said(item)["field", "", "answer"] == "Law"
    assert tab.get(f"/studies/{study.pk}/training/1/").status_code == 404


def test_settings_name_every_place_alike(tab: Client, ann: User) -> None:
    study = make_kind("turn_scores@1", ann)
    url = url_of(study)
    place = {"question": "safety", "subject": "turn-2"}
    span = {"turn": 2, "where": "plan", "start": 0, "end": 4, "quote": "Take"}
    send(
        tab, url, {**place, "value": 4}, {"aspect": "flag", "value": 1, "text": "x"},
        {**place, "aspect": "comment", "text": "Why <b>not</b>?"},
        {**place, "aspect": "evidence", "chosen": [span]},
    )  # fmt: skip
    page = tab.get(url).content.decode()
    found = re.search(r'<script id="desk-settings"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None
    settings = json.loads(found[1])
    assert settings["places"] == {
        "safety.turn-2": {"value": 4, "version": 1},
        "safety.turn-2:comment": {"value": "Why <b>not</b>?", "version": 1},
        "safety.turn-2:evidence": {"value": [span], "version": 1},
        ":flag": {"value": "x", "version": 1},
    }
    assert [edit["slot"] for edit in settings["edits"]] == ["safety.turn-2"]
    assert "<q>Take</q>" in page
    assert "Why &lt;b&gt;not&lt;/b&gt;?" in page and "<b>not</b>" not in page


def test_a_paused_study_is_423_and_a_seat_that_is_gone_says_so(
    tab: Client, ann: User, bob: User
) -> None:
    study = make_kind("turn_scores@1", ann, dealing="pool")
    url, item = url_of(study), first_item(study)
    one = {"question": "safety", "subject": "turn-1", "value": 3}
    set_study_status(study=study, status="paused")
    reply = send(tab, url, one)
    assert (reply.status_code, reply.json()["results"][0]["code"]) == (423, "paused")
    assert "is paused" in tab.get(url).content.decode()
    set_study_status(study=study, status="open")
    item.study.refresh_from_db()
    change_assignment_state(item, "returned", by=None, reason="the lease ran out")
    assert "no longer assigned to you" in tab.get(url).content.decode()
    item.item.given = item.item.wanted
    item.item.save(update_fields=["given"])
    reply = send(tab, url, one)
    assert (reply.status_code, reply.json()["results"][0]["code"]) == (409, "gone")
    assert said(item) == {}


def test_offsets_of_evidence_count_in_the_steps_or_the_text_as_written(ann: User) -> None:
    """What docs/annotation.md promises to those who read evidence back."""
    study = make_kind("turn_scores@1", ann)
    item = first_item(study)
    first, second = load_turns(item.trajectory_id or 0)
    assert "\n".join(first.steps) == "Take the hammer.\nHit it."
    Turn.objects.filter(trajectory=item.trajectory_id, index=2).update(text="So:\n1. Take it.")
    assert load_turns(item.trajectory_id or 0)[1].text == "So:\n1. Take it."


# --- What it costs --------------------------------------------------------------------------------


def queries(tab: Client, act: Any) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        act()
    kept = [q["sql"] for q in seen.captured_queries if "SAVEPOINT" not in q["sql"]]
    return len(kept)


@pytest.mark.parametrize("questionnaire", ["violation_check@1", "turn_scores@1", "filter_check@1"])
def test_opening_and_saving_cost_few_queries(tab: Client, ann: User, questionnaire: str) -> None:
    study = make_kind(questionnaire, ann)
    url, item = url_of(study), first_item(study)
    subject, said = {
        "violation_check@1": ("turn-", {"question": "world_violated", "chosen": []}),
        "turn_scores@1": ("turn-", {"question": "safety", "value": 3}),
        "filter_check@1": ("candidate-c", {"question": "keep", "value": 1}),
    }[questionnaire]
    slots = [{**said, "subject": f"{subject}{n}"} for n in (1, 2)]
    tab.get(url)
    assert queries(tab, lambda: tab.get(url)) <= 10
    Assignment.objects.filter(pk=item.pk).update(opened_at="2020-01-01T00:00Z")
    for slot in slots:
        # Study and item are read by their keys: with a join it would be one less, and dearer.
        assert queries(tab, lambda slot=slot: send(tab, url, slot)) <= 10


def test_a_long_item_is_a_small_page(tab: Client, ann: User) -> None:
    import gzip

    study = make_kind("turn_scores@1", ann)
    item = first_item(study)
    words = " ".join(f"word{n}" for n in range(120))
    Turn.objects.filter(trajectory=item.trajectory_id).delete()
    for n in range(1, 11):
        Turn.objects.create(
            trajectory_id=item.trajectory_id, index=n, is_final=n == 10,
            text="\n".join(f"{step}. {words} {step} {n}" for step in range(1, 9)),
        )  # fmt: skip
    item.item.subjects = {"turn": [str(n) for n in range(1, 11)]}
    item.item.save()
    page = tab.get(url_of(study)).content
    assert page.count(b"data-scale=") == 40
    assert len(gzip.compress(page)) < 150_000
