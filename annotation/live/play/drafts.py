"""Unsent replies of players. Each has a version, so that no tab overwrites another."""

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from annotation.errors import Refused
from annotation.models import LiveDraft
from benchmarks.models import OpenAsk


class NewerDraft(Refused):
    """An error: a newer draft was kept since; it is ``draft``."""

    def __init__(self, draft: LiveDraft) -> None:
        self.draft = draft
        super().__init__("conflict", "there is a newer draft in another tab or browser")


def keep_draft(*, ask: OpenAsk, user: User, fields: Mapping[str, str], version: int) -> int:
    """Keep what a player has typed so far, and return its version.

    ``version`` is the one that it was typed on, 0 where nothing had been kept. The same fields sent
    twice are kept once. Raises ``NewerDraft`` where other ones were kept since; these stay.
    """
    rows = LiveDraft.objects.filter(
        trajectory=ask.trajectory_id, step=ask.step, slot=ask.slot, user=user
    )
    kept = dict(fields)
    with transaction.atomic():
        draft, created = LiveDraft.objects.get_or_create(
            trajectory_id=ask.trajectory_id,
            step=ask.step,
            slot=ask.slot,
            user=user,
            defaults={"fields": kept},
        )
        if created or draft.fields == kept:
            return draft.version
        new = {"fields": kept, "version": version + 1, "at": timezone.now()}
        if not rows.filter(version=version).update(**new):
            raise NewerDraft(rows.get())
    return version + 1


def keep_sent(*, ask: OpenAsk, user: User, fields: Mapping[str, str]) -> None:
    """Keep the fields of a reply that was sent in place of its draft, in case it is edited.

    What was kept of earlier steps goes; drafts of other replies of this step stay.
    """
    before = Q(step__lt=ask.step) | Q(step=ask.step, slot=ask.slot)
    LiveDraft.objects.filter(before, trajectory=ask.trajectory_id, user=user).delete()
    LiveDraft.objects.create(
        trajectory_id=ask.trajectory_id, step=ask.step, slot=ask.slot, user=user, fields=fields
    )


def fetch_draft(ask: OpenAsk, user: User) -> LiveDraft | None:
    """Return what was kept of a player's reply; None where nothing was."""
    rows = LiveDraft.objects.filter(trajectory=ask.trajectory_id, step=ask.step, slot=ask.slot)
    return rows.filter(user=user).first()
