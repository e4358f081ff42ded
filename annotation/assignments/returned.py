"""Why seats were returned, and who may take them up again.

A lease that ran out, a study that was closed and an annotator who left return a seat, and it may
come back to whom it was. What a manager took from somebody does not, unless a manager gives it
back. The record says which it was: the latest event of a returned seat is how it was returned.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from annotation.models import Assignment, StudyEvent

Kind = StudyEvent.Kind
CLOSED = "the study was closed"
LEFT = "the annotator left the study"


def taken_back(seats: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Those returned seats that a manager took from their annotator."""
    return seats.filter(_taken_back())


def not_taken_back(seats: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Those returned seats that may come back to their annotator."""
    return seats.exclude(_taken_back())


def _taken_back() -> Exists:
    by_hand = Q(kind=Kind.RETURNED, by__isnull=False) & ~Q(reason__in=(CLOSED, LEFT))
    ways = StudyEvent.objects.filter(kind__in=(Kind.RETURNED, Kind.REASSIGNED))
    latest = ways.filter(assignment=OuterRef(OuterRef("pk"))).order_by("-pk").values("pk")[:1]
    found = StudyEvent.objects.filter(pk=Subquery(latest), assignment=OuterRef("pk"))
    return Exists(found.filter(Q(kind=Kind.REASSIGNED) | by_hand))
