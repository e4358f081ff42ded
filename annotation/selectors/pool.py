"""What is still free in a pool."""

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, QuerySet

from annotation.models import Assignment, Item, Study
from benchmarks.selectors.players import trajectories_played_by

COUNTED = (Item.Use.MAIN, Item.Use.GOLD)


def free_items(study: Study, user: User) -> QuerySet[Item]:
    """Items with a free seat that this person may judge: neither had before nor played in."""
    rows = Item.objects.filter(study=study, use__in=COUNTED, given__lt=F("wanted"))
    rows = rows.exclude(Exists(Assignment.objects.filter(item=OuterRef("pk"), annotator=user)))
    played = list(trajectories_played_by(user).values_list("pk", flat=True))
    return rows.exclude(trajectory__in=played) if played else rows


def has_free_item(study: Study, user: User) -> bool:
    """Whether this person could take an item now, be it one that they had to return."""
    if free_items(study, user).order_by("rank").exists():
        return True
    mine = Assignment.objects.filter(
        study=study, annotator=user, part=Assignment.Part.MAIN, state=Assignment.State.RETURNED
    )
    return mine.filter(item__given__lt=F("item__wanted")).exists()
