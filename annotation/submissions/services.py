"""Send a submission back, void it, restore it, and free the assignments of somebody who left.

Nothing that a person answered is changed: a submission changes its state, and the record says who
did it and why.
"""

from collections.abc import Callable, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F

from annotation.annotator_quality.services import count_known_answers
from annotation.assignments.services import (
    change_assignment_state,
    lock_assignment,
    lock_participant,
    lock_study,
)
from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import Assignment, Item, Message, Participant, Study, StudyEvent
from annotation.training.services import tells_expected

State, Part, Kind = Assignment.State, Assignment.Part, StudyEvent.Kind


def send_back(*, assignment: Assignment, by: User, note: str) -> None:
    """Give a submission back to its annotator with a note; they keep the assignment and submit
    it again.

    The note is shown on the desk while the item is open, and sent as a message.
    """
    note = checked_reason(note, why="this comes back: the annotator reads it")

    def change(item: Assignment, participant: Participant) -> None:
        if item.study.status not in Study.WORKING:
            raise Refused("conflict", "the study takes no answers; open it first")
        if item.state != State.SUBMITTED:
            raise Refused("conflict", f"item {item.position} is not submitted; it is {item.state}")
        if tells_expected(item):
            words = "its annotator has seen the expected answers, so it cannot be answered again"
            raise Refused("conflict", words)
        item.note = note
        item.save(update_fields=["note"])
        change_assignment_state(item, State.OPEN, by=by, reason=note, kind=Kind.SENT_BACK)
        text = f"Item {item.position} came back to you: {note}"
        Message.objects.create(study=item.study, to_id=item.annotator_id, text=text, by=by)

    _change(assignment, change)


def void_submission(*, assignment: Assignment, by: User, reason: str) -> None:
    """Let a submission count no more and free its assignment for somebody else; its answers are
    kept.
    """
    reason = checked_reason(reason, why="this submission is voided")
    _change_state(assignment, State.SUBMITTED, State.VOIDED, by, reason)


def void_submissions(*, assignments: Sequence[Assignment], by: User, reason: str) -> int:
    """Void several submissions of one annotator, all or none; returns how many."""
    reason = checked_reason(reason, why="these submissions are voided")
    if not assignments:
        raise Refused("invalid", "select the items to void")
    with transaction.atomic():
        for assignment in assignments:
            _change_state(assignment, State.SUBMITTED, State.VOIDED, by, reason)
    return len(assignments)


def restore_submission(*, assignment: Assignment, by: User, reason: str) -> None:
    """Let a voided submission count again, unless somebody else has taken its assignment
    meanwhile.
    """
    reason = checked_reason(reason, why="this submission counts again")
    _change_state(assignment, State.VOIDED, State.SUBMITTED, by, reason)


def _change_state(assignment: Assignment, old: str, new: str, by: User, reason: str) -> None:
    def change(item: Assignment, participant: Participant) -> None:
        if item.state == new:
            return
        if item.state != old:
            raise Refused("conflict", f"item {item.position} is not {old}; it is {item.state}")
        change_assignment_state(item, new, by=by, reason=reason, kind=Kind.VOIDED)

    _change(assignment, change)


def _change(assignment: Assignment, change: Callable[[Assignment, Participant], None]) -> None:
    """Make a change to the assignment as it is now: first the person is locked, then the item."""
    if assignment.part != Part.MAIN:
        raise Refused("invalid", "training and background questions stay as they are")
    with transaction.atomic():
        participant = lock_participant(study=assignment.study_id, user=assignment.annotator)
        if participant.state in Participant.GONE:
            raise Refused("conflict", "this person has left the study; their answers do not count")
        item = lock_assignment(assignment)
        change(item, participant)
        if item.item.use == Item.Use.GOLD:
            right, asked = count_known_answers(item.study, participant)
            Participant.objects.filter(pk=participant.pk).update(gold_right=right, gold_asked=asked)


# --- Assignments of those who left ----------------------------------------------------------------


def submitted_items(study: Study, user: User) -> list[int]:
    """Return the ids of the items that somebody submitted and others could judge instead."""
    rows = Assignment.objects.filter(
        study=study, annotator=user, part=Part.MAIN, state=State.SUBMITTED,
        item__use=Item.Use.MAIN,
    )  # fmt: skip
    return sorted(rows.order_by().values_list("item", flat=True))


def refill_assignments(*, study: Study, user: User, by: User | None, reason: str = "") -> int:
    """Open an assignment for somebody else at each item that a person who left has submitted.

    Returns how many; doing it again opens none. Their own submissions stay as they are, outside
    analyses, so each of these items wants one annotator more.
    """
    with transaction.atomic():
        lock_study(study)
        person = lock_participant(study=study, user=user)
        if person.state not in Participant.GONE:
            raise Refused("conflict", "this person has not left the study")
        items = submitted_items(study, user)
        if person.refilled or not items:
            return 0
        for pk in items:
            Item.objects.filter(pk=pk).update(wanted=F("wanted") + 1)
        Participant.objects.filter(pk=person.pk).update(refilled=len(items))
        record_event(
            study=study, kind=Kind.CHANGED, by=by, about=user, reason=reason,
            detail={"refilled": len(items)},
        )  # fmt: skip
    return len(items)


def withdraw_refill(*, study: Study, user: User, by: User | None) -> int:
    """Close those refilled assignments that nobody has taken, because the person comes back.

    Called with the study and the participant locked; returns how many were closed.
    """
    person = lock_participant(study=study, user=user)
    if not person.refilled:
        return 0
    closed = 0
    for pk in submitted_items(study, user):
        free = Item.objects.filter(pk=pk, given__lt=F("wanted"), wanted__gt=1)
        closed += free.update(wanted=F("wanted") - 1)
    Participant.objects.filter(pk=person.pk).update(refilled=0)
    record_event(study=study, kind=Kind.CHANGED, by=by, about=user, detail={"refilled": -closed})
    return closed
