"""What players have typed and not sent."""

from django.contrib.auth.models import User

from annotation.models import LiveDraft
from benchmarks.models import OpenAsk
from benchmarks.prepared import Prepared

_DRAFT = Prepared(
    lambda trajectory, step, slot, user: LiveDraft.objects.filter(
        trajectory=trajectory, step=step, slot=slot, user=user
    ),
    trajectory=int,
    step=int,
    slot=int,
    user=int,
)


def fetch_draft(ask: OpenAsk, user: User) -> LiveDraft | None:
    """What was kept of a player's reply; None where nothing was."""
    return _DRAFT.first(trajectory=ask.trajectory_id, step=ask.step, slot=ask.slot, user=user.pk)
