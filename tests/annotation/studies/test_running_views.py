"""The pages of those who run a study: progress, people, items, messages, settings, lists."""

import csv
import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.desk.services import skip_assignment
from annotation.items.selectors import SIZE
from annotation.messages.services import send_message
from annotation.models import (
    Aspect,
    Assignment,
    Invite,
    Item,
    Membership,
    MessageRead,
    Participant,
    Study,
    StudyEvent,
)  # fmt: skip
from annotation.ratings.services import record_rating
from annotation.studies.progress import study_progress
from annotation.studies.selectors import study_rows
from annotation.studies.setup import add_member
from benchmarks.models import Trajectory
from tests.annotation.rows import SECRETS, make_person
from tests.annotation.studies.test_views import browser_of, text_of

pytestmark = pytest.mark.django_db
State = Assignment.State


@pytest.fixture
def client(manager: User) -> Client:
    return browser_of(manager)


@pytest.fixture
def url(study: Study) -> str:
    return f"/studies/{study.pk}/"


def said(client: Client, path: str, data: dict[str, Any], status: int = 200) -> str:
    """Return what the page says after a form was sent."""
    answer = client.post(path, data, follow=True)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return answer.content.decode()


def csv_of(client: Client, path: str) -> list[dict[str, str]]:
    text = b"".join(client.get(path).streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.DictReader(text.splitlines()))


def lay_items(study: Study, count: int) -> None:
    """Add so many items of one trajectory's kind, each with an assignment of nobody."""
    some = Trajectory.objects.order_by("pk")[0]
    made = Trajectory.objects.bulk_create(
        Trajectory(
            run=some.run, task=some.task, profile=some.profile, status="done", attempt=100 + n
        )
        for n in range(count)
    )
    last = study.items.count()
    Item.objects.bulk_create(
        Item(study=study, trajectory=row, task=some.task, rank=last + n, asked=["safety"])
        for n, row in enumerate(made, 1)
    )


# --- Progress -------------------------------------------------------------------------------------


def test_progress_is_sent_when_something_changed_and_ends_with_the_study(
    client: Client, url: str, study: Study, item: Assignment, ann: User
) -> None:
    page = text_of(client, url)
    ask = page.partition('id="study-progress" hx-get="')[2].partition('"')[0]
    assert client.get(ask).status_code == 204
    skip_assignment(assignment=item, by=ann, reason="No.")
    fresh = client.get(ask)
    assert fresh.status_code == 200
    assert "show reasons" in fresh.content.decode()
    Study.objects.update(status="closed")
    over = client.get(ask)
    assert (over.status_code, over.headers["HX-Refresh"]) == (286, "true")
    assert "hx-get" not in text_of(client, url).partition('id="study-progress"')[2][:200]


def test_progress_tells_what_to_look_at(client: Client, url: str, study: Study) -> None:
    add_member(study=study, user=make_person("idle"), role="annotator")
    Study.objects.update(trains=True)
    study.participants.filter(number=1).update(training="failed")
    page = text_of(client, url)
    assert "waits for you" in page
    assert "Has no items yet" in page


def test_pages_cost_the_same_for_many_items(
    client: Client, url: str, study: Study, django_assert_max_num_queries: Any
) -> None:
    lay_items(study, 3 * SIZE)
    client.get(url)
    budgets = {
        url: 14, f"{url}items/": 19, f"{url}items/?after=20": 19, f"{url}items/?show=skipped": 19,
        f"{url}people/": 18, f"{url}people/1/": 14, f"{url}items/5/": 15, f"{url}messages/": 12,
        f"{url}settings/": 9, f"{url}progress/?v=none": 12, "/studies/": 12,
    }  # fmt: skip
    for path, most in budgets.items():
        with django_assert_max_num_queries(most):
            assert client.get(path).status_code == 200, path
    mark = text_of(client, url).partition("?v=")[2].partition('"')[0]
    with django_assert_max_num_queries(6):
        assert client.get(f"{url}progress/?v={mark}").status_code == 204


# --- People ---------------------------------------------------------------------------------------


def test_people_are_added_by_name_or_refused_in_words(client: Client, url: str) -> None:
    make_person("cid")
    assert "cid is an annotator now" in said(
        client, f"{url}people/", {"names": "cid, ann", "role": "annotator"}
    )
    assert "No account with this name: nobody" in said(
        client, f"{url}people/", {"names": "nobody", "role": "annotator"}, 422
    )
    assert Participant.objects.get(user__username="cid").number == 3


