"""Messages of managers to annotators."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import Message, MessageRead, Participant, Study, StudyEvent

LONGEST_MESSAGE = 2000


def send_message(*, study: Study, text: str, by: User, to: User | None = None) -> Message:
    """Send words to one annotator, or to all who take part now where ``to`` is None."""
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Refused("invalid", "write a few words")
    if len(text) > LONGEST_MESSAGE:
        raise Refused("invalid", f"a message has at most {LONGEST_MESSAGE:,} characters")
    people = study.participants.exclude(state__in=Participant.GONE)
    if to is not None and not people.filter(user=to).exists():
        raise Refused("invalid", "this person takes no part in the study")
    if to is None and not people.exists():
        raise Refused("invalid", "the study has no annotators yet")
    with transaction.atomic():
        message = Message.objects.create(study=study, to=to, text=text, by=by)
        record_event(
            study=study, kind=StudyEvent.Kind.MESSAGE, by=by, about=to,
            detail={"message": message.pk},
        )  # fmt: skip
    return message


def read_message(*, message: Message, user: User) -> None:
    """Note that somebody has read a message to them; telling it twice is harmless."""
    if message.to_id not in (None, user.pk):
        raise Refused("not_yours", "this message is for somebody else")
    MessageRead.objects.get_or_create(message=message, user=user)
