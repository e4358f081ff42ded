"""The members of a study, its invitations, and the messages sent."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation.models import (
    Invite,
    Membership,
    Study,
    StudyEvent,
)

INVITES = 100
Role = Membership.Role


class InviteRow(NamedTuple):
    """An invite and what became of it."""

    invite: Invite
    state: str
    tone: str
    mailed_at: datetime | None = None

    @property
    def open(self) -> bool:
        return self.state == "open"


def overseers_of(study: Study) -> QuerySet[Membership]:
    """Return the roles of those who run a study or look on; annotators have a list of their own."""
    rows = study.memberships.exclude(role=Role.ANNOTATOR).select_related("user")
    return rows.order_by("role", "user__username")


def invite_rows(study: Study) -> list[InviteRow]:
    """Return the newest invites of a study and their states."""
    now = timezone.now()
    rows = list(study.invites.select_related("by", "used_by").order_by("-pk")[:INVITES])
    if not rows:
        return []
    mails = StudyEvent.objects.filter(
        study=study, kind=StudyEvent.Kind.INVITED, detail__what="mailed"
    ).order_by()
    mailed = dict(mails.values_list("detail__invite").annotate(last=Max("at")))
    return [InviteRow(row, *_state(row, now), mailed.get(row.pk)) for row in rows]


def _state(invite: Invite, now: datetime) -> tuple[str, str]:
    if invite.used_at is not None:
        return "used", "ok"
    if invite.revoked_at is not None:
        return "revoked", "idle"
    if invite.expires_at <= now:
        return "expired", "idle"
    return "open", "info"