def test_roles_are_taken_but_one_manager_stays(client: Client, url: str, study: Study) -> None:
    Membership.objects.create(study=study, user=make_person("olga"), role="observer")
    gone = {"user": "olga", "role": "observer"}
    assert "olga is observer no more" in said(client, f"{url}people/remove/", gone)
    last = {"user": "mia", "role": "manager"}
    assert "keeps at least one manager" in said(client, f"{url}people/remove/", last)
    assert (
        client.post(f"{url}people/remove/", {"user": "ann", "role": "annotator"}).status_code == 404
    )


def test_items_to_move_that_are_no_numbers(client: Client, url: str) -> None:
    for odd in ("9" * 5000, "²", "-1"):
        given = {"action": "reassign", "items": ["1", odd], "to": "2", "reason": "ill"}
        answer = client.post(f"{url}people/1/change/", given)
        assert answer.status_code == 422
        assert answer.context["reassign"].chosen >= {1}


@pytest.mark.engines
def test_a_name_with_nul_is_nobodys(client: Client, url: str) -> None:
    """PostgreSQL raises an error where it is asked for such a text."""
    for given in ({"user": "a\x00b", "role": "observer"}, {"user": "mia", "role": "\x00"}):
        assert client.post(f"{url}people/remove/", given).status_code == 404


def test_a_link_is_shown_once_and_can_be_revoked(client: Client, url: str) -> None:
    page = said(client, f"{url}invites/", {"role": "annotator", "label": "Eva", "days": "3"})
    link = page.partition('id="invite-link">')[2].partition("<")[0]
    assert link.startswith("http://testserver/")
    assert link not in text_of(client, f"{url}people/")
    invite = Invite.objects.get()
    assert "revoked" in said(client, f"{url}invites/{invite.pk}/revoke/", {})
    assert client.post(f"/studies/0/invites/{invite.pk}/revoke/").status_code == 404
    assert "less than or equal to 90" in said(
        client, f"{url}invites/", {"role": "annotator", "days": "900"}, 422
    )


def test_an_annotator_is_paused_resumed_and_written_to(
    client: Client, url: str, study: Study, ann: User
) -> None:
    change = f"{url}people/1/change/"
    assert "say in a few words why" in said(client, change, {"action": "pause"})
    assert "ann is paused" in said(client, change, {"action": "pause", "reason": "too fast"})
    assert "ann can go on" in said(client, change, {"action": "resume"})
    assert "is sent" in said(client, change, {"action": "message", "text": "Slower, please."})
    assert study.messages.get().to == ann
    assert "does not say what to do" in said(client, change, {"action": "?"})


def test_items_move_from_one_page(client: Client, url: str, study: Study, bob: User) -> None:
    change = f"{url}people/1/change/"
    assert "Choose at least one item" in said(
        client, change, {"action": "reassign", "to": "2", "reason": "ill"}, 422
    )
    given = {"action": "reassign", "items": ["1"], "to": "2", "reason": "ill"}
    assert "1 item went to bob" in said(client, change, given)
    assert study.assignments.filter(annotator=bob, state=State.OPEN).count() == 3
    assert "1 item came back, and ann is paused" in said(
        client, change, {"action": "return", "reason": "ill"}
    )


# --- Items ----------------------------------------------------------------------------------------


def test_items_go_page_by_page_with_reasons_and_flags(
    client: Client, url: str, study: Study, item: Assignment, ann: User
) -> None:
    lay_items(study, SIZE)
    record_rating(
        assignment=item, by=ann, client_id=uuid.uuid4(), aspect=Aspect.FLAG, value=1, text="Odd."
    )
    skip_assignment(assignment=item, by=ann, reason="The plan is empty.")
    first = text_of(client, f"{url}items/")
    assert "?after=50" in first
    assert SECRETS[1] in first
    second = text_of(client, f"{url}items/?after=50")
    assert len(re.findall(r'id="item-\d', second)) == 4
    assert "?before=51" in second
    skips = text_of(client, f"{url}items/?show=skipped")
    assert len(re.findall(r'id="item-\d', skips)) == 1
    assert "The plan is empty." in skips
    assert client.get(f"{url}items/?item=3").headers["Location"] == f"{url}items/3/"
    assert "There is no item 999" in text_of(client, f"{url}items/?item=999")


