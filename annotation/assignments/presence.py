"""Note when annotators are at their desk, and their active time on an item."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from annotation.assignments.stepwise import revealed_turns
from annotation.designs.hold_out import sees_marks
from annotation.models import Assignment, Participant, Study
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.requirements import shows_marks
from annotation.questionnaires.types import Questionnaire

# How exactly it is known: a sign of life costs one write a minute, and nothing in between.
EVERY = timedelta(minutes=1)


def questionnaire_of(assignment: Assignment) -> Questionnaire:
    """Return the questionnaire of an item: the study's, or the one about its annotators."""
    background = assignment.part == Assignment.Part.BACKGROUND
    study = assignment.study
    return load_questionnaire(study.background if background else study.questionnaire)


def note_seen(participant: Participant) -> None:
    """Keep that somebody is at their desk, unless that was kept within the last minute."""
    now = timezone.now()
    seen = participant.last_seen_at
    if seen is not None and now - seen < EVERY:
        return
    rows = Participant.objects.filter(pk=participant.pk)
    rows = rows.filter(Q(last_seen_at=None) | Q(last_seen_at__lt=now - EVERY))
    rows.update(last_seen_at=now)
    participant.last_seen_at = now


def note_active(*, assignment: Assignment, active_ms: int) -> None:
    """Store the time at work as the page counts it: a total, so that sending it twice adds nothing.

    The assignment must be locked, and is saved with it.
    """
    if assignment.opened_at is None or active_ms <= assignment.active_ms:
        return
    passed = (timezone.now() - assignment.opened_at).total_seconds() * 1000
    total = min(active_ms, int(passed))
    if total > assignment.active_ms:
        assignment.active_ms = total
        assignment.save(update_fields=["active_ms"])


def open_assignment(*, assignment: Assignment, number: int) -> bool:
    """Note when its annotator first saw an item; False where another stands in its place by now.

    Gold that is added moves items that nobody has opened. Pages name an item by its place, so an
    item is shown only once it is opened there: from then on it stays. What the page shows of the
    judges' verdicts and in which order it asks is fixed with it, so that a later visit shows the
    same. ``number`` is that of the participant.
    """
    if assignment.opened_at is not None:
        return True
    pk, position = assignment.pk, assignment.position
    now = timezone.now()
    verdicts, rotation = visible_verdicts(assignment, number), rotation_of(assignment, number)
    here = Assignment.objects.filter(pk=pk, position=position, opened_at=None)
    fixed = {
        "opened_at": now,
        "revealed": revealed_turns(assignment, assignment.study),
        "verdicts": verdicts,
        "rotation": rotation,
        "swapped": is_swapped(assignment, number),
    }
    if here.update(**fixed):
        for name, value in fixed.items():
            setattr(assignment, name, value)
        return True
    here = Assignment.objects.filter(pk=pk, position=position)
    return here.exists()


def visible_verdicts(assignment: Assignment, number: int) -> str:
    """Return which of the judges' verdicts an item shows; empty where its form shows none at all.

    Where the final plan is not scored, its verdict tells of nothing that is asked. Where marks are
    withheld at random, ``number``, that of the participant, is part of the draw; training shows
    them.
    """
    if assignment.opened_at is not None:
        return assignment.verdicts
    questionnaire, item = questionnaire_of(assignment), assignment.item
    if item.trajectory_id is None or not shows_marks(questionnaire):
        return ""
    study = assignment.study
    verdicts = study.verdicts
    if verdicts == Study.Verdicts.RANDOM:
        seen = assignment.part == Assignment.Part.TRAINING or sees_marks(
            seed=study.seed, number=number, position=assignment.position
        )
        verdicts = Study.Verdicts.EARLIER if seen else Study.Verdicts.NONE
    scored = any(q.of_final_plan for q in questionnaire.of_keys(item.asked))
    if verdicts == Study.Verdicts.EARLIER and not scored:
        return Study.Verdicts.ALL
    return verdicts


def is_swapped(assignment: Assignment, number: int) -> bool:
    """Return whether an item's second trajectory stands on the left: for every other annotator.

    The order of the two in the items is balanced itself, so each agent stands on either side
    equally often for everybody (`annotation.designs.pairs`).
    """
    if assignment.opened_at is not None:
        return assignment.swapped
    return assignment.item.other_id is not None and number % 2 == 0


def rotation_of(assignment: Assignment, number: int) -> int:
    """Return by how many places an item's questions are rotated: one more from item to item.

    Annotators start one place apart, so that the same item is asked in different orders.
    """
    if assignment.opened_at is not None:
        return assignment.rotation
    rotated = assignment.study.question_order == Study.QuestionOrder.ROTATED
    if not rotated or assignment.part == Assignment.Part.BACKGROUND:
        return 0
    return (assignment.position + number - 2) % 32_768
