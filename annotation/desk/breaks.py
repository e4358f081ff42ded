"""Taking a break and coming back. Time away is nobody's working time."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.assignments.services import lock_participant
from annotation.models import Study


def take_break(*, study: Study, user: User) -> None:
    """Begin a break; one that has begun goes on."""
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.break_since is not None:
            return
        participant.break_since = timezone.now()
        participant.save(update_fields=["break_since"])


def end_break(*, study: Study, user: User) -> None:
    """Come back from a break; harmless for somebody who takes none."""
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.break_since is None:
            return
        participant.break_since = None
        participant.save(update_fields=["break_since"])
