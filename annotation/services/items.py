"""Submitting, skipping and reopening an item."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, AssignmentEvent, Rating, Study
from annotation.questionnaires import load_questionnaire
from annotation.services.errors import Incomplete, Refused

State = Assignment.State


def missing_answers(assignment: Assignment) -> list[str]:
    """Keys of the asked questions that have no answer, in the order in which they are asked."""
    answered = set(
        Rating.objects.filter(assignment=assignment, value__isnull=False).values_list(
            "question", flat=True
        )
    )
    return [key for key in assignment.asked if key not in answered]


def submit_assignment(*, assignment: Assignment, by: User) -> None:
    """Submit a complete item; submitting it again is harmless. Says what is missing otherwise."""

    def submit(item: Assignment) -> None:
        if item.state == State.SUBMITTED:
            return
        missing = missing_answers(item)
        if missing:
            questionnaire = load_questionnaire(item.study.questionnaire)
            titles = [f"{q.number} {q.title}" for q in questionnaire.of_keys(missing)]
            raise Incomplete(missing, titles)
        _move(item, State.SUBMITTED, by)

    _change(assignment, by, submit)


def skip_assignment(*, assignment: Assignment, by: User, reason: str) -> None:
    """Leave an item out, and say why; its answers so far are kept."""
    reason = reason.strip()
    if not reason:
        raise Refused("invalid", "say in a few words why you skip this item")

    def skip(item: Assignment) -> None:
        if item.state == State.SKIPPED and item.skip_reason == reason:
            return
        if item.state == State.SUBMITTED:
            raise Refused("not_open", "this item is submitted; reopen it before you skip it")
        _move(item, State.SKIPPED, by, reason[:1000])

    _change(assignment, by, skip)


def reopen_assignment(*, assignment: Assignment, by: User) -> None:
    """Take an item up again, as long as the study is open."""

    def reopen(item: Assignment) -> None:
        if item.state != State.OPEN:
            _move(item, State.OPEN, by)

    _change(assignment, by, reopen)


def _change(assignment: Assignment, by: User, change: Callable[[Assignment], None]) -> None:
    """Make a change to the item as it is now, under a lock."""
    if assignment.annotator_id != by.pk:
        raise Refused("not_yours", "this item is assigned to somebody else")
    with transaction.atomic():
        fresh = Assignment.objects.select_for_update(of=("self",)).select_related("study")
        change(fresh.get(pk=assignment.pk))


def _move(item: Assignment, state: str, by: User, reason: str = "") -> None:
    if item.study.status != Study.Status.OPEN:
        raise Refused("closed", "the study is closed; its items stay as they are")
    kinds = {
        State.SUBMITTED: AssignmentEvent.Kind.SUBMITTED,
        State.SKIPPED: AssignmentEvent.Kind.SKIPPED,
        State.OPEN: AssignmentEvent.Kind.REOPENED,
    }
    item.state, item.skip_reason = state, reason
    item.submitted_at = timezone.now() if state == State.SUBMITTED else None
    item.save(update_fields=["state", "skip_reason", "submitted_at"])
    AssignmentEvent.objects.create(assignment=item, kind=kinds[State(state)], reason=reason, by=by)
