"""Training and gold items on the pages of a new study: which there are, and what they hold."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotation.models import Item
from annotation.planning.source_choices import SourceChoice
from annotation.planning.sources import usable_trajectories
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.requirements import what_tasks_have, what_trajectories_have
from benchmarks.core.digests import storable
from benchmarks.models import Task, Trajectory
from benchmarks.visibility import Visibility

MOST_SHOWN = 60
LONGEST_FIND = 200


@dataclass(frozen=True)
class ItemChoice:
    """An item that can be chosen, in words."""

    pk: int
    task: str
    prompt: str
    agent: str = ""
    turns: int | None = None
    ending: str = ""
    use: str = ""
    expected: int = 0

    @property
    def is_task(self) -> bool:
        return self.turns is None


def choosable_items(
    chosen: SourceChoice,
    questionnaire: str,
    seen: Visibility,
    *,
    taken: Collection[int],
    find: str = "",
    held: QuerySet[Item] | None = None,
) -> list[ItemChoice]:
    """The first items of a source that the questionnaire can ask something about.

    Left out are those ``taken``, by id, and what a study asks about in the items ``held``.
    """
    # SQLite refuses patterns above 50,000 bytes, PostgreSQL those with NUL.
    find = storable(find)[:LONGEST_FIND]
    items = Item.objects.none() if held is None else held.order_by()
    about = load_questionnaire(questionnaire)
    if chosen.unit == "task":
        tasks = items.filter(trajectory=None, task__isnull=False).values("task")
        rows = _tasks(chosen, seen).exclude(pk__in=taken).exclude(pk__in=tasks)
        if find:
            rows = rows.filter(external_id__icontains=find)
        found = [_task_choice(task) for task in rows.order_by("pk")[:MOST_SHOWN]]
        has = what_tasks_have([choice.pk for choice in found])
    else:
        held_ones = items.filter(trajectory__isnull=False).values("trajectory")
        pool = _trajectories(chosen, seen).exclude(pk__in=taken).exclude(pk__in=held_ones)
        if find:
            pool = pool.filter(task__external_id__icontains=find)
        found = [_choice(row) for row in pool.order_by("task", "pk").distinct()[:MOST_SHOWN]]
        has = what_trajectories_have([choice.pk for choice in found])
    return [choice for choice in found if about.asked(has[choice.pk])]


def special_rows(
    specials: Sequence[Mapping[str, Any]], chosen: SourceChoice, seen: Visibility
) -> list[ItemChoice]:
    """The training and gold items chosen so far, in their order."""
    ids = [row["item"] for row in specials]
    if not ids:
        return []
    if chosen.unit == "task":
        known = {t.pk: _task_choice(t) for t in _tasks(chosen, seen).filter(pk__in=ids)}
    else:
        rows = seen.of(Trajectory.objects.filter(pk__in=ids)).select_related("task", "run__agent")
        known = {row.pk: _choice(row) for row in rows}
    return [
        ItemChoice(
            **{**vars(known[row["item"]]), "use": row["use"], "expected": len(row["expected"])}
        )
        for row in specials
        if row["item"] in known
    ]


def _tasks(chosen: SourceChoice, seen: Visibility) -> Any:
    return seen.of(Task.objects.filter(dataset=int(chosen.source.dataset)))


def _trajectories(chosen: SourceChoice, seen: Visibility) -> Any:
    rows = usable_trajectories(list(chosen.runs(seen).values_list("pk", flat=True)))
    return rows.select_related("task", "run__agent")


def _task_choice(task: Task) -> ItemChoice:
    return ItemChoice(task.pk, task.external_id, task.prompt)


def _choice(row: Trajectory) -> ItemChoice:
    return ItemChoice(
        row.pk, row.task.external_id, row.task.prompt, row.run.agent.title, row.turn_count,
        row.termination,
    )  # fmt: skip
