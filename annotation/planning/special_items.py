"""Resolve the training and gold items of a plan, and check their expected answers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, groupby, islice
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.designs.pairs import pair_id, split_pair
from annotation.errors import Refused
from annotation.models import Aspect, Item
from annotation.planning.source_choices import SourceChoice
from annotation.planning.sources import SourceItems, option_ids, usable_trajectories
from annotation.plans.study_plan import PlanError, PlanProblem, SpecialItem, StudyPlan
from annotation.questionnaires import Questionnaire, load_questionnaire
from annotation.questionnaires.decisions import VIOLATED, decision_mark
from annotation.questionnaires.requirements import item_contents
from annotation.questionnaires.types import Slot
from annotation.ratings.checks import check_answer
from benchmarks.core.digests import storable
from benchmarks.models import Run, Task, Trajectory
from benchmarks.visibility import Visibility

LONGEST_WHY = 1000


@dataclass(frozen=True)
class ResolvedSpecial:
    """A training or gold item that was found. ``path`` is where the plan names it."""

    pk: int
    path: str
    expected: Mapping[str, Any]
    slots: Sequence[Slot] = ()
    subjects: Mapping[str, Sequence[str]] = field(default_factory=dict)


def find_specials(
    plan: StudyPlan, questionnaire: Questionnaire, source_items: SourceItems, seen: Visibility
) -> tuple[list[ResolvedSpecial], list[ResolvedSpecial]]:
    """Return the plan's training and its gold items; PlanError names every one that does not
    fit.
    """
    named = [(f"training[{n}]", item) for n, item in enumerate(plan.training, 1)]
    lessons = len(named)
    named += [(f"gold[{n}]", item) for n, item in enumerate(plan.gold, 1)]
    if not named:
        return [], []
    problems: list[PlanProblem] = []
    keys: dict[str, int] = {}
    for path, item in named:
        try:
            keys[path] = _find(path, item, questionnaire, source_items, seen)
        except PlanError as error:
            problems += error.problems
    first: dict[Any, str] = {}
    for path, pk in keys.items():
        # The same two trajectories are one pair, whichever comes first.
        same = frozenset(split_pair(pk)) if questionnaire.unit == "pair" else pk
        if first.setdefault(same, path) != path:
            problems.append(PlanProblem(path, f"is the same item as {first[same]}"))
    shapes = item_shapes(questionnaire, list(keys.values()))
    specials = [
        ResolvedSpecial(keys[path], path, item.expected, *shapes[keys[path]])
        for path, item in named
        if path in keys
    ]
    for special in specials:
        problems += check_expected(questionnaire, special)
    if problems:
        raise PlanError(problems)
    return specials[:lessons], specials[lessons:]


def item_shapes(
    questionnaire: Questionnaire, keys: Sequence[int]
) -> dict[int, tuple[list[Slot], dict[str, list[str]]]]:
    """Return for each item its places for answers, and the parts that questions are asked of."""
    has, parts = item_contents(questionnaire, keys)
    return {
        pk: (list(questionnaire.slots(questionnaire.asked(has[pk]), parts[pk])), parts[pk])
        for pk in keys
    }


def _find(
    path: str,
    item: SpecialItem,
    questionnaire: Questionnaire,
    source_items: SourceItems,
    seen: Visibility,
) -> int:
    if questionnaire.unit == "task":
        return _find_task(path, item, source_items, seen)
    if questionnaire.unit == "pair":
        return _find_pair(path, item, questionnaire, seen)
    if item.other is not None:
        raise _wrong(path, f"{questionnaire.id} asks about one trajectory, not about two")
    rows = seen.of(Trajectory.objects.filter(judged=None))
    if item.trajectory is not None:
        if item.task or item.agent or item.level or item.attempt is not None:
            raise _wrong(path, "give a trajectory by its id, or a task and who made it, not both")
        rows = rows.filter(pk=item.trajectory, run__dataset__system=questionnaire.system)
    elif not item.task:
        raise _wrong(path, "say which item: a trajectory by its id, or a task and an agent")
    else:
        rows = rows.filter(task__external_id=item.task, run__dataset__in=source_items.datasets)
        if item.agent:
            rows = rows.filter(run__agent__name=item.agent)
        if item.level:
            rows = rows.filter(run__level=item.level)
        if item.attempt is not None:
            rows = rows.filter(attempt=item.attempt)
        # where several runs would do, those that the study is about
        here = rows.filter(run__in=source_items.runs)
        rows = here if here.exists() else rows
    runs = Run.objects.filter(pk__in=rows.order_by().values("run"))
    keys = usable_trajectories(list(runs.values_list("pk", flat=True)))
    chosen = list(rows.filter(pk__in=keys.values("pk")).order_by("pk").values_list("pk", flat=True))
    if not chosen:
        raise _wrong(path, "there is no such trajectory that has ended with something to judge")
    if len(chosen) > 1:
        words = f"{len(chosen)} trajectories are meant; name agent, level and attempt, or the id"
        raise _wrong(path, words)
    return chosen[0]


def _find_pair(path: str, item: SpecialItem, questionnaire: Questionnaire, seen: Visibility) -> int:
    if item.trajectory is None or item.other is None:
        raise _wrong(path, "name both trajectories of a pair by their ids: trajectory and other")
    rows = seen.of(
        Trajectory.objects.filter(
            judged=None, pk__in=(item.trajectory, item.other),
            run__dataset__system=questionnaire.system,
        )
    )  # fmt: skip
    runs = list(rows.order_by().values_list("run", flat=True))
    rows = rows.filter(pk__in=usable_trajectories(runs).values("pk"))
    sides = {
        pk: (same, agent)
        for pk, agent, *same in rows.values_list("pk", "run__agent", "task", "run__level")
    }
    if len(sides) < 2:
        raise _wrong(path, "there are no such two trajectories that have ended to judge")
    (one, agent), (other, against) = sides.values()
    if one != other or agent == against:
        raise _wrong(path, "a pair is of one task and level, by two agents")
    return pair_id(item.trajectory, item.other)


def _find_task(path: str, item: SpecialItem, source_items: SourceItems, seen: Visibility) -> int:
    if not item.task or item.trajectory is not None or item.agent or item.level or item.attempt:
        raise _wrong(path, "this study is about tasks: name the task alone")
    rows = seen.of(Task.objects.filter(dataset__in=source_items.datasets, external_id=item.task))
    keys = list(rows.values_list("pk", flat=True))
    if len(keys) != 1:
        raise _wrong(path, f"there {'is no' if not keys else 'are several'} task {item.task!r}")
    return keys[0]


def _wrong(path: str, words: str) -> PlanError:
    return PlanError([PlanProblem(path, words)])


def check_expected(questionnaire: Questionnaire, special: ResolvedSpecial) -> Iterator[PlanProblem]:
    """Yield what is wrong with the expected answers of an item, slot by slot."""
    slots = {slot.name: slot for slot in special.slots}
    if not special.slots:
        yield PlanProblem(special.path, "has nothing that is asked about")
        return
    if not special.expected:
        yield PlanProblem(special.path, "say at least one expected answer")
    for name, what in special.expected.items():
        path = f"{special.path}.expected.{name}"
        slot = slots.get(name)
        if slot is None:
            there = ", ".join(list(slots)[:5])
            yield PlanProblem(path, f"this item has no such place; it has {there}…")
            continue
        yield from _answer_problems(path, what, slot, special, questionnaire)


def _answer_problems(
    path: str, what: Any, slot: Slot, special: ResolvedSpecial, questionnaire: Questionnaire
) -> Iterator[PlanProblem]:
    if not isinstance(what, Mapping) or not set(what) <= {"values", "chosen", "why"}:
        yield PlanProblem(path, "expected values or chosen, and why if you like")
        return
    why = what.get("why", "")
    if not isinstance(why, str) or len(why) > LONGEST_WHY:
        yield PlanProblem(f"{path}.why", f"expected a text of at most {LONGEST_WHY} characters")
    kind = slot.question.scale.kind
    if kind == "text":
        yield PlanProblem(path, "an answer in words cannot be expected")
        return
    wanted = "chosen" if kind == "marks" else "values"
    if ("chosen" in what) == ("values" in what) or wanted not in what:
        yield PlanProblem(path, f"give {wanted}, a list of what is right here")
        return
    given = what[wanted]
    if not isinstance(given, list) or (wanted == "values" and not given):
        yield PlanProblem(f"{path}.{wanted}", "expected a list")
        return
    item = Item(asked=[slot.question.key], subjects=dict(special.subjects))
    if slot.question.scale.each:
        given = [decision_mark(key, VIOLATED) for key in given]
    tries: list[tuple[int | None, list[Any] | None]] = (
        [(None, given)] if wanted == "chosen" else [(value, None) for value in given]
    )
    for value, chosen in tries:
        try:
            check_answer(
                item=item, questionnaire=questionnaire, question=slot.question.key,
                subject=slot.subject, aspect=Aspect.ANSWER, value=value, chosen=chosen, text="",
            )  # fmt: skip
        except Refused as refused:
            yield PlanProblem(f"{path}.{wanted}", refused.reason)
            return


MOST_SHOWN = 60
LONGEST_FIND = 200


class ItemChoice(NamedTuple):
    """An item that can be chosen, in words; a pair has two ``trajectories``, a task none."""

    pk: int
    task: str
    prompt: str
    trajectories: Sequence[Trajectory] = ()
    use: str = ""
    expected: int = 0

    @property
    def agent(self) -> str:
        return " – ".join(row.run.agent.title for row in self.trajectories)


def choosable_items(
    chosen: SourceChoice,
    questionnaire: str,
    seen: Visibility,
    *,
    taken: Collection[int],
    find: str = "",
    held: QuerySet[Item] | None = None,
) -> list[ItemChoice]:
    """Return the first items of a source that the questionnaire can ask something about.

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
        choices = [_task_choice(task) for task in rows.order_by("pk")[:MOST_SHOWN]]
    else:
        pool = _trajectories(chosen, seen).distinct()
        if find:
            pool = pool.filter(task__external_id__icontains=find)
        if about.unit == "pair":
            known = {*taken, *option_ids(items, about)}
            pairs = (row for row in _pairs(pool) if row.pk not in known)
            choices = list(islice(pairs, MOST_SHOWN))
        else:
            held_ones = items.filter(trajectory__isnull=False).values("trajectory")
            pool = pool.exclude(pk__in=taken).exclude(pk__in=held_ones)
            choices = [_choice(row) for row in pool.order_by("task", "pk")[:MOST_SHOWN]]
    has, _ = item_contents(about, [choice.pk for choice in choices])
    return [choice for choice in choices if about.asked(has[choice.pk])]


