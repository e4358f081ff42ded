"""The record: answers and events as one list, narrowed, page by page, and as files."""

import csv
import io
import json
import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.audit_log.events import record_event
from annotation.audit_log.selectors import (
    COLUMNS,
    RecordEntry,
    RecordSelection,
    record_entries,
    record_groups,
    record_page,
)
from annotation.desk.services import skip_assignment
from annotation.models import Aspect, Membership, Study, StudyEvent
from annotation.people.services import unblind_annotator
from annotation.people.withdrawal import restore_annotator, withdraw_annotator
from annotation.ratings.services import EditRequest, record_rating, undo_edit
from tests.annotation.judged import make_judged, say

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def study(ann: User, bob: User, manager: User) -> Study:
    """Ann answers, corrects, undoes and submits; bob skips."""
    study = make_judged([ann, bob], manager)
    assignment = study.assignments.get(annotator=ann, position=1)
    for value in (2, 5):
        record_rating(
            assignment=assignment, by=ann, question="safety", value=value, client_id=uuid.uuid4()
        )
    undo_edit(assignment=assignment, by=ann, client_id=uuid.uuid4())
    say(study, ann, 1, {"safety": 4}, remarks=[
        EditRequest(uuid.uuid4(), "safety", text="=cmd", aspect=Aspect.COMMENT)
    ])  # fmt: skip
    skip_assignment(
        assignment=study.assignments.get(annotator=bob, position=2), by=bob, reason="Unreadable."
    )
    return study


def everything(study: Study | None, asked: RecordSelection | None = None) -> list[RecordEntry]:
    return list(record_entries(study, asked or RecordSelection()))


def pages(study: Study, asked: RecordSelection, size: int) -> list[RecordEntry]:
    found: list[RecordEntry] = []
    after = ""
    while True:
        page = record_page(study, asked, after=after, size=size)
        assert len(page.entries) <= size
        found += page.entries
        after = page.next
        if not after:
            return found


def test_before_and_after_of_an_answer(study: Study) -> None:
    safety = [e for e in everything(study) if e.place == "safety"]
    assert [(e.before, e.after, e.detail) for e in safety] == [
        (None, 2, {}), (2, 5, {}), (5, 2, {"undo": True}), (2, 4, {}),
    ]  # fmt: skip
    assert {(e.by, e.about, e.number, e.position) for e in safety} == {("ann", "ann", 1, 1)}


def test_one_list_newest_first_whatever_the_page(study: Study) -> None:
    whole = everything(study)
    assert {"answer", "created", "role", "assigned", "submitted", "skipped"} <= {
        e.kind for e in whole
    }
    ids = {e.id for e in whole}
    assert len(ids) == len(whole) > 20
    for size in (1, 7, 100):
        found = pages(study, RecordSelection(), size)
        assert {e.id for e in found} == ids and len(found) == len(whole)
        assert [e.at for e in found] == sorted((e.at for e in whole), reverse=True)


def test_filters(study: Study, ann: User, bob: User) -> None:
    def kinds(**asked: object) -> set[str]:
        return {e.kind for e in everything(study, RecordSelection(**asked))}  # type: ignore[arg-type]

    assert kinds(kind="answer") == {"answer"}
    assert kinds(kind="skipped") == {"skipped"}
    assert kinds(who=bob.pk) == {"role", "assigned", "skipped"}
    assert kinds(words="unread") == {"skipped"}
    assert kinds(words="=cmd") == {"answer"}
    assert kinds(item=2) == {"skipped"}
    now = timezone.now()
    assert kinds(since=now + timedelta(minutes=1)) == set()
    assert kinds(until=now - timedelta(days=1)) == set()
    assert kinds(since=now - timedelta(days=1), until=now) == kinds()
    own = RecordSelection(reader=ann, blind_in=frozenset({study.pk}))
    assert {e.about for e in everything(study, own) if e.kind == "answer"} == {"ann"}


def test_every_change_is_told(study: Study, ann: User, manager: User) -> None:
    unblind_annotator(study=study, user=ann, by=manager, reason="Saw a name.")
    withdraw_annotator(study=study, user=ann, by=manager, reason="Moved away.")
    restore_annotator(study=study, user=ann, by=manager, reason="Came back.")
    told = [(e.title, e.before, e.after, e.reason) for e in everything(study) if e.reason]
    assert told[-4:] == [
        ("Blinding lifted", "blind", "unblinded", "Saw a name."),
        ("Item returned to the pool", None, None, "the annotator left the study"),
        ("Annotator withdrawn", "active", "withdrawn", "Moved away."),
        ("Annotator readmitted", "withdrawn", "active", "Came back."),
    ]


