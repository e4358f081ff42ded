"""Words of managers that somebody has not read yet."""

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Message, MessageRead, Participant, Study

Standing = Participant.State


def unread_messages(user: User, *, study: Study | None = None) -> QuerySet[Message]:
    """Messages to this person, or to all annotators since they came, oldest first."""
    here = Participant.objects.filter(
        user=user, study=OuterRef("study"), state__in=(Standing.ACTIVE, Standing.PAUSED)
    )
    to_all = Q(to=None) & Q(Exists(here.filter(joined_at__lte=OuterRef("at"))))
    rows = Message.objects.filter((Q(to=user) & Q(Exists(here))) | to_all)
    rows = rows.exclude(Exists(MessageRead.objects.filter(message=OuterRef("pk"), user=user)))
    if study is not None:
        rows = rows.filter(study=study)
    return rows.select_related("study", "by").order_by("pk")
