"""Places of a study: lists of items that wait for somebody, and who claims them.

A place is claimed with the study locked, so of two people who want it one gets it. It is free again
once its annotator has left; whoever claims it then gets what is left of its list.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotation.assignments.dealing import CHUNK, assign_items
from annotation.assignments.selectors import played_trajectory_ids
from annotation.models import Assignment, Invite, Item, Participant, Study, StudyPlace


def place_name(number: int) -> str:
    """Return the name of a place, which is also that of its list in the design."""
    return f"Annotator {number}"


def store_places(*, study: Study, lists: Sequence[Sequence[int]], before: int) -> None:
    """Store a place for each list of indices; index 0 is the item behind the first ``before``."""
    StudyPlace.objects.bulk_create(
        StudyPlace(study=study, number=number, ranks=[before + index + 1 for index in indices])
        for number, indices in enumerate(lists, 1)
    )


def first_places(study: Study, count: int) -> list[StudyPlace | None]:
    """Return the first ``count`` places of a study; None where there are fewer."""
    rows = list(StudyPlace.objects.filter(study=study).order_by("number")[:count])
    return [*rows, *[None] * (count - len(rows))]


def free_places(study: Study) -> QuerySet[Any, Any]:
    """Return the places that nobody has who takes part; those without an open link come first."""
    here = Participant.objects.filter(study=study, user=OuterRef("user"))
    rows = StudyPlace.objects.filter(study=study)
    rows = rows.exclude(Exists(here.exclude(state__in=Participant.GONE)))
    return rows.annotate(linked=Exists(open_links())).order_by("linked", "number")


def open_links() -> QuerySet[Invite]:
    """Return the links to a place that can be used; to be filtered by an outer query's places."""
    now = timezone.now()
    return Invite.objects.filter(
        study_place=OuterRef("pk"), used_at=None, revoked_at=None, expires_at__gt=now
    )


def left_items(place: StudyPlace) -> Iterator[Item]:
    """Yield the items of a place's list that fewer people hold than shall judge them, in order."""
    for start in range(0, len(place.ranks), CHUNK):
        ranks = place.ranks[start : start + CHUNK]
        rows = Item.objects.filter(study=place.study_id, rank__in=ranks, given__lt=F("wanted"))
        by_rank = {
            item.rank: item for item in rows.only("rank", "use", "trajectory", "other").order_by()
        }
        yield from (by_rank[rank] for rank in ranks if rank in by_rank)


def is_claimable(place: StudyPlace) -> bool:
    """Return whether something is left to judge of a free place's list, gold items not counted."""
    return any(item.use == Item.Use.MAIN for item in left_items(place))


class FreeList(NamedTuple):
    """A free place as managers see it: ``left`` of its ``items`` wait for whoever claims it;
    ``linked``: an open link leads to it.
    """

    name: str
    items: int
    left: int
    linked: bool


def free_lists(study: Study) -> list[FreeList]:
    """Return the free places of a study with something left to judge, by number."""
    rows = filter(is_claimable, free_places(study).order_by("number"))
    return [
        FreeList(
            name=place_name(place.number),
            items=len(place.ranks),
            left=sum(1 for _ in left_items(place)),
            linked=place.linked,
        )
        for place in rows
    ]


def unlinked_places(study: Study) -> list[StudyPlace]:
    """Return the free places with something left to judge to which no open link leads."""
    return [place for place in free_places(study).filter(linked=False) if is_claimable(place)]


def claim_place(*, study: Study, user: User, place: StudyPlace | None = None) -> StudyPlace | None:
    """Give somebody ``place``, or the next one where it is taken or not given; None without one.

    Called with the study locked, for somebody who has no place in it.
    """
    asked_for = free_places(study).filter(pk=place.pk).first() if place is not None else None
    claimed: StudyPlace | None = asked_for or _next_place(study, user)
    if claimed is not None:
        claimed.user, claimed.claimed_at = user, timezone.now()
        claimed.save(update_fields=["user", "claimed_at"])
    return claimed


def _next_place(study: Study, user: User) -> StudyPlace | None:
    """Return the first place without an item in which somebody played, or else the first."""
    claimable: Iterator[StudyPlace] = filter(is_claimable, free_places(study))
    first = next(claimable, None)
    played = set(played_trajectory_ids(user)) if first is not None else set()
    if first is None or not played:
        return first
    for place in (first, *claimable):
        if not any(item.trajectory_ids & played for item in left_items(place)):
            return place
    return first


def deal_place(*, study: Study, place: StudyPlace, user: User, by: User | None) -> None:
    """Give somebody what is left of a place's list, without what they had or played in."""
    had = set(Assignment.objects.filter(study=study, annotator=user).values_list("item", flat=True))
    played = set(played_trajectory_ids(user))
    items = [
        item
        for item in left_items(place)
        if item.pk not in had and not item.trajectory_ids & played
    ]
    if items:
        assign_items(
            study=study, items=items, dealt={user.pk: range(len(items))}, by=by, place=place.number
        )
