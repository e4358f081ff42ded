"""Count known answers as they are submitted, and act on them by rule or by hand."""

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.annotator_quality.rule import NOTHING, PAUSE, TRAIN, WARN, gold_rule
from annotation.annotator_quality.signs import gold_words
from annotation.assignments.services import lock_participant
from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import Assignment, Item, Message, Participant, Study, StudyEvent
from annotation.training.services import count_right

State, Standing, Training = Assignment.State, Participant.State, Participant.Training
Kind = StudyEvent.Kind
# What somebody reads to whom something was done, by the rule or by hand.
NOTICES: Mapping[str, str] = {
    WARN: "Please take more time: some of your answers look careless to the people who run this "
    "study. Read each trajectory to its end and each question with its examples. If you think "
    "that this is a mistake, tell them.",
    TRAIN: "Please go through the training once more before you continue. Your answers are kept.",
    PAUSE: "Your part in this study is paused until the people who run it have looked at your "
    "answers. Your answers are kept.",
}


def note_gold(*, study: Study, participant: Participant) -> None:
    """Count somebody's known answers anew, and apply the study's rule.

    Called when a gold item is submitted, in its transaction, with the participant locked. All
    submitted gold items since ``gold_since`` are counted, so that one that was reopened counts
    once.
    """
    participant.gold_right, participant.gold_asked = count_known_answers(study, participant)
    participant.save(update_fields=["gold_right", "gold_asked"])
    rule = gold_rule(study)
    if rule.action == NOTHING or participant.state != Standing.ACTIVE:
        return
    if rule.is_broken(participant.gold_right, participant.gold_asked):
        words = gold_words(participant.gold_right, participant.gold_asked, rule.share)
        _act(study, participant, rule.action, by=None, reason=words)


def count_known_answers(study: Study, participant: Participant) -> tuple[int, int]:
    """Return how many known answers somebody gave right since they were last counted from, and how
    many were asked for.
    """
    rows = Assignment.objects.filter(
        study=study, annotator=participant.user_id, part=Assignment.Part.MAIN,
        state=State.SUBMITTED, item__use=Item.Use.GOLD,
    )  # fmt: skip
    if participant.gold_since is not None:
        rows = rows.filter(submitted_at__gt=participant.gold_since)
    return count_right(study, rows.select_related("item").order_by())


def act_on_work(*, study: Study, user: User, action: str, by: User, reason: str) -> None:
    """Warn somebody, send them back to the training, or pause them; their known answers are counted
    from here on.
    """
    reason = checked_reason(reason, why="this is done")
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.state != Standing.ACTIVE:
            word = participant.get_state_display().lower()
            raise Refused("conflict", f"this person is {word}")
        _act(study, participant, action, by=by, reason=reason)


def forget_known_answers(participant: Participant) -> None:
    """Count the known answers of a locked participant from now on: a manager has looked at them."""
    participant.gold_since = timezone.now()
    participant.gold_right = participant.gold_asked = 0
    participant.save(update_fields=["gold_since", "gold_right", "gold_asked"])


def _act(
    study: Study, participant: Participant, action: str, *, by: User | None, reason: str
) -> None:
    """Do it, tell the person, and put it on record. The counters stay, for the managers to see;
    what is submitted from now on is counted anew.
    """
    if action == TRAIN and not study.trains:
        if by is not None:
            raise Refused("invalid", "this study has no training")
        action = PAUSE  # the training items were the rule's when it was made
    if action not in NOTICES:
        raise Refused("invalid", "warn, train or pause is expected")
    before, after = participant.state, participant.state
    if action == TRAIN:
        if participant.training != Training.PASSED:
            raise Refused("conflict", "this person has not passed the training yet")
        participant.training = Training.NONE
        participant.sent_back += 1
    elif action == PAUSE:
        participant.state = after = Standing.PAUSED
    participant.gold_since = timezone.now()
    if by is not None:
        participant.gold_right = participant.gold_asked = 0
    participant.save(update_fields=[
        "training", "sent_back", "state", "gold_since", "gold_right", "gold_asked",
    ])  # fmt: skip
    Message.objects.create(study=study, to=participant.user, text=NOTICES[action], by=by)
    detail = {"action": action, "by_rule": by is None}
    if before != after:
        detail |= {"before": before, "after": after}
    kind = {WARN: Kind.QUALITY, TRAIN: Kind.TRAINING, PAUSE: Kind.PAUSED}[action]
    record_event(
        study=study, kind=kind, by=by, about=participant.user_id, reason=reason, detail=detail
    )
