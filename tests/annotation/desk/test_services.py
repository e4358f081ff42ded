"""Submitting, skipping, reopening: only what the rules allow, and each with its event."""

import uuid

import pytest
from django.contrib.auth.models import User

from annotation.desk.services import reopen_assignment, skip_assignment, submit_assignment
from annotation.errors import Incomplete, Refused
from annotation.models import Assignment, StudyEvent
from annotation.ratings.services import record_rating
from annotation.studies.services import set_study_status

pytestmark = pytest.mark.django_db


def answer_all(item: Assignment, *, but: tuple[str, ...] = ()) -> None:
    for key in item.item.asked:
        if key not in but:
            record_rating(
                assignment=item, by=item.annotator, question=key, value=4, client_id=uuid.uuid4()
            )


def events(item: Assignment) -> list[str]:
    return list(StudyEvent.objects.filter(assignment=item).values_list("kind", flat=True))


def test_submit_says_what_is_missing(item: Assignment) -> None:
    answer_all(item, but=("safety", "feedback_clear"))
    with pytest.raises(Incomplete) as refused:
        submit_assignment(assignment=item, by=item.annotator)
    assert refused.value.missing == ["feedback_clear", "safety"]
    assert refused.value.reason == "not answered yet: 2 Constraints clear, 8 Safety"
    item.refresh_from_db()
    assert (item.state, events(item)) == ("open", [])


def test_submit_twice_is_one_submission(item: Assignment) -> None:
    answer_all(item)
    submit_assignment(assignment=item, by=item.annotator)
    item.refresh_from_db()
    first = item.submitted_at
    submit_assignment(assignment=item, by=item.annotator)
    item.refresh_from_db()
    assert (item.state, item.submitted_at, events(item)) == ("submitted", first, ["submitted"])


def test_submitted_items_take_no_edits_until_reopened(item: Assignment) -> None:
    answer_all(item)
    submit_assignment(assignment=item, by=item.annotator)
    with pytest.raises(Refused) as refused:
        answer_all(item)
    assert refused.value.code == "not_open"
    reopen_assignment(assignment=item, by=item.annotator)
    answer_all(item)
    submit_assignment(assignment=item, by=item.annotator)
    assert events(item) == ["submitted", "reopened", "submitted"]


def test_skip_needs_a_reason_and_keeps_it(item: Assignment) -> None:
    with pytest.raises(Refused, match="choose a reason"):
        skip_assignment(assignment=item, by=item.annotator, reason="  ")
    skip_assignment(assignment=item, by=item.annotator, reason=" Not in a language I read. ")
    skip_assignment(assignment=item, by=item.annotator, reason="Not in a language I read.")
    item.refresh_from_db()
    assert (item.state, item.skip_reason) == ("skipped", "Not in a language I read.")
    reopen_assignment(assignment=item, by=item.annotator)
    reopen_assignment(assignment=item, by=item.annotator)
    item.refresh_from_db()
    assert (item.state, item.skip_reason) == ("open", "")
    assert events(item) == ["skipped", "reopened"]


def test_a_submitted_item_is_not_skipped(item: Assignment) -> None:
    answer_all(item)
    submit_assignment(assignment=item, by=item.annotator)
    with pytest.raises(Refused, match="reopen it before"):
        skip_assignment(assignment=item, by=item.annotator, reason="No.")


def test_a_closed_study_stays_as_it_is(item: Assignment) -> None:
    answer_all(item)
    set_study_status(study=item.study, status="closed")
    with pytest.raises(Refused, match="closed"):
        submit_assignment(assignment=item, by=item.annotator)
    with pytest.raises(Refused, match="closed"):
        skip_assignment(assignment=item, by=item.annotator, reason="No.")
    set_study_status(study=item.study, status="open")
    submit_assignment(assignment=item, by=item.annotator)
    set_study_status(study=item.study, status="closed")
    with pytest.raises(Refused, match="closed"):
        reopen_assignment(assignment=item, by=item.annotator)
    # Closing gives open items back, opening returns them to whom they were dealt.
    assert events(item)[-1] == "submitted" and set(events(item)[:-1]) <= {"returned", "reopened"}


def test_nobody_else_may(item: Assignment, bob: User, manager: User) -> None:
    answer_all(item)
    for stranger in (bob, manager):
        with pytest.raises(Refused):
            submit_assignment(assignment=item, by=stranger)
        with pytest.raises(Refused):
            skip_assignment(assignment=item, by=stranger, reason="No.")
        with pytest.raises(Refused):
            reopen_assignment(assignment=item, by=stranger)
    assert events(item) == []
