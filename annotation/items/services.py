"""Extend an existing study: more items, more annotators per item, and new assignments."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, QuerySet

from annotation.assignments.dealing import assign_items
from annotation.assignments.services import lock_study
from annotation.audit_log.events import checked_reason, record_event
from annotation.designs.sampling import Sample, sample_options
from annotation.designs.types import DesignError
from annotation.errors import Refused
from annotation.models import Assignment, Item, Participant, Study, StudyEvent
from annotation.planning.sources import find_items, option_ids, unit_of
from annotation.plans.study_plan import MOST_ANNOTATORS, ItemSource, PlanError
from annotation.questionnaires import load_questionnaire
from annotation.studies.services import refuse_unless_stored
from annotation.studies.setup import NewItem, add_items
from benchmarks.asks.players import players
from benchmarks.core.schemas import Checked
from benchmarks.visibility import Visibility

Use, Kind = Item.Use, StudyEvent.Kind
SOURCES = Checked[ItemSource](ItemSource)


class DealResult(NamedTuple):
    """The number of free assignments given to each person (by id), and how many nobody could
    take.
    """

    given: Mapping[int, int]
    left: int

    @property
    def total(self) -> int:
        return sum(self.given.values())


def set_raters(*, item: Item, wanted: int, by: User, reason: str = "") -> None:
    """Say how many annotators shall judge one item; never fewer than hold an assignment now."""
    if item.use != Use.MAIN:
        raise Refused("invalid", "gold and training items are for everybody")
    _check_raters(wanted)
    with transaction.atomic():
        fresh = Item.objects.select_for_update(no_key=True).get(pk=item.pk)
        if fresh.wanted == wanted:
            return
        if wanted < fresh.given:
            words = f"{fresh.given} annotators hold this item; it cannot be fewer"
            raise Refused("conflict", words)
        Item.objects.filter(pk=item.pk).update(wanted=wanted)
        record_event(
            study=item.study_id, kind=Kind.CHANGED, by=by, reason=checked_reason(reason),
            detail={"item": item.rank, "raters": {"before": fresh.wanted, "after": wanted}},
        )  # fmt: skip


def raise_raters(*, study: Study, wanted: int, by: User, reason: str = "") -> int:
    """Let all items have at least so many annotators; returns how many items changed."""
    _check_raters(wanted)
    refuse_unless_stored(study)
    with transaction.atomic():
        lock_study(study)
        rows = study.items.filter(use=Use.MAIN, wanted__lt=wanted)
        count = rows.update(wanted=wanted)
        if count:
            record_event(
                study=study, kind=Kind.CHANGED, by=by, reason=checked_reason(reason),
                detail={"raters": wanted, "items": count},
            )  # fmt: skip
        return count


def add_from_source(
    *,
    study: Study,
    source: ItemSource,
    count: int | None,
    raters: int,
    by: User,
    seen: Visibility,
) -> int:
    """Add what ``source`` has and the study has not, all of it or ``count`` drawn by its seed.

    New items stand behind the others. In a pool they are taken from now on; otherwise their
    assignments are free until `assign_free_items`. Returns how many were added.
    """
    _check_raters(raters)
    refuse_unless_stored(study)
    questionnaire = load_questionnaire(study.questionnaire)
    with transaction.atomic():
        lock_study(study)  # else two would add the same ones
        try:
            source_items = find_items(source, questionnaire, seen)
            known = option_ids(study.items.all(), questionnaire)
            fresh = [option for option in source_items.options if option.id not in known]
            if not fresh:
                raise Refused("invalid", "every item of the source is already in the study")
            sample = Sample() if count is None else Sample(way="total", count=count)
            chosen = sample_options(options=fresh, sample=sample, seed=study.seed).options
        except PlanError as error:
            raise Refused("invalid", "; ".join(p.words for p in error.problems)) from None
        except DesignError as error:
            raise Refused("invalid", "; ".join(error.problems)) from None
        new = [NewItem(**unit_of(questionnaire, option.id), wanted=raters) for option in chosen]
        add_items(study=study, items=new)
        record_event(
            study=study, kind=Kind.CHANGED, by=by,
            detail={
                "added": len(new), "raters": raters, "seed": study.seed, "count": count,
                "source": SOURCES.write(source),
            },
        )  # fmt: skip
    return len(new)


def assign_free_items(*, study: Study, people: Sequence[User], by: User) -> DealResult:
    """Give the free assignments of a dealt study to chosen people, as evenly as can be.

    Nobody gets an item that they have or had, or in which they played.
    """
    if study.dealing == Study.Dealing.POOL:
        raise Refused("invalid", "in a pool, annotators take items themselves; nothing is assigned")
    if not people:
        raise Refused("invalid", "select at least one annotator")
    refuse_unless_stored(study)
    with transaction.atomic():
        lock_study(study)
        active = set(
            Participant.objects.filter(study=study, state=Participant.State.ACTIVE).values_list(
                "user", flat=True
            )
        )
        away = [user.get_username() for user in people if user.pk not in active]
        if away:
            raise Refused("invalid", f"not active in this study: {', '.join(away)}")
        items = list(unassigned_slots(study))
        dealt, left = _spread(study, items, people)
        given = {user: len(places) for user, places in dealt.items() if places}
        assign_items(study=study, items=items, dealt={user: dealt[user] for user in given}, by=by)
    return DealResult(given, left)


def unassigned_slots(study: Study) -> QuerySet[Item]:
    """Return the items that fewer people hold than shall judge them."""
    rows = Item.objects.filter(study=study, use=Use.MAIN, given__lt=F("wanted"))
    return rows.order_by("rank")


def _spread(
    study: Study, items: Sequence[Item], people: Sequence[User]
) -> tuple[dict[int, list[int]], int]:
    """Give each assignment to whom has the fewest new ones so far: person → places in ``items``."""
    ids = [user.pk for user in people]
    had: dict[int, set[int]] = {pk: set() for pk in ids}
    rows = Assignment.objects.filter(study=study, annotator__in=ids)
    for user, pk in rows.order_by().values_list("annotator", "item"):
        had[user].add(pk)
    played = players(people)
    dealt: dict[int, list[int]] = {pk: [] for pk in ids}
    left = 0
    for place, item in enumerate(items):
        shown = {item.trajectory_id, item.other_id}
        free = [pk for pk in ids if item.pk not in had[pk] and not shown & played[pk]]
        free.sort(key=lambda pk: len(dealt[pk]))  # stable: as they were chosen
        assignments = item.wanted - item.given
        for pk in free[:assignments]:
            dealt[pk].append(place)
        left += max(0, assignments - len(free))
    return dealt, left


def _check_raters(wanted: int) -> None:
    if not 1 <= wanted <= MOST_ANNOTATORS:
        raise Refused("invalid", f"an item has 1 to {MOST_ANNOTATORS} annotators, not {wanted}")
