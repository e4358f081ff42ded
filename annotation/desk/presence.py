"""Note when annotators are at their desk, and their active time on an item."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from annotation.models import Assignment, Participant

# How exactly it is known: a sign of life costs one write a minute, and nothing in between.
EVERY = timedelta(minutes=1)


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
    """Time at work as the page counts it: a total, so that telling it twice adds nothing.

    The assignment must be locked, and is saved with it.
    """
    if assignment.opened_at is None or active_ms <= assignment.active_ms:
        return
    passed = (timezone.now() - assignment.opened_at).total_seconds() * 1000
    total = min(active_ms, int(passed))
    if total > assignment.active_ms:
        assignment.active_ms = total
        assignment.save(update_fields=["active_ms"])


def open_assignment(*, assignment: Assignment) -> bool:
    """Note when its annotator first saw an item; False where another stands in its place by now.

    Gold that is added moves items that nobody has opened. Pages name an item by its place, so an
    item is shown only once it is opened there: from then on it stays.
    """
    if assignment.opened_at is not None:
        return True
    pk, position = assignment.pk, assignment.position
    now = timezone.now()
    here = Assignment.objects.filter(pk=pk, position=position)
    if here.filter(opened_at=None).update(opened_at=now):
        assignment.opened_at = now
        return True
    return here.exists()
