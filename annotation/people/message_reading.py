"""Noting that a message was read."""

from django.contrib.auth.models import User

from annotation.errors import Refused
from annotation.models import Message, MessageRead


def read_message(*, message: Message, user: User) -> None:
    """Note that somebody has read a message to them; telling it twice is harmless."""
    if message.to_id not in (None, user.pk):
        raise Refused("not_yours", "this message is for somebody else")
    MessageRead.objects.get_or_create(message=message, user=user)
