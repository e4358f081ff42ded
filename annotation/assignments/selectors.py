"""The items that somebody may claim from a pool, and the returned items that may come back.

An assignment is returned when its lease expires, the study closes or the annotator leaves; it may
come back to the same person. One that a manager took away may not, unless a manager assigns it
again. The latest event of the assignment tells which it was.
"""

from collections import Counter
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from annotation.models import (
    Assignment,
    Item,
    Participant,
    Study,
    StudyEvent,
)
from benchmarks.asks.players import player_name
from benchmarks.models import AnswererVersion, Exchange


def played_trajectory_ids(user: User) -> list[int]:
    """Return the trajectories in which this person played; they judge none of them.

    Most people play in none. Looking up their answerer first settles that without a scan of all
    exchanges.
    """
    rows = AnswererVersion.objects.filter(kind="human", name=player_name(user)).order_by()
    answerers = list(rows.values_list("pk", flat=True))
    if not answerers:
        return []
    exchanges = Exchange.every.filter(answerer__in=answerers).order_by()
    return sorted(set(exchanges.values_list("trajectory", flat=True)))


def free_items(study: Study, user: User, played: Sequence[int] | None = None) -> QuerySet[Item]:
    """Return unassigned items that this person may judge: not had before, not played in."""
    rows = unassigned_items(study.pk, user.pk)
    played = played_trajectory_ids(user) if played is None else played
    return rows.exclude(trajectory__in=played).exclude(other__in=played) if played else rows


def unassigned_items(study: int, user: int) -> QuerySet[Item]:
    """Return items with a free place that this person has not had; gold items are drawn apart."""
    rows = Item.objects.filter(study=study, use=Item.Use.MAIN, given__lt=F("wanted"))
    return rows.exclude(Exists(Assignment.objects.filter(item=OuterRef("pk"), annotator=user)))


def has_free_item(study: Study, user: User) -> bool:
    """Say whether this person could claim an item now, new or returned.

    Gold items alone do not count: they only come before other items.
    """
    if free_items(study, user).order_by("rank").exists():
        return True
    mine = Assignment.objects.filter(
        study=study, annotator=user, part=Assignment.Part.MAIN, state=Assignment.State.RETURNED
    )
    return not_taken_back(mine.filter(item__given__lt=F("item__wanted"))).exists()


def first_open(study: Study, user: User, part: str, *, after: int = 0) -> int | None:
    """Return the position of the next open item of a part after ``after``, else of the first."""
    rows = Assignment.objects.filter(
        study=study, annotator=user, part=part, state=Assignment.State.OPEN
    )
    positions = rows.order_by("position").values_list("position", flat=True)
    later = positions.filter(position__gt=after).first() if after else None
    return later if later is not None else positions.first()


Kind = StudyEvent.Kind
CLOSED = "the study was closed"
LEFT = "the annotator left the study"


def taken_back(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Filter returned assignments to those that a manager took from their annotator."""
    return assignments.filter(_taken_back())


def not_taken_back(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Filter returned assignments to those that may come back to their annotator."""
    return assignments.exclude(_taken_back())


def _taken_back() -> Exists:
    by_hand = Q(kind=Kind.RETURNED, by__isnull=False) & ~Q(reason__in=(CLOSED, LEFT))
    ways = StudyEvent.objects.filter(kind__in=(Kind.RETURNED, Kind.REASSIGNED))
    latest = ways.filter(assignment=OuterRef(OuterRef("pk"))).order_by("-pk").values("pk")[:1]
    events = StudyEvent.objects.filter(pk=Subquery(latest), assignment=OuterRef("pk"))
    return Exists(events.filter(Q(kind=Kind.REASSIGNED) | by_hand))


def present_annotators(study: Study) -> list[Participant]:
    """Return the annotators who have not left, by their numbers."""
    rows = study.participants.exclude(state__in=Participant.GONE)
    return list(rows.select_related("user").order_by("number"))


def count_gone(study: Study) -> Counter[str]:
    """Return how many annotators have left a study, by how."""
    rows = study.participants.filter(state__in=Participant.GONE).order_by()
    return Counter(rows.values_list("state", flat=True))


def active_annotators(study: Study) -> list[Participant]:
    """Return the annotators who may be given something."""
    return [p for p in present_annotators(study) if p.state == Participant.State.ACTIVE]