def test_items_and_people_are_files_and_lose_columns(
    client: Client, url: str, study: Study
) -> None:
    lay_items(study, SIZE + 5)
    rows = csv_of(client, f"{url}items/?format=csv")
    assert [int(row["item"]) for row in rows] == sorted(
        study.items.exclude(rank=0).values_list("rank", flat=True)
    )
    assert {"about", "annotators", "assigned", "submitted", "skipped", "agent", "flags"} <= set(
        rows[0]
    )
    assert csv_of(client, f"{url}items/?show=skipped&format=csv") == []
    people = csv_of(client, f"{url}people/?format=csv")
    assert [row["annotator"] for row in people] == [
        one.username for one in study_progress(study, blind=None).people
    ]
    for name, page, key in (("items", "items/", "assigned"), ("annotators", "people/", "stage")):
        title = f">{key.title()}</th>"
        assert title in text_of(client, f"{url}{page}")
        form = {"offered": [key], "next": f"{url}{page}"}
        assert client.post(f"/lists/{name}/columns/", form).status_code == 302
        head, body = text_of(client, f"{url}{page}").split("<thead>")[1].split("</thead>")[:2]
        assert title not in f"<thead>{head}"
        cells = body.split("</tr>")[0]
        assert head.count("<th ") == cells.count("<td") + cells.count("<th ")


def test_an_item_is_given_and_gets_more_annotators(
    client: Client, url: str, study: Study, item: Assignment, bob: User
) -> None:
    rank = item.item.rank
    change = f"{url}items/{rank}/change/"
    assert "shall have 2 annotators" in said(client, change, {"action": "raters", "raters": "2"})
    given = {"action": "give", "to": "2", "reason": "a second view"}
    assert f"Item {rank} is bob’s now" in said(client, change, given)
    event = study.events.filter(kind=StudyEvent.Kind.ASSIGNED).latest("pk")
    assert (event.about, event.reason) == (bob, "a second view")
    assert "has this item already" in said(client, change, given)
    assert "2 annotators hold this item" in said(client, change, {"raters": "1"})


def test_more_to_judge_is_added_and_given_out(client: Client, url: str) -> None:
    more = f"{url}items/more/"
    assert "2 items were added" in said(client, more, {"action": "add", "raters": "1", "tasks": ""})
    assert "already in the study" in said(client, more, {"action": "add", "raters": "1"}, 422)
    assert "2 places were assigned" in said(client, more, {"action": "deal", "people": ["1", "2"]})
    assert "6 items were changed" in said(client, more, {"action": "raters", "raters": "2"})


def test_a_manager_who_annotates_blind_sees_no_list_and_no_agent(
    url: str, study: Study, ann: User, bob: User
) -> None:
    Membership.objects.create(study=study, user=ann, role="manager")
    theirs = study.assignments.filter(annotator=bob)[0]
    skip_assignment(assignment=theirs, by=bob, reason="It is by zebra-7b, I think.")
    client = browser_of(ann)
    assert client.get(f"{url}items/{theirs.item_id}/").status_code == 404
    for path in ("", "items/", "items/?show=skipped", "items/list/?show=skipped", "items/more/",
                 "people/", "people/1/", "people/2/", "settings/", "progress/"):  # fmt: skip
        page = client.get(url + path).content.decode().lower()
        assert not [secret for secret in SECRETS if secret.lower() in page], path
    assert "cannot see the item list yet" in text_of(client, f"{url}items/")
    assert "/items/1/" not in text_of(client, f"{url}people/1/")
    assert client.get(f"{url}items/?format=csv")["Content-Type"].startswith("text/html")


# --- Messages, settings, lists --------------------------------------------------------------------


def test_messages_tell_who_has_read_them(
    client: Client, url: str, study: Study, ann: User, manager: User
) -> None:
    assert "to all annotators is sent" in said(
        client, f"{url}messages/", {"to": "", "text": "Thank you."}
    )
    one = send_message(study=study, text="Slower, please.", by=manager, to=ann)
    MessageRead.objects.create(message=one, user=ann)
    page = text_of(client, f"{url}messages/")
    assert "Read by them." in page
    assert "Read by 0 of 2" in page
    assert "required" in said(client, f"{url}messages/", {"to": "", "text": ""}, 422)


