"""Submissions that a manager sends back, voids and restores, and assignments that refill."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.desk.services import reopen_assignment, submit_assignment
from annotation.errors import Refused
from annotation.models import Assignment, Item, RatingEdit, Study
from annotation.people.withdrawal import restore_annotator, withdraw_annotator
from annotation.ratings.selectors import human_scores, left_out
from annotation.studies.progress import study_progress
from annotation.submissions.services import (
    refill_assignments,
    restore_submission,
    send_back,
    void_submission,
)
from tests.annotation.judged import make_judged, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged(ann: User, bob: User, manager: User) -> Study:
    """Two items that ann and bob have submitted both."""
    study = make_judged([ann, bob], manager)
    for user in (ann, bob):
        for position in (1, 2):
            say(study, user, position)
    return study


def seat_of(study: Study, user: User) -> Assignment:
    return study.assignments.select_related("annotator").get(annotator=user, position=1)


def assignments(study: Study) -> list[tuple[int, int, int]]:
    return list(study.items.order_by("rank").values_list("wanted", "given", "done"))


def scores(study: Study) -> int:
    return len(list(human_scores(studies=[study.pk])))


def test_a_submission_comes_back_with_a_note_and_is_submitted_again(
    judged: Study, ann: User, manager: User
) -> None:
    assignment, edits, all_scores = seat_of(judged, ann), RatingEdit.objects.count(), scores(judged)
    with pytest.raises(Refused, match="why"):
        send_back(assignment=assignment, by=manager, note=" ")
    send_back(assignment=assignment, by=manager, note="Question 3 is about the last plan.")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.note) == ("open", "Question 3 is about the last plan.")
    assert assignments(judged)[0] == (2, 2, 1)
    assert scores(judged) < all_scores
    assert "Question 3" in ann.study_messages.get().text
    event = judged.events.get(kind="sent_back")
    assert (event.by, event.about, event.reason) == (manager, ann, assignment.note)
    with pytest.raises(Refused, match="not submitted"):
        send_back(assignment=assignment, by=manager, note="Again.")
    submit_assignment(assignment=assignment, by=ann)
    assert scores(judged) == all_scores
    assert RatingEdit.objects.count() == edits


def test_a_voided_submission_frees_its_seat_and_comes_back_only_by_a_manager(
    judged: Study, ann: User, manager: User
) -> None:
    assignment, all_scores = seat_of(judged, ann), scores(judged)
    at, edits = assignment.submitted_at, RatingEdit.objects.count()
    void_submission(assignment=assignment, by=manager, reason="All ones.")
    void_submission(assignment=assignment, by=manager, reason="All ones.")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.submitted_at, RatingEdit.objects.count()) == (
        "voided",
        at,
        edits,
    )
    assert assignments(judged)[0] == (2, 1, 1)
    assert scores(judged) == all_scores * 3 // 4
    assert left_out(judged).words == "1 submission that a manager voided"
    found = study_progress(judged)
    assert (found.submitted, found.open, found.free) == (3, 0, 1)
    for again in (reopen_assignment, submit_assignment):
        with pytest.raises(Refused, match="voided"):
            again(assignment=assignment, by=ann)
    restore_submission(assignment=assignment, by=manager, reason="A mistake.")
    assignment.refresh_from_db()
    assert (assignment.state, assignment.submitted_at, scores(judged)) == (
        "submitted",
        at,
        all_scores,
    )
    assert [e.reason for e in judged.events.filter(kind="voided")] == ["All ones.", "A mistake."]
    void_submission(assignment=assignment, by=manager, reason="After all.")
    Item.objects.filter(pk=assignment.item_id).update(wanted=1)
    with pytest.raises(Refused, match="somebody else"):
        restore_submission(assignment=assignment, by=manager, reason="A mistake.")


def test_a_study_that_is_over_sends_nothing_back(judged: Study, ann: User, manager: User) -> None:
    Study.objects.filter(pk=judged.pk).update(status="closed")
    with pytest.raises(Refused, match="takes no answers"):
        send_back(assignment=seat_of(judged, ann), by=manager, note="Look again.")
    void_submission(assignment=seat_of(judged, ann), by=manager, reason="All ones.")


def test_assignments_of_those_who_leave_refill_once_and_close_when_they_return(
    judged: Study, ann: User, bob: User, manager: User
) -> None:
    withdraw_annotator(study=judged, user=ann, by=manager, reason="Careless.", refill=True)
    assert assignments(judged) == [(3, 2, 2), (3, 2, 2)]
    assert refill_assignments(study=judged, user=ann, by=manager) == 0
    with pytest.raises(Refused, match="has left"):
        void_submission(assignment=seat_of(judged, ann), by=manager, reason="All ones.")
    with pytest.raises(Refused, match="has not left"):
        refill_assignments(study=judged, user=bob, by=manager)
    assert left_out(judged).words == "2 submissions of 1 person who left"
    restore_annotator(study=judged, user=ann, by=manager, reason="A mistake.")
    assert assignments(judged) == [(2, 2, 2), (2, 2, 2)]
    withdraw_annotator(study=judged, user=ann, by=ann)
    assert refill_assignments(study=judged, user=ann, by=manager) == 2


def test_a_manager_reads_sends_back_and_voids_on_a_page(
    client: Client, judged: Study, ann: User, manager: User
) -> None:
    client.force_login(manager)
    url = f"/studies/{judged.pk}/people/1/"
    page = client.get(url).content.decode()
    assert f"{url}items/1/" in page
    page = client.get(f"{url}items/1/").content.decode()
    assert "Send back" in page and "Void the submission" in page
    posted = client.post(f"{url}items/1/", {"action": "void", "reason": "All ones."}, follow=True)
    assert "The assignment is free" in posted.content.decode()
    page = client.get(f"{url}items/1/").content.decode()
    assert "Restore the submission" in page and "All ones." in page
    client.post(f"{url}items/2/", {"action": "back", "reason": "Read turn 2 again."})
    client.force_login(ann)
    desk = client.get(f"/studies/{judged.pk}/annotate/2/").content.decode()
    assert "Read turn 2 again." in desk
    assert (
        "voided this submission" in client.get(f"/studies/{judged.pk}/annotate/1/").content.decode()
    )
    client.force_login(manager)
    page = client.get(f"{url}withdraw/").content.decode()
    assert "the one item" not in page  # nothing of theirs counts now
    assert (
        "Let others judge the 2 items they submitted again"
        in client.get(f"/studies/{judged.pk}/people/2/withdraw/").content.decode()
    )
    client.post(f"/studies/{judged.pk}/people/2/withdraw/", {"reason": "Careless.", "choice": "on"})
    assert judged.participants.get(number=2).refilled == 2
