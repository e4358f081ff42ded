"""Whether a training was passed, going through it again, and letting somebody on without it."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.assignments.services import lock_participant, lock_study, refuse_unless_working
from annotation.errors import Refused
from annotation.models import Item, Participant, Study, StudyEvent
from annotation.record.events import record_event
from annotation.steps.training_results import latest_round
from annotation.studies.setup import deal_items

Training = Participant.Training
Kind = StudyEvent.Kind


def judge_training(*, study: Study, participant: Participant) -> None:
    """Decide, once the last item of a round is submitted, whether the training was passed.

    Within the transaction of that submission, with the participant locked. Where nothing was
    expected nothing can be passed; a manager decides then.
    """
    done = latest_round(study, participant.user)
    if done.open or participant.training != Training.NONE:
        return
    share = done.share
    if share is not None and share >= study.pass_mark:
        participant.training = Training.PASSED
    elif share is None or not done.more:
        participant.training = Training.FAILED
    participant.save(update_fields=["training"])
    record_event(
        study=study, kind=Kind.TRAINING, by=participant.user, about=participant.user,
        detail={
            "round": done.taken, "matched": done.matched, "expected": done.expected,
            "pass_mark": study.pass_mark, "training": participant.training,
        },
    )  # fmt: skip


def begin_training_round(*, study: Study, user: User) -> None:
    """Go through the training items once more, where a round is left."""
    with transaction.atomic():
        lock_study(study)  # deals lock the study before its people
        participant = lock_participant(study=study, user=user)
        refuse_unless_working(study, participant, Item.Use.TRAINING)
        done = latest_round(study, user)
        if participant.training != Training.NONE:
            word = participant.get_training_display().lower()
            raise Refused("not_open", f"the training has ended: {word}")
        if done.open:
            return  # it has begun; pressing twice is harmless
        if not done.more:
            raise Refused("not_open", "no round of the training is left")
        items = list(study.items.filter(use=Item.Use.TRAINING).order_by("rank"))
        deal_items(study=study, items=items, dealt={user.pk: range(len(items))}, by=user)


def release_training(*, study: Study, user: User, by: User, reason: str) -> None:
    """Let somebody go on who has not passed the training; says why, for the record."""
    reason = reason.strip()
    if not reason:
        raise Refused("invalid", "say in a few words why this person may go on")
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.training == Training.PASSED:
            return
        before = participant.training
        participant.training = Training.PASSED
        participant.save(update_fields=["training"])
        record_event(
            study=study, kind=Kind.TRAINING, by=by, about=user, reason=reason[:1000],
            detail={"before": before, "training": Training.PASSED, "released": True},
        )  # fmt: skip
