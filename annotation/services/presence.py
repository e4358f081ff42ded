"""When annotators were last at their desks."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from annotation.models import Participant

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
