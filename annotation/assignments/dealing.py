"""Append items to people's lists."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max

from annotation.assignments.services import lock_study
from annotation.audit_log.events import record_event
from annotation.errors import Refused
from annotation.models import Assignment, Item, Study, StudyEvent

CHUNK = 500
Use, Part = Item.Use, Assignment.Part
PARTS = {
    Use.MAIN: Part.MAIN,
    Use.GOLD: Part.MAIN,
    Use.TRAINING: Part.TRAINING,
    Use.BACKGROUND: Part.BACKGROUND,
    Use.PLAYED: Part.MAIN,
}


def assign_items(
    *,
    study: Study,
    items: Sequence[Item],
    dealt: Mapping[int, Sequence[int]],
    by: User | None,
    place: int | None = None,
) -> None:
    """Append items to each person's list; ``dealt`` maps user id to indices of ``items``.

    The counters of assignments and people are brought up to date in the same transaction. The
    record names the ``place`` whose items they are.
    """
    with transaction.atomic():
        _assign(study, items, dealt, {} if place is None else {"place": place}, by)


def _assign(
    study: Study,
    items: Sequence[Item],
    dealt: Mapping[int, Sequence[int]],
    detail: Mapping[str, int],
    by: User | None,
) -> None:
    lock_study(study)  # items of two deals would else be locked in two orders
    people = {
        p.user_id: p
        for p in study.participants.filter(user__in=dealt).select_for_update(no_key=True)
    }
    last: dict[tuple[int, str], int] = {}
    parts = {PARTS[Use(items[place].use)] for places in dealt.values() for place in places}
    for user, part in product(dealt, {Part.MAIN, *parts}):
        last[user, part] = last_position(study, user, part)
    assignments: Counter[int] = Counter()
    assigned: list[Assignment] = []
    for user, places in dealt.items():
        for place in places:
            item = items[place]
            part = PARTS[Use(item.use)]
            last[user, part] += 1
            assignments[item.pk] += 1
            assigned.append(
                Assignment(
                    study=study,
                    item=item,
                    annotator_id=user,
                    trajectory_id=item.trajectory_id,
                    part=part,
                    position=last[user, part],
                )  # fmt: skip
            )
    Assignment.objects.bulk_create(assigned, batch_size=CHUNK)
    _count_given(assignments)
    for user, places in dealt.items():
        people[user].assigned = last[user, Part.MAIN]
        people[user].save(update_fields=["assigned"])
        record_event(
            study=study, kind=StudyEvent.Kind.ASSIGNED, by=by, about=user,
            detail={"items": len(places), **detail},
        )  # fmt: skip


def last_position(study: Study, user: int, part: str) -> int:
    """Return the position of somebody's last assignment in a part, 0 where they have none; by an
    index.
    """
    rows = Assignment.objects.filter(study=study, annotator=user, part=part)
    return rows.aggregate(last=Max("position"))["last"] or 0


def _count_given(assignments: Mapping[int, int]) -> None:
    """Raise each item's ``given`` counter by a conditional update."""
    for count in sorted(set(assignments.values())):
        ids = [pk for pk, wanted in assignments.items() if wanted == count]
        for start in range(0, len(ids), CHUNK):
            rows = Item.objects.filter(
                pk__in=ids[start : start + CHUNK], given__lte=F("wanted") - count
            )
            if rows.update(given=F("given") + count) < len(ids[start : start + CHUNK]):
                raise Refused("invalid", "an item was given to more people than it allows")
