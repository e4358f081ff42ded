"""The items of a study page by page, with their assignments.

People who oversee the study may see assignments and progress. Whether they see answers and agents
depends on their role and on blinding.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, F, QuerySet
from django.db.models.functions import Substr
from django.http import QueryDict

from annotation.access import StudyAccess
from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study
from benchmarks.models import Task, Trajectory
from benchmarks.paging import RowPage, page_by_id
from benchmarks.visibility import Visibility

State, Use = Assignment.State, Item.Use
SIZE = 50
TITLE = 120
ALL, FREE, SKIPPED = "", "free", "skipped"
FILTERS = {ALL: "All", FREE: "Unassigned", SKIPPED: "Skipped"}


class ItemAssignmentRow(NamedTuple):
    """One person's assignment of an item; ``skip_reason`` is None where it is hidden."""

    number: int
    username: str
    state: str
    label: str
    position: int
    seconds: float
    at: datetime | None
    leased_until: datetime | None
    skip_reason: str | None


class ItemRow(NamedTuple):
    """An item in the list. ``wanted`` is None where everybody gets it.

    ``agent`` and ``flags`` are None, and ``reasons`` for skipping left out, where they are closed
    to the reader.
    """

    rank: int
    use: str
    title: str
    agent: str | None
    trajectory: int | None
    wanted: int | None
    given: int
    done: int
    skipped: int
    flags: int | None
    reasons: tuple[str, ...] = ()

    @property
    def free(self) -> int:
        return 0 if self.wanted is None else self.wanted - self.given


class ItemPage(NamedTuple):
    """A page of the list; ``mark`` changes when something on it does."""

    rows: Sequence[ItemRow]
    previous_url: str
    next_url: str
    mark: str


def item_page(access: StudyAccess, params: QueryDict, seen: Visibility) -> ItemPage:
    """Return one page of a study's items by their numbers, in five queries however many there
    are.
    """
    items = chosen_items(access.study, params)
    page: RowPage[Item] = page_by_id(items, params, size=SIZE, newest=False, key="rank")
    rows = item_rows(access, page.rows, seen)
    mark = hashlib.sha256(repr(rows).encode()).hexdigest()[:16]
    return ItemPage(rows, page.previous_url, page.next_url, mark)


def chosen_items(study: Study, params: QueryDict) -> QuerySet[Item]:
    """Return the items that the list shows: all, those with a free assignment, or skipped ones."""
    items = counted_items(study)
    chosen = params.get("show", ALL)
    if chosen == FREE:
        return items.filter(use=Use.MAIN, given__lt=F("wanted"))
    if chosen == SKIPPED:
        skipped = Assignment.objects.filter(study=study, state=State.SKIPPED)
        return items.filter(pk__in=skipped.order_by().values("item"))
    return items


def counted_items(study: Study) -> QuerySet[Item]:
    """Return the items of a study, those about the annotators themselves apart."""
    return Item.objects.filter(study=study).exclude(use=Use.BACKGROUND)


def item_rows(access: StudyAccess, items: Sequence[Item], seen: Visibility) -> list[ItemRow]:
    """Return these items as the list shows them to this person."""
    ids = [item.pk for item in items]
    skipped = _skipped(ids)
    titles = _titles([item.task_id for item in items if item.task_id is not None])
    open_to = _agents(items, seen) if access.reads_answers else {}
    flags = _flags([item.pk for item in items if item.pk in open_to])
    return [
        ItemRow(
            rank=item.rank,
            use=item.use,
            title=titles.get(item.task_id or 0, ""),
            agent=open_to.get(item.pk),
            trajectory=item.trajectory_id if item.pk in open_to else None,
            wanted=item.wanted if item.use == Use.MAIN else None,
            given=item.given,
            done=item.done,
            skipped=len(skipped[item.pk]),
            flags=flags[item.pk] if item.pk in open_to else None,
            reasons=tuple(skipped[item.pk]) if item.pk in open_to else (),
        )
        for item in items
    ]


def item_assignments(access: StudyAccess, item: Item, *, closed: bool) -> list[ItemAssignmentRow]:
    """Return everybody who holds or held an item. ``closed``: what they wrote is not shown."""
    numbers = dict(Participant.objects.filter(study=access.study).values_list("user", "number"))
    rows = Assignment.objects.filter(item=item).select_related("annotator").order_by("pk")
    shown = access.reads_answers and not closed
    return [
        ItemAssignmentRow(
            number=numbers.get(row.annotator_id, 0),
            username=row.annotator.get_username(),
            state=row.state,
            label=row.get_state_display(),
            position=row.position,
            seconds=row.active_ms / 1000,
            at=row.submitted_at,
            leased_until=row.leased_until,
            skip_reason=row.skip_reason if shown else None,
        )
        for row in rows
    ]


def _skipped(ids: Sequence[int]) -> dict[int, list[str]]:
    """Return why each item was skipped, once for everybody who skipped it."""
    reasons: dict[int, list[str]] = defaultdict(list)
    rows = Assignment.objects.filter(item__in=ids, state=State.SKIPPED).order_by("pk")
    for item, reason in rows.values_list("item", "skip_reason"):
        reasons[item].append(reason)
    return reasons


def _titles(tasks: Sequence[int]) -> dict[int, str]:
    rows = Task.objects.filter(pk__in=tasks).order_by()
    return dict(rows.annotate(title=Substr("prompt", 1, TITLE)).values_list("pk", "title"))


def _agents(items: Sequence[Item], seen: Visibility) -> Mapping[int, str]:
    """Return who made each item (empty for a task), of those that are not closed to the reader."""
    trajectories = [item.trajectory_id for item in items if item.trajectory_id is not None]
    rows = seen.of(Trajectory.objects.filter(pk__in=trajectories)).order_by()
    names = dict(rows.values_list("pk", "run__agent__title"))
    asked = [item.task_id for item in items if item.trajectory_id is None]
    tasks: set[int] = set()
    if asked:
        visible = seen.of(Task.objects.filter(pk__in=[pk for pk in asked if pk is not None]))
        tasks = set(visible.order_by().values_list("pk", flat=True))
    return {
        item.pk: names[item.trajectory_id] if item.trajectory_id is not None else ""
        for item in items
        if item.trajectory_id in names or (item.trajectory_id is None and item.task_id in tasks)
    }


def _flags(ids: Sequence[int]) -> Counter[int]:
    rows = Rating.objects.filter(assignment__item__in=ids, aspect=Aspect.FLAG, value=1)
    flags: dict[int, int] = defaultdict(int)
    for item, n in rows.order_by().values_list("assignment__item").annotate(n=Count("pk")):
        flags[item] += n
    return Counter(flags)
