"""Who is annotating blind, and which runs are therefore closed to them."""

from collections.abc import Iterable

from django.contrib.auth.models import User

from annotation.models import Assignment
from benchmarks.blinding import blinding_rule
from benchmarks.models import Run


@blinding_rule
def runs_of_open_items(user: User) -> Iterable[int]:
    """All runs of every blinded study in which this person has open items.

    Not only those of the items that are open: agents of one study are told apart by comparison.
    """
    studies = list(
        Assignment.objects.filter(annotator=user, state=Assignment.State.OPEN, study__blinded=True)
        .order_by()
        .values_list("study", flat=True)
        .distinct()
    )
    if not studies:
        return ()
    found = Run.objects.filter(trajectories__assignments__study__in=studies)
    return found.order_by().values_list("pk", flat=True).distinct()