def _pairs(pool: QuerySet[Trajectory]) -> Iterator[ItemChoice]:
    """Yield the pairs of trajectories of a task and level by different agents."""
    rows = pool.order_by("task", "run__level", "pk").iterator()
    for _, group in groupby(rows, key=lambda row: (row.task_id, row.run.level)):
        for first, second in combinations(group, 2):
            if first.run.agent_id != second.run.agent_id:
                yield _choice(first, second)


def special_rows(
    specials: Sequence[Mapping[str, Any]], chosen: SourceChoice, seen: Visibility
) -> list[ItemChoice]:
    """Return the training and gold items chosen so far, in their order."""
    ids = [row["item"] for row in specials]
    if not ids:
        return []
    if chosen.unit == "task":
        known = {t.pk: _task_choice(t) for t in _tasks(chosen, seen).filter(pk__in=ids)}
    else:
        # An id below those of pairs is that of a trajectory alone.
        sides = {pk: [side for side in split_pair(pk) if side] for pk in ids}
        wanted = set(chain.from_iterable(sides.values()))
        rows = seen.of(Trajectory.objects.filter(pk__in=wanted)).select_related(
            "task", "run__agent"
        )
        by_id = {row.pk: row for row in rows}
        known = {
            pk: _choice(*(by_id[side] for side in pair))
            for pk, pair in sides.items()
            if by_id.keys() >= set(pair)
        }
    return [
        known[row["item"]]._replace(use=row["use"], expected=len(row["expected"]))
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


def _choice(*rows: Trajectory) -> ItemChoice:
    """Return one trajectory, or two that are a pair."""
    task, pk = rows[0].task, rows[0].pk
    if len(rows) == 2:
        pk = pair_id(pk, rows[1].pk)
    return ItemChoice(pk, task.external_id, task.prompt, rows)