# --- Pages and files ------------------------------------------------------------------------------


def test_page(
    study: Study, manager: User, client: Client,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:  # fmt: skip
    client.force_login(manager)
    address = reverse("annotation:study_record", args=[study.pk])
    with django_assert_max_num_queries(12):
        page = client.get(address).content.decode()
    assert "Unreadable." in page and "Answer changed" in page and "Undo: True" in page
    page = client.get(f"{address}?kind=skipped&who=x&since=nonsense").content.decode()
    assert "Answer changed</td>" not in page and "Unreadable." in page
    assert "Nothing was found" in client.get(f"{address}?words=zebra").content.decode()
    assert client.get(f"{address}?after=nonsense").status_code == 200


def test_files(study: Study, manager: User, client: Client) -> None:
    client.force_login(manager)

    def fetch(ending: str, query: str = "") -> str:
        address = reverse("annotation:study_record_file", args=[study.pk, ending])
        answer = client.get(address + query)
        assert answer.status_code == 200 and "attachment" in answer["Content-Disposition"]
        return answer.getvalue().decode()

    rows = list(csv.DictReader(io.StringIO(fetch("csv"))))
    lines = [json.loads(line) for line in fetch("jsonl").splitlines()]
    whole = everything(study)
    assert [row["id"] for row in rows] == [line["id"] for line in lines] == [e.id for e in whole]
    assert tuple(rows[0]) == tuple(lines[0]) == COLUMNS
    # What a spreadsheet would run comes as text; programs get it as it is.
    assert [row["after"] for row in rows if "cmd" in row["after"]] == ["'=cmd"]
    assert [line["after"] for line in lines if line["after"] == "=cmd"] == ["=cmd"]
    assert len(fetch("csv", "?kind=skipped").splitlines()) == 2
    assert (
        client.get(reverse("annotation:study_record_file", args=[study.pk, "xls"])).status_code
        == 404
    )


def test_who_annotates_blind_sees_their_own_part(study: Study, ann: User, client: Client) -> None:
    Membership.objects.create(study=study, user=ann, role="manager")
    client.force_login(ann)
    page = client.get(reverse("annotation:study_record", args=[study.pk])).content.decode()
    assert "Unreadable." not in page and "your own part" in page
    address = reverse("annotation:study_record_file", args=[study.pk, "jsonl"])
    lines = [json.loads(line) for line in client.get(address).getvalue().decode().splitlines()]
    assert lines and all("ann" in (line["by"], line["about"]) for line in lines)


def test_all_studies_are_for_administrators(
    study: Study, manager: User, admin_client: Client, client: Client
) -> None:
    other = Study.objects.create(name="Another", questionnaire=study.questionnaire)
    record_event(study=other, kind=StudyEvent.Kind.CREATED, by=manager)
    client.force_login(manager)
    assert client.get(reverse("annotation:all_records")).status_code == 403
    assert client.get(reverse("annotation:all_records_file", args=["csv"])).status_code == 403
    page = admin_client.get(reverse("annotation:all_records")).content.decode()
    assert "Another" in page and "Judged" in page
    assert {e.study for e in everything(None)} == {study.pk, other.pk}
    assert StudyEvent.objects.filter(study=other).exists()
    record = reverse("annotation:all_records")
    erase = reverse("annotation:erase")
    annotator = reverse("annotation:annotator", args=[study.pk, 1])
    for address, found in {"/studies/": record, annotator: f"{erase}?user=ann"}.items():
        assert f'href="{found}"' in admin_client.get(address).content.decode()
        assert found not in client.get(address).content.decode()
    assert admin_client.get("/admin/annotation/annotator/add/").status_code == 403


def test_the_record_is_grouped_by_person_and_by_item(study: Study, manager: User) -> None:
    boss, at = Client(), reverse("annotation:study_record", args=[study.pk])
    boss.force_login(manager)
    people, count = record_groups(study, RecordSelection(), "person")
    entries = everything(study)
    assert count == len(people) and people[0].title == "2 bob"
    assert sum(g.answers for g in people) == sum(e.kind == "answer" for e in entries)
    assert sum(g.events for g in people) == sum(e.kind != "answer" for e in entries)
    items, _ = record_groups(study, RecordSelection(), "item")
    first = next(group for group in items if group.answers)
    narrowed = everything(study, RecordSelection(rank=first.key))
    assert len(narrowed) == first.answers + first.events
    page = boss.get(at, {"group": "item", "kind": "answer"}).content.decode()
    assert f"?kind=answer&amp;rank={first.key}" in page and "Other actions" in page
    assert boss.get(at, {"rank": str(2**80), "group": "person"}).status_code == 200
