"""Draw gold items for annotators who claim items from a pool.

A pool has one order for everybody. If gold items had fixed ranks in it, somebody who comes late,
when most items around them are taken, would meet several gold items in a row and recognise them. So
gold items are drawn for each annotator, item by item.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Q

from annotation.assignments.selectors import free_items, played_trajectory_ids
from annotation.designs.placement import is_gold_next
from annotation.models import Assignment, Item, Participant, Study
from benchmarks.core.digests import derive_seed

State = Assignment.State
# The key of a study's settings with the ranks of its gold items; no index finds them.
GOLD = "gold"


def gold_ranks(study: Study) -> list[int]:
    """Return the ranks of the gold items of a study."""
    kept: list[int] | None = study.settings.get(GOLD)
    if kept is None:  # made before they were kept
        rows = Item.objects.filter(study=study, use=Item.Use.GOLD).order_by("rank")
        return list(rows.values_list("rank", flat=True))
    return kept


class GoldCounts(NamedTuple):
    """The number of gold items that somebody holds or finished, and how these ended."""

    total: int = 0
    submitted: int = 0
    skipped: int = 0


def gold_counts(studies: Iterable[Study]) -> defaultdict[int, dict[int, GoldCounts]]:
    """Return the gold items of everybody, by study and user; no query if there is no gold.

    Counters of participants hold gold items too; what is told of judgements is without them.
    """
    by_study: defaultdict[int, dict[int, GoldCounts]] = defaultdict(dict)
    gold = [Q(study=study, rank__in=ranks) for study in studies if (ranks := gold_ranks(study))]
    if not gold:
        return by_study
    held = Assignment.objects.filter(
        item__in=Item.objects.filter(reduce(or_, gold)).order_by(), part=Assignment.Part.MAIN,
        state__in=(State.OPEN, State.SUBMITTED, State.SKIPPED),
    )  # fmt: skip
    rows = held.order_by().values_list("study", "annotator")
    for study, user, *counts in rows.annotate(
        total=Count("pk"),
        submitted=Count("pk", filter=Q(state=State.SUBMITTED)),
        skipped=Count("pk", filter=Q(state=State.SKIPPED)),
    ):
        by_study[study][user] = GoldCounts(*counts)
    return by_study


def draw_gold(study: Study, user: User, participant: Participant) -> Item | None:
    """Return the gold item that comes before this person's next item, drawn by the study's seed.

    None if no gold item comes now. Gold items are always free: everybody may have each of them.
    """
    ranks = gold_ranks(study)
    if not ranks:
        return None
    played = played_trajectory_ids(user)
    free = free_items(study, user, played).order_by("rank")
    following = free.filter(rank__gt=participant.cursor).first() or free.first()
    if following is None:
        return None
    gold = Item.objects.filter(study=study, rank__in=ranks)
    assignments = Assignment.objects.filter(annotator=user, item__in=gold)
    held = dict(assignments.values_list("item", "position"))
    if participant.assigned in held.values():
        return None  # the item before was one
    spare = [
        g
        for g in gold.order_by("rank")
        if g.pk not in held and g.trajectory_id not in played and g.other_id not in played
    ]
    comes = is_gold_next(
        seed=study.seed,
        annotator=participant.number,
        place=participant.assigned,
        had=len(held),
        spare=len(spare),
        done=participant.assigned - len(held),
        ahead=_probably_ahead(study, participant, following, ranks),
    )
    if not comes:
        return None
    return min(spare, key=lambda g: derive_seed(study.seed, "gold", participant.number, g.rank))


def _probably_ahead(
    study: Study, participant: Participant, following: Item, gold: Sequence[int]
) -> int:
    """Return how many items this person will probably judge, with the one that follows.

    An even share, among those who have begun, of what nobody has come to yet. It asks for single
    rows by their keys, however many items there are.
    """
    last = Item.objects.filter(study=study).order_by("-rank").values_list("rank", flat=True)[0]
    first = max(following.rank, participant.cursor + 1)
    behind = last - first + 1 - sum(first <= rank <= last for rank in gold)
    others = Participant.objects.filter(study=study, state=Participant.State.ACTIVE, assigned__gt=0)
    people = 1 + others.exclude(pk=participant.pk).count()
    ahead = min(behind, -(-behind * following.wanted // people))
    if participant.most_items is not None:
        ahead = min(ahead, participant.most_items - participant.submitted)
    return max(1, ahead)
