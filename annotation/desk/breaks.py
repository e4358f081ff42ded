"""Start and end breaks, and measure how long somebody has worked without one."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.assignments.services import lock_participant
from annotation.models import Assignment, Participant, Study


def take_break(*, study: Study, user: User) -> None:
    """Begin a break; one that has begun goes on."""
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.break_since is not None:
            return
        participant.break_since = timezone.now()
        participant.save(update_fields=["break_since"])


def end_break(*, study: Study, user: User) -> None:
    """Record the end of a break; harmless for somebody who takes none."""
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        if participant.break_since is None:
            return
        participant.break_since = None
        participant.save(update_fields=["break_since"])


# A pause of this length between two items is a break, whether or not it was announced.
REST = timedelta(minutes=5)
MOST = 60


def worked_since_break(
    study: Study, participant: Participant, *, now: datetime, since: datetime | None = None
) -> timedelta:
    """Return active time at submitted items since the last break, as far as it can be told.

    ``since`` is when an announced break ended; a longer gap is a break as well.
    """
    rows = Assignment.objects.filter(
        study=study,
        annotator=participant.user_id,
        part=Assignment.Part.MAIN,
        state=Assignment.State.SUBMITTED,
    )
    worked = timedelta()
    begun = now
    latest = rows.order_by("-position").values_list("opened_at", "submitted_at", "active_ms")
    for opened, submitted, active_ms in latest[:MOST]:
        if opened is None or submitted is None or begun - submitted >= REST:
            break
        if since is not None and submitted <= since:
            break
        worked += timedelta(milliseconds=active_ms)
        begun = opened
    return worked


def minutes_without_break(
    study: Study, participant: Participant, *, since: datetime | None = None
) -> int | None:
    """Return minutes of work since the last break, where one should be suggested; else None."""
    if not 0 < study.break_minutes * 60_000 <= participant.active_ms:
        return None  # they have not worked that long at all
    worked = worked_since_break(study, participant, now=timezone.now(), since=since)
    minutes = int(worked.total_seconds() // 60)
    return minutes if study.break_minutes <= minutes else None
