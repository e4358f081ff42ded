"""The messages of a study, and who has read them."""

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from annotation.models import (
    Message,
    MessageRead,
    Participant,
    Study,
)
from benchmarks.paging import RowPage, page_by_id

MESSAGES = 30


class SentMessage(NamedTuple):
    """A message, with how many it was for and who of them has read it."""

    message: Message
    to: str
    readers: Sequence[str]
    waiting: Sequence[str]

    @property
    def total(self) -> int:
        return len(self.readers) + len(self.waiting)


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


Standing = Participant.State


def unread_messages(user: User, *, study: Study | None = None) -> QuerySet[Message]:
    """Return the messages to this person, or to all annotators since they came, oldest first."""
    rows = _unread(user.pk)
    if study is not None:
        rows = rows.filter(study=study)
    return rows.select_related("study", "by").order_by("pk")


def count_unread(user: User, *, study: Study) -> int:
    """Return how many there are in a study; asked whenever an item is opened."""
    # Most studies have none at all, which is asked in a tenth of the time.
    if not Message.objects.filter(study=study).exists():
        return 0
    return _unread(user.pk).filter(study=study).count()


def _unread(user: int) -> QuerySet[Message]:
    here = Participant.objects.filter(
        user=user, study=OuterRef("study"), state__in=(Standing.ACTIVE, Standing.PAUSED)
    )
    to_all = Q(to=None) & Q(Exists(here.filter(joined_at__lte=OuterRef("at"))))
    rows = Message.objects.filter((Q(to=user) & Q(Exists(here))) | to_all)
    return rows.exclude(Exists(MessageRead.objects.filter(message=OuterRef("pk"), user=user)))
