"""Who is annotating blind, and which runs are therefore closed to them."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import Count, QuerySet
from django.urls import reverse

from annotation.models import Assignment, Study
from benchmarks.blinding import Duty, blinding_duties, blinding_rule


def _open_items(user: User) -> QuerySet[Assignment]:
    """Items of blinded studies that this person still has to judge."""
    return Assignment.objects.filter(
        annotator=user, state=Assignment.State.OPEN, study__blinded=True
    ).order_by()


@blinding_rule
def runs_of_open_items(user: User) -> Iterable[int]:
    """All runs of every blinded study in which this person has open items, in one query.

    Not only those of the items that are open: agents of one study are told apart by comparison.
    """
    studied = Assignment.objects.filter(study__in=_open_items(user).values("study"))
    judged = studied.exclude(trajectory=None).order_by()
    return judged.values_list("trajectory__run", flat=True).distinct()


@blinding_duties
def items_left(user: User) -> Iterable[Duty]:
    """The studies whose items have to be submitted or skipped first."""
    rows = _open_items(user).values_list("study", "study__name", "study__status")
    for pk, name, status, left in rows.annotate(left=Count("pk")).order_by("study"):
        word = "" if status == Study.Status.OPEN else f" ({Study.Status(status).label.lower()})"
        yield Duty(f"{name}{word}", left, reverse("annotation:study", args=[pk]))
