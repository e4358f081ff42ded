"""The desk as it answers: saves of the script, and the whole form without script."""

import json
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from annotation.models import Assignment, Rating, RatingEdit, Study
from annotation.models.statements import find_own_assignment
from annotation.ratings.services import record_rating
from annotation.steps import access
from annotation.studies.services import set_study_status

pytestmark = pytest.mark.django_db


@pytest.fixture
def tab(client: Client, ann: User) -> Client:
    client.force_login(ann)
    return client


@pytest.fixture
def url(item: Assignment) -> str:
    return f"/studies/{item.study_id}/annotate/{item.position}/"


def edit(question: str = "safety", value: Any = 4, **more: Any) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), "question": question, "value": value, **more}


def send(tab: Client, url: str, *edits: dict[str, Any], **more: Any) -> HttpResponse:
    return tab.post(
        f"{url}answers/",
        data=json.dumps({"edits": edits, **more}),
        content_type="application/json",
    )


def answers(item: Assignment) -> dict[str, int | None]:
    return dict(Rating.objects.filter(assignment=item).values_list("question", "value"))


def test_an_item_that_moves_while_it_is_looked_up_is_not_shown_under_its_old_number(
    tab: Client, item: Assignment, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_then_move(**given: Any) -> Assignment | None:
        found = find_own_assignment(**given)
        Assignment.objects.filter(pk=item.pk).update(position=item.position + 100)
        return found

    monkeypatch.setattr(access, "find_own_assignment", find_then_move)
    reply = tab.get(url)
    assert (reply.status_code, reply["Location"]) == (302, url)
    assert tab.get(url).status_code == 404


# --- With script ----------------------------------------------------------------------------------


def test_save_acknowledges_what_is_stored(tab: Client, item: Assignment, url: str) -> None:
    one = edit(at="2026-11-21T08:00:00Z")
    reply = send(tab, url, one)
    assert reply.status_code == 200
    assert reply.json()["results"] == [
        {
            "id": one["id"], "question": "safety", "subject": "", "aspect": "answer", "value": 4,
            "chosen": None, "text": "", "version": 1, "overtook": None,
        }
    ]  # fmt: skip
    stored = RatingEdit.objects.get()
    assert str(stored.client_id) == one["id"]
    assert stored.client_time is not None
    assert send(tab, url, one).json()["results"][0]["version"] == 1
    assert answers(item) == {"safety": 4}


def test_a_refusal_is_not_2xx_and_says_why_for_each(
    tab: Client, item: Assignment, url: str
) -> None:
    reply = send(tab, url, edit(value=4), edit(value=9), edit("beauty"))
    assert reply.status_code == 422
    good, bad, ugly = reply.json()["results"]
    assert good["value"] == 4
    assert bad["refused"] == "expected a whole number from 1 to 5, found 9"
    assert ugly["code"] == "invalid"
    assert answers(item) == {"safety": 4}


@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "{}", '{"edits": 1}', '{"edits": [{}]}', '{"edits": ["x"]}', "[" * 100_000,
     '{"edits": ' + "[" * 100_000],
)  # fmt: skip
def test_messages_that_cannot_be_read_are_refused(tab: Client, url: str, body: str) -> None:
    reply = tab.post(f"{url}answers/", data=body, content_type="application/json")
    assert reply.status_code == 422
    assert "could not be read" in reply.json()["refused"]
    assert not RatingEdit.objects.exists()


@pytest.mark.parametrize(
    "broken",
    ['{"id": "x"}', '{"id": "%s", "text": 3}', '{"id": "%s", "undoes": "x"}',
     '{"id": "%s", "question": "safety", "value": 1e400}',
     '{"id": "%s", "question": "safety", "value": ' + "9" * 4000 + "}",
     '{"id": "%s", "question": "safety", "value": {"a": [1]}}'],
)  # fmt: skip
def test_an_edit_that_cannot_be_read_holds_no_other(
    tab: Client, item: Assignment, url: str, broken: str
) -> None:
    before, after = json.dumps(edit(value=3)), json.dumps(edit("feasibility", value=2))
    body = f'{{"edits": [{before}, {broken.replace("%s", str(uuid.uuid4()))}, {after}]}}'
    reply = tab.post(f"{url}answers/", data=body, content_type="application/json")
    assert reply.status_code == 422
    _, refused, _ = reply.json()["results"]
    assert refused["code"] == "invalid" and refused["id"]
    assert answers(item) == {"safety": 3, "feasibility": 2}


