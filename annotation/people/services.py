"""Pause, resume and unblind annotators, and return or reassign their items."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.annotator_quality.services import forget_known_answers
from annotation.assignments.bulk_changes import return_assignments
from annotation.assignments.services import (
    assign_item,
    change_assignment_state,
    lock_participant,
    lock_study,
)
from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import Assignment, Participant, Study, StudyEvent

State, Standing, Kind = Assignment.State, Participant.State, StudyEvent.Kind


def pause_annotator(*, study: Study, user: User, by: User, reason: str) -> None:
    """Let somebody answer nothing for a while; what they have answered and hold stays theirs."""
    _change_standing(study, user, Standing.ACTIVE, Standing.PAUSED, by, reason)


def resume_annotator(*, study: Study, user: User, by: User, reason: str = "") -> None:
    """Let somebody go on who was paused."""
    _change_standing(study, user, Standing.PAUSED, Standing.ACTIVE, by, reason)


def _change_standing(
    study: Study,
    user: User,
    before: Participant.State,
    after: Participant.State,
    by: User,
    reason: str,
) -> None:
    pausing = after == Standing.PAUSED
    reason = checked_reason(reason, why="this annotator is paused" if pausing else "")
    with transaction.atomic():
        person = lock_participant(study=study, user=user)
        if person.state == after:
            return
        if person.state != before:
            word = person.get_state_display().lower()
            raise Refused("conflict", f"this person is {word} and takes no part any more")
        Participant.objects.filter(pk=person.pk).update(state=after)
        if not pausing:
            forget_known_answers(person)
        record_event(
            study=study, kind=Kind.PAUSED, by=by, about=user, reason=reason,
            detail={"before": before, "after": after},
        )  # fmt: skip


def return_open_items(*, study: Study, user: User, by: User, reason: str) -> int:
    """Take back everything that somebody has open and counts, and pause them; returns how many.

    None of it comes back to them unless a manager gives it to them. Training and background
    questions stay: nobody else can do them.
    """
    reason = checked_reason(reason, why="these items are returned")
    with transaction.atomic():
        lock_study(study)
        person = lock_participant(study=study, user=user)
        mine = Assignment.objects.filter(study=study, annotator=user, part=Assignment.Part.MAIN)
        count = return_assignments(study=study, assignments=mine, by=by, reason=reason)
        if not count:
            raise Refused("conflict", "this person has no open items")
        if person.state == Standing.ACTIVE:
            pause_annotator(study=study, user=user, by=by, reason=reason)
        return count


def reassign_items(
    *, study: Study, assignments: Sequence[Assignment], to: User, by: User, reason: str
) -> int:
    """Give open items to somebody else, all or none; what was answered to them is kept.

    Returns how many.
    """
    reason = checked_reason(reason, why="this goes to somebody else")
    with transaction.atomic():
        lock_study(study)
        people = {to.pk, *(assignment.annotator_id for assignment in assignments)}
        participants = Participant.objects.filter(study=study, user__in=people)
        list(participants.select_for_update(no_key=True).order_by("pk").values_list("pk"))
        rows = Assignment.objects.select_for_update(of=("self",), no_key=True)
        rows = rows.filter(study=study, pk__in=[assignment.pk for assignment in assignments])
        for assignment in rows.select_related("study", "item").order_by("pk"):
            _reassign(assignment, to, by, reason)
    return len(assignments)


def _reassign(assignment: Assignment, to: User, by: User, reason: str) -> None:
    if assignment.annotator_id == to.pk:
        raise Refused("invalid", "this person has the item already")
    if assignment.part != Assignment.Part.MAIN:
        raise Refused("invalid", "this part cannot be reassigned")
    if assignment.state != State.OPEN:
        word = assignment.get_state_display().lower()
        raise Refused(
            "conflict", f"item {assignment.position} is {word} by now; only open ones can move"
        )
    change_assignment_state(assignment, State.RETURNED, by=by, reason=reason, kind=Kind.REASSIGNED)
    try:
        assign_item(study=assignment.study, item=assignment.item, to=to, by=by, reason=reason)
    except Refused as refused:
        raise Refused(refused.code, f"item {assignment.position}: {refused.reason}") from None


def unblind_annotator(*, study: Study, user: User, by: User, reason: str) -> None:
    """Show one annotator who made what; doing it again is harmless, taking it back impossible."""
    reason = checked_reason(reason, why="the blinding is lifted")
    with transaction.atomic():
        lock_study(study)
        person = lock_participant(study=study, user=user)
        if not study.blinded:
            raise Refused("invalid", "this study is not blinded")
        if person.unblinded_at is not None:
            return
        Participant.objects.filter(pk=person.pk).update(unblinded_at=timezone.now())
        record_event(
            study=study, kind=StudyEvent.Kind.UNBLINDED, by=by, about=user, reason=reason,
            detail={"before": "blind", "after": "unblinded"},
        )  # fmt: skip


def unblind_study(*, study: Study, by: User, reason: str) -> None:
    """End the blinding of a whole study, for those who come later too.

    Everybody is unblinded at the same moment; `Study.settings` keeps it for those who join later.
    """
    reason = checked_reason(reason, why="the blinding is lifted")
    with transaction.atomic():
        lock_study(study)
        study.refresh_from_db()
        if not study.blinded:
            raise Refused("invalid", "this study is not blinded")
        now = timezone.now()
        people = study.participants.filter(unblinded_at=None)
        count = people.update(unblinded_at=now)
        study.blinded = False
        study.settings = {**study.settings, "unblinded_at": now.isoformat()}
        study.save(update_fields=["blinded", "settings"])
        record_event(
            study=study, kind=StudyEvent.Kind.UNBLINDED, by=by, reason=reason,
            detail={"before": "blinded", "after": "not blinded", "annotators": count},
        )  # fmt: skip
