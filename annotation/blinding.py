"""Who is annotating blind, and which runs are therefore closed to them."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.urls import reverse

from annotation.models import Assignment, Study
from benchmarks.blinding import Duty, blinding_duties, blinding_rule
from benchmarks.models import Run


def _open_items(user: User) -> QuerySet[Assignment]:
    """Items of blinded studies that this person still has to judge."""
    return Assignment.objects.filter(
        annotator=user, state=Assignment.State.OPEN, study__blinded=True
    ).order_by()


@blinding_rule
def runs_of_open_items(user: User) -> Iterable[int]:
    """All runs of every blinded study in which this person has open items, in one query.

    Not only those of the items that are open: agents of one study are told apart by comparison. And
    all other runs of the same agents on the same dataset: an agent begins a task alike at every
    level, so the plan that is on the desk could be found there again beside a name.
    """
    studied = Assignment.objects.filter(study__in=_open_items(user).values("study"))
    judged = studied.exclude(trajectory=None).order_by().values("trajectory__run")
    same = Run.objects.filter(dataset=OuterRef("dataset"), agent=OuterRef("agent"), pk__in=judged)
    return Run.objects.filter(Exists(same.order_by())).order_by().values_list("pk", flat=True)


@blinding_duties
def items_left(user: User) -> Iterable[Duty]:
    """The studies whose items have to be submitted or skipped first."""
    rows = _open_items(user).values_list("study", "study__name", "study__status")
    for pk, name, status, left in rows.annotate(left=Count("pk")).order_by("study"):
        word = "" if status == Study.Status.OPEN else f" ({Study.Status(status).label.lower()})"
        yield Duty(f"{name}{word}", left, reverse("annotation:study", args=[pk]))
