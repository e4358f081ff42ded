"""Submit, skip and reopen an item."""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db import transaction

from annotation.annotator_quality.services import note_gold
from annotation.annotator_quality.signs import answer_pattern
from annotation.assignments.presence import note_active, questionnaire_of
from annotation.assignments.services import (
    PARTICIPANT_COLUMNS,
    change_assignment_state,
    find_participant,
    lock_assignment,
    refuse_unless_working,
)
from annotation.assignments.stepwise import open_turn, reveal_next, seen_slots
from annotation.errors import Incomplete, Refused, refuse_longer
from annotation.models import Aspect, Assignment, Item, Participant, Rating
from annotation.questionnaires import Slot
from annotation.ratings.checks import decides_all
from annotation.ratings.services import withdraw_answers
from annotation.training.services import judge_training, tells_expected

State, Part = Assignment.State, Assignment.Part
LONGEST_SKIP_REASON = 1000


def slots_of(assignment: Assignment) -> list[Slot]:
    """Return the places for answers of an assignment, in their order."""
    return list(seen_slots(assignment, questionnaire_of(assignment), assignment.rotation))


# What was answered at the places of an item: question and subject → the number, None of others.
Answered = dict[tuple[str, str], int | None]


def _answered(assignment: Assignment) -> Answered:
    """Return what is answered; a list in which a condition is left undecided is not."""
    answers = Rating.objects.filter(assignment=assignment, aspect=Aspect.ANSWER)
    item, questions = assignment.item, questionnaire_of(assignment).by_key
    return {
        (question, subject): value
        for question, subject, value, chosen, text in answers.values_list(
            "question", "subject", "value", "chosen", "text"
        )
        if value is not None
        or text
        or (chosen is not None and decides_all(item, questions[question], chosen))
    }


def missing_slots(assignment: Assignment, answered: Answered | None = None) -> list[Slot]:
    """Return the required places that have no answer, in the order in which they are asked."""
    if answered is None:
        answered = _answered(assignment)
    applies = questionnaire_of(assignment).applies
    return [
        slot
        for slot in slots_of(assignment)
        if slot.question.required
        and (slot.question.key, slot.subject) not in answered
        and applies(slot, answered)
    ]


def _withdraw_unasked(item: Assignment, by: User, answered: Answered) -> None:
    """Take back answers to questions whose condition is no longer met; the edits keep them.

    So whoever reads the current answers sees only what was asked in the end.
    """
    applies = questionnaire_of(item).applies
    unasked = [
        slot
        for slot in slots_of(item)
        if (slot.question.key, slot.subject) in answered and not applies(slot, answered)
    ]
    withdraw_answers(assignment=item, by=by, slots=unasked)
    for slot in unasked:
        del answered[slot.question.key, slot.subject]


def submit_assignment(
    *, assignment: Assignment, by: User, active_ms: int = 0, revealed: int | None = None
) -> Assignment:
    """Submit a complete item; submitting it again is harmless. Says what is missing otherwise.

    Where turns are revealed one by one, this reveals the next as long as there is one, and the item
    stays open. ``revealed`` is how many turns the page showed, so that a request whose reply was
    lost reveals nothing twice. ``active_ms`` is the time at work on it so far, as the page counts
    it. Returns the item as it is now, with its study.
    """

    def submit(item: Assignment, participant: Participant) -> None:
        if item.state == State.SUBMITTED:
            return
        if revealed is not None and item.revealed is not None and revealed < item.revealed:
            return
        refuse_unless_working(item.study, participant, item.part)
        answered = _answered(item)
        missing = missing_slots(item, answered)
        if missing:
            raise Incomplete([slot.name for slot in missing], [_title(slot) for slot in missing])
        if item.state != State.OPEN:
            change_assignment_state(item, State.OPEN, by=by)
        note_active(assignment=item, active_ms=active_ms)
        _withdraw_unasked(item, by, answered)
        if open_turn(item) is not None:
            reveal_next(item)
            return
        # In the order of the questionnaire, although a page may rotate its questions.
        places = questionnaire_of(item).slots(item.item.asked, item.item.subjects, 0)
        values = [answered.get((place.question.key, place.subject)) for place in places]
        item.pattern = answer_pattern(value for value in values if value is not None)
        change_assignment_state(item, State.SUBMITTED, by=by)
        if item.part == Part.BACKGROUND:
            Participant.objects.filter(pk=participant.pk).update(told_background=True)
        elif item.part == Part.TRAINING:
            judge_training(study=item.study, participant=participant)
        elif item.item.use == Item.Use.GOLD:
            note_gold(study=item.study, participant=participant)

    return _change(assignment, by, submit)


def skip_assignment(*, assignment: Assignment, by: User, reason: str) -> Assignment:
    """Leave an item out, and say why; its answers so far are kept, its assignment is free again."""
    reason = reason.strip()
    if not reason:
        raise Refused("invalid", "choose a reason, or write why you skip this item")
    if assignment.part != Part.MAIN:
        raise Refused("invalid", "this part cannot be skipped")
    refuse_longer(reason, LONGEST_SKIP_REASON, "the reason")

    def skip(item: Assignment, participant: Participant) -> None:
        if item.state == State.SKIPPED and item.skip_reason == reason:
            return
        refuse_unless_working(item.study, participant, item.part)
        if item.state != State.OPEN:
            word = item.get_state_display().lower()
            raise Refused("not_open", f"this item is {word}; reopen it before you skip it")
        change_assignment_state(item, State.SKIPPED, by=by, reason=reason)

    return _change(assignment, by, skip)


def reopen_assignment(*, assignment: Assignment, by: User) -> Assignment:
    """Take an item up again, as long as the study is open and the item has a free assignment."""

    def reopen(item: Assignment, participant: Participant) -> None:
        if item.state == State.OPEN:
            return
        refuse_unless_working(item.study, participant, item.part)
        if tells_expected(item):
            words = "you have seen the expected answers, so this item stays as you submitted it"
            raise Refused("not_open", words)
        change_assignment_state(item, State.OPEN, by=by)
        if item.part == Part.BACKGROUND:
            Participant.objects.filter(pk=participant.pk).update(told_background=False)

    return _change(assignment, by, reopen)


def _change(
    assignment: Assignment, by: User, change: Callable[[Assignment, Participant], None]
) -> Assignment:
    """Make a change to the item as it is now, under a lock: first the person, then the item."""
    if assignment.annotator_id != by.pk:
        raise Refused("not_yours", "this item is assigned to somebody else")
    with transaction.atomic():
        participant = find_participant(study=assignment.study_id, user=by, only=PARTICIPANT_COLUMNS)
        item = lock_assignment(assignment)
        if participant is None:
            raise Refused("not_yours", "you are not an annotator of this study")
        participant.study = item.study
        change(item, participant)
    return item


def _title(slot: Slot) -> str:
    words = f"{slot.question.number} {slot.question.title}"
    return f"{words} ({slot.subject.replace('-', ' ')})" if slot.subject else words
