"""The members of a study, its invitations, and the messages sent."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, QuerySet
from django.http import QueryDict
from django.utils import timezone

from annotation.models import (
    Invite,
    Membership,
    Message,
    MessageRead,
    Participant,
    Study,
    StudyEvent,
)
from benchmarks.paging import RowPage, page_by_id

MESSAGES = 30
INVITES = 100
Role = Membership.Role


@dataclass(frozen=True)
class InviteRow:
    """An invite and what became of it."""

    invite: Invite
    state: str
    tone: str
    mailed_at: datetime | None = None

    @property
    def open(self) -> bool:
        return self.state == "open"


@dataclass(frozen=True)
class SentMessage:
    """A message, with how many it was for and who of them has read it."""

    message: Message
    to: str
    readers: Sequence[str]
    waiting: Sequence[str]

    @property
    def total(self) -> int:
        return len(self.readers) + len(self.waiting)


def overseers_of(study: Study) -> QuerySet[Membership]:
    """Return the roles of those who run a study or look on; annotators have a list of their own."""
    rows = study.memberships.exclude(role=Role.ANNOTATOR).select_related("user")
    return rows.order_by("role", "user__username")


def present_annotators(study: Study) -> list[Participant]:
    """Return the annotators who have not left, by their numbers."""
    rows = study.participants.exclude(state__in=Participant.GONE)
    return list(rows.select_related("user").order_by("number"))


def count_gone(study: Study) -> Counter[str]:
    """Return how many annotators have left a study, by how."""
    rows = study.participants.filter(state__in=Participant.GONE).order_by()
    return Counter(rows.values_list("state", flat=True))


def active_annotators(study: Study) -> list[Participant]:
    """Return the annotators who may be given something."""
    return [p for p in present_annotators(study) if p.state == Participant.State.ACTIVE]


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


def sent_messages(study: Study, params: QueryDict) -> tuple[list[SentMessage], RowPage[Message]]:
    """Return a page of a study's messages, the newest first, and who has read them; four queries.

    A message to all is for those who took part when it was sent and have not left.
    """
    rows = Message.objects.filter(study=study).select_related("by", "to")
    page = page_by_id(rows, params, size=MESSAGES)
    reads: dict[int, set[int]] = {row.pk: set() for row in page.rows}
    marks = MessageRead.objects.filter(message__in=list(reads)).order_by()
    for message, user in marks.values_list("message", "user"):
        reads[message].add(user)
    people = list(study.participants.select_related("user").order_by("number"))
    return [_sent(row, reads[row.pk], people) for row in page.rows], page


def _sent(message: Message, read: set[int], people: Sequence[Participant]) -> SentMessage:
    if message.to_id is not None:
        meant = [person for person in people if person.user_id == message.to_id]
    else:
        meant = [
            person
            for person in people
            if person.user_id in read
            or (person.joined_at <= message.at and person.state not in Participant.GONE)
        ]
    name = {person.user_id: f"{person.number} {person.user.get_username()}" for person in meant}
    to = message.to
    return SentMessage(
        message,
        to="all annotators" if to is None else name.get(to.pk, to.get_username()),
        readers=[words for pk, words in name.items() if pk in read],
        waiting=[words for pk, words in name.items() if pk not in read],
    )
