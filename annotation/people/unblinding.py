"""Lifting the blinding, for one annotator or for all. What they answer afterwards is marked."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.assignments.services import lock_participant, lock_study
from annotation.errors import Refused
from annotation.models import Participant, Study, StudyEvent
from annotation.record.events import record_event
from annotation.studies.services import checked_reason


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