def test_settings_are_stored_or_refused_beside_the_field(
    client: Client, url: str, study: Study
) -> None:
    form = {
        "name": "Better name", "closes_at": "", "idle_seconds": "90", "break_minutes": "45",
        "gold_answers": "10", "gold_percent": "60", "least_seconds": "10", "adjudicate_from": "2",
    }  # fmt: skip
    assert "The settings are stored" in said(client, f"{url}settings/", form)
    study.refresh_from_db()
    assert (study.name, study.idle_seconds) == ("Better name", 90)
    assert "Nothing was changed" in said(client, f"{url}settings/", form)
    study.refresh_from_db()
    assert not study.settings.get("erasure")
    before = study.settings
    said(client, f"{url}settings/", {**form, "erasure": "scores"})
    study.refresh_from_db()
    assert study.settings == {**before, "erasure": "scores"}
    change = study.events.latest("pk")
    assert change.detail == {"erasure": {"before": "words", "after": "scores"}}
    assert "Select a valid choice" in said(
        client, f"{url}settings/", {**form, "erasure": "everything"}, 422
    )
    pausing = {**form, "erasure": "scores", "gold_action": "pause", "gold_answers": "4"}
    said(client, f"{url}settings/", pausing)
    study.refresh_from_db()
    assert study.settings["gold_rule"] == {"action": "pause", "answers": 4, "share": 0.6}
    assert "Select a valid choice" in said(
        client, f"{url}settings/", {**pausing, "gold_action": "train"}, 422
    )
    past = {**form, "closes_at": "2020-01-01T00:00"}
    assert "must lie in the future" in said(client, f"{url}settings/", past, 422)


def test_closing_tells_before_and_after_how_many_items_are_returned(
    client: Client, url: str, study: Study
) -> None:
    assert "4 open items are returned" in text_of(client, f"{url}settings/")
    page = said(client, f"{url}status/", {"status": "closed", "back": "study_settings"})
    assert "The study is closed. 4 open items were returned." in page
    assert "4 items went back to whom they were taken from" in said(
        client, f"{url}status/", {"status": "open"}
    )
    assert "is not closed. Close it first." in said(client, f"{url}delete/", {})


def test_the_list_counts_as_the_study_itself_does(
    study: Study, item: Assignment, ann: User, manager: User
) -> None:
    wanted = study_progress(study).wanted
    skip_assignment(assignment=item, by=ann, reason="No.")
    row = study_rows(manager, [study])[0].everybody
    whole = study_progress(study)
    assert row is not None
    assert (row.submitted, row.total, row.skipped) == (whole.submitted, whole.wanted, 0)
    assert whole.wanted == wanted


def test_archived_studies_and_drafts_have_lists_of_their_own(
    client: Client, study: Study, manager: User
) -> None:
    assert "Pilot" in text_of(client, "/studies/")
    Study.objects.update(status="archived")
    assert "Pilot" not in text_of(client, "/studies/")
    assert "Pilot" in text_of(client, "/studies/?show=archived")
    assert "No studies in this list" in text_of(client, "/studies/?show=drafts")
    other = browser_of(make_person("root", superuser=True))
    assert "Pilot" in text_of(other, "/studies/?show=archived")
    assert "Pilot" not in text_of(other, "/studies/?show=mine")
    Study.objects.update(status="draft")
    assert "is deleted" in said(client, f"/studies/{study.pk}/delete/", {})


def test_striking_work_is_acted_on_with_one_click(client: Client, url: str, study: Study) -> None:
    study.participants.filter(number=1).update(gold_right=1, gold_asked=10)
    page = client.get(url).content.decode()
    assert "1 of 10 known answers right; 60 % are asked for" in page
    assert "Send back to the training" not in page
    reason = "1 of 10 known answers right; 60 % are asked for"
    page = said(
        client, f"{url}people/1/change/", {"action": "pause", "reason": reason, "back": "study"}
    )
    assert "Resume ann" in page
    page = said(client, f"{url}people/1/change/", {"action": "resume", "reason": ""})
    assert "known answers" not in page
    said(client, f"{url}people/1/change/", {"action": "warn", "reason": reason})
    assert study.events.filter(kind="quality", reason=reason).count() == 1