def test_what_no_database_stores_is_replaced_in_a_remark(
    tab: Client, item: Assignment, url: str
) -> None:
    """A lone surrogate came in by pasting; it answered 500 to this and every later save."""
    text = "half \ud83d of a face, and \x00"
    said = edit("", None, text=text, aspect="comment")
    reply = send(tab, url, said, edit(value=4))
    assert reply.status_code == 200
    assert RatingEdit.objects.get(aspect="comment").text == "half \ufffd of a face, and \ufffd"
    assert answers(item)["safety"] == 4
    # The same message again, as a browser sends it that did not hear of the first.
    assert send(tab, url, said).json()["results"][0]["version"] == 1


@pytest.mark.parametrize(
    "at",
    ["yesterday", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2001-99-99T00:00:00Z",
     "9999-12-31T23:59:59Z", 10**400],
)  # fmt: skip
def test_an_unreadable_clock_is_no_reason_to_refuse(tab: Client, url: str, at: Any) -> None:
    assert send(tab, url, edit(at=at)).status_code == 200
    assert RatingEdit.objects.get().client_time is None


@pytest.mark.parametrize("told", ["1e400", "-1", '"long"', "9" * 400, "null"])
def test_a_time_at_work_that_nobody_counted_is_no_reason_to_refuse(
    tab: Client, item: Assignment, url: str, told: str
) -> None:
    body = f'{{"edits": [{json.dumps(edit(value=4))}], "activeMs": {told}}}'
    reply = tab.post(f"{url}answers/", data=body, content_type="application/json")
    assert reply.status_code == 200
    assert answers(item) == {"safety": 4}


def test_too_many_at_once(tab: Client, url: str) -> None:
    assert send(tab, url, *(edit() for _ in range(201))).status_code == 422
    assert not RatingEdit.objects.exists()


def test_undo_by_id(tab: Client, item: Assignment, url: str) -> None:
    first, second = edit(value=2), edit(value=5)
    send(tab, url, first, second)
    reply = send(tab, url, {"id": str(uuid.uuid4()), "undoes": second["id"]})
    assert reply.json()["results"][0]["value"] == 2
    assert answers(item) == {"safety": 2}


def test_submit_names_what_is_missing_then_leads_on(
    tab: Client, item: Assignment, url: str
) -> None:
    reply = tab.post(f"{url}submit/")
    assert (reply.status_code, reply.json()["code"]) == (422, "incomplete")
    assert reply.json()["missing"] == item.item.asked
    send(tab, url, *(edit(key) for key in item.item.asked))
    for _ in range(2):
        reply = tab.post(f"{url}submit/", {"activeMs": "1"})
        assert reply.json() == {"next": f"/studies/{item.study_id}/annotate/2/"}
    assert tab.get(reply.json()["next"]).status_code == 200
    assert send(tab, url, edit(value=1)).status_code == 409
    assert answers(item)["safety"] == 4


def test_a_submission_claims_the_next_item_of_a_pool_and_leads_to_it(
    tab: Client, item: Assignment, url: str
) -> None:
    study = item.study
    study.assignments.exclude(pk=item.pk).delete()
    study.participants.filter(user=item.annotator).update(assigned=1)
    study.items.exclude(pk=item.item_id).update(given=1)
    following = study.items.exclude(pk=item.item_id).earliest("rank")
    study.items.filter(pk=following.pk).update(given=0)
    Study.objects.filter(pk=study.pk).update(dealing="pool")
    send(tab, url, *(edit(key) for key in item.item.asked))
    for _ in range(2):  # a reply that was lost is asked for again, and claims nothing more
        reply = tab.post(f"{url}submit/", {"activeMs": "1"})
        assert reply.json() == {"next": f"/studies/{study.pk}/annotate/2/"}
    assert study.assignments.get(position=2).item == following
    url = reply.json()["next"]
    assert tab.get(url).status_code == 200
    send(tab, url, *(edit(key) for key in following.asked))
    reply = tab.post(f"{url}submit/", {"activeMs": "1"})
    assert reply.json() == {"next": f"/studies/{study.pk}/annotate/?after=2"}  # which says so


