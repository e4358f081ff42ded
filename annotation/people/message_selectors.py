"""Words of managers that somebody has not read yet."""

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Message, MessageRead, Participant, Study
from benchmarks.prepared import Prepared

Standing = Participant.State


def unread_messages(user: User, *, study: Study | None = None) -> QuerySet[Message]:
    """Messages to this person, or to all annotators since they came, oldest first."""
    rows = _unread(user.pk)
    if study is not None:
        rows = rows.filter(study=study)
    return rows.select_related("study", "by").order_by("pk")


def count_unread(user: User, *, study: Study) -> int:
    """How many there are in a study; asked whenever an item is opened."""
    return len(_COUNTED.all(user=user.pk, study=study.pk))


def _unread(user: int) -> QuerySet[Message]:
    here = Participant.objects.filter(
        user=user, study=OuterRef("study"), state__in=(Standing.ACTIVE, Standing.PAUSED)
    )
    to_all = Q(to=None) & Q(Exists(here.filter(joined_at__lte=OuterRef("at"))))
    rows = Message.objects.filter((Q(to=user) & Q(Exists(here))) | to_all)
    return rows.exclude(Exists(MessageRead.objects.filter(message=OuterRef("pk"), user=user)))


_COUNTED = Prepared(
    lambda user, study: _unread(user).filter(study=study).order_by().values_list("pk", flat=True),
    user=int,
    study=int,
)