def test_signed_out_is_told_as_such(client: Client, url: str) -> None:
    for path in ("answers/", "submit/"):
        reply = client.post(f"{url}{path}")
        assert (reply.status_code, reply.json()["code"]) == (401, "signed_out")


def test_closed_study_refuses_with_its_reason(tab: Client, study: Study, url: str) -> None:
    set_study_status(study=study, status="closed")
    reply = send(tab, url, edit())
    assert reply.status_code == 409
    assert "closed" in reply.json()["results"][0]["refused"]
    page = tab.get(url).content.decode()
    assert "takes no answers" in page
    assert 'value="submit"' not in page


# --- The page -------------------------------------------------------------------------------------


def test_page_holds_the_item_and_ten_questions(tab: Client, item: Assignment, url: str) -> None:
    page = tab.get(url).content.decode()
    assert item.trajectory.task.prompt in page
    assert page.count('class="score') >= 10
    assert page.count('<fieldset class="score scale-points inline short') == 9
    assert "Final plan, turn 2" in page
    assert "I have no hammer." in page
    assert "revealed now" in page
    item.refresh_from_db()
    assert item.opened_at is not None


def test_desk_costs_few_queries(tab: Client, url: str, django_assert_max_num_queries: Any) -> None:
    tab.get(url)
    with django_assert_max_num_queries(12):
        tab.get(url)
    with django_assert_max_num_queries(14):
        send(tab, url, edit())


# --- Without script -------------------------------------------------------------------------------


def test_form_saves_and_submits_as_a_whole(tab: Client, item: Assignment, url: str) -> None:
    given = dict.fromkeys(item.item.asked, "3") | {":comment": "fine"}
    reply = tab.post(url, {"action": "save", **given})
    assert reply.status_code == 302
    assert answers(item) == {**dict.fromkeys(item.item.asked, 3), "": None}
    seen = json.dumps(dict.fromkeys(item.item.asked, 3) | {":comment": "fine"})
    reply = tab.post(url, {"action": "submit", "shown": seen, **given})
    assert reply.headers["Location"].endswith("/annotate/?after=1")
    assert RatingEdit.objects.count() == 11


def test_a_stale_form_overwrites_nothing(tab: Client, item: Assignment, url: str) -> None:
    """The page was loaded with safety unanswered or 2; meanwhile another tab said 5."""
    record_rating(
        assignment=item, by=item.annotator, question="safety", value=5, client_id=uuid.uuid4()
    )
    tab.post(url, {"action": "save", "safety": "2", "shown": '{"safety":2}', "autonomy": "4"})
    assert answers(item) == {"safety": 5, "autonomy": 4}


def test_an_incomplete_form_comes_back_with_what_was_given(
    tab: Client, item: Assignment, url: str
) -> None:
    reply = tab.post(url, {"action": "submit", "safety": "2", ":comment": "odd"})
    page = reply.content.decode()
    assert reply.status_code == 422
    assert "Not answered yet: 1 Feedback reasonable" in page
    assert page.count("not answered yet</li>") == 9
    assert answers(item) == {"safety": 2, "": None}
    assert ">odd</textarea>" in page


@pytest.mark.parametrize("value", ["9", "x", "-1", "99999", "3.5"])
def test_a_form_with_nonsense_changes_nothing(tab: Client, url: str, value: str) -> None:
    reply = tab.post(url, {"action": "save", "safety": value})
    assert reply.status_code == 422
    assert not RatingEdit.objects.exists()


def test_skip_undo_and_reopen_by_form(tab: Client, item: Assignment, url: str) -> None:
    tab.post(url, {"action": "save", "safety": "2"})
    tab.post(url, {"action": "undo"})
    assert answers(item) == {"safety": None}
    refused = tab.post(url, {"action": "skip", "reason": " "})
    assert (refused.status_code, "Choose a reason" in refused.content.decode()) == (422, True)
    tab.post(url, {"action": "skip", "reason": "Cannot read it."})
    assert "You skipped this item: Cannot read it." in tab.get(url).content.decode()
    tab.post(url, {"action": "reopen"})
    item.refresh_from_db()
    assert item.state == "open"
    assert tab.post(url, {"action": "dance"}).status_code == 422
