"""The questions that apply to an item: what a question needs, and what the item has."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby

from django.db.models import Count

from annotation.designs.pairs import split_pair
from annotation.models import Item, Study
from annotation.questionnaires import NEEDS, Question, Questionnaire
from benchmarks.core.registry import EXTERNAL
from benchmarks.models import Candidate, Constraint, Trajectory, Turn, Violation
from benchmarks.trajectories.messages import message_features

CHUNK = 500


def shows_marks(questionnaire: Questionnaire) -> bool:
    """Return whether its desk shows which conditions the judges found violated, plan by plan."""
    return {"plans", "findings"} <= questionnaire.shows


def item_contents(
    questionnaire: Questionnaire, keys: Iterable[int]
) -> tuple[dict[int, frozenset[str]], dict[int, dict[str, list[str]]]]:
    """Return what items have and the parts that questions are asked of, by trajectory, task or pair
    (`annotation.designs.pairs`). A pair has what both trajectories have, and no parts.
    """
    wanted, wants = list(keys), questionnaire.wants
    if questionnaire.unit == "task":
        return task_content(wanted), task_parts(wanted, wants)
    if questionnaire.unit == "pair":
        pairs = {key: split_pair(key) for key in wanted}
        has = trajectory_content(sorted(set(chain.from_iterable(pairs.values()))))
        return {key: has[a] & has[b] for key, (a, b) in pairs.items()}, {key: {} for key in wanted}
    return trajectory_content(wanted), trajectory_parts(wanted, wants)


def trajectory_content(trajectories: Iterable[int]) -> dict[int, frozenset[str]]:
    """Return for each trajectory which of the things that questions may need it has."""
    wanted = list(trajectories)
    content: dict[int, frozenset[str]] = {}
    for start in range(0, len(wanted), CHUNK):
        ids = wanted[start : start + CHUNK]
        imported = set(
            Trajectory.objects.filter(pk__in=ids, run__dataset__system=EXTERNAL).values_list(
                "pk", flat=True
            )
        )
        content |= _of_plans([pk for pk in ids if pk not in imported])
        content |= _of_talks([pk for pk in ids if pk in imported])
    return content


def _of_plans(ids: Sequence[int]) -> dict[int, frozenset[str]]:
    """Return the trajectories made here: plans with feedback, and what judges found violated."""
    content: dict[int, set[str]] = {pk: set() for pk in ids}
    turns = Turn.objects.filter(trajectory__in=ids)
    for pk in turns.exclude(feedback="").values_list("trajectory", flat=True).distinct():
        content[pk].add("feedback")
    for pk in turns.filter(is_final=True).values_list("trajectory", flat=True):
        content[pk].add("final_plan")
    violations = Violation.objects.filter(turn__trajectory__in=ids)
    for pk in violations.values_list("turn__trajectory", flat=True).distinct():
        content[pk].add("violations")
    for pk, parts in _conditions(ids).items():
        content[pk] |= {"profile", *(f"{kind}_constraints" for kind in parts)}
    return {pk: frozenset(things) for pk, things in content.items()}


def _of_talks(ids: Sequence[int]) -> dict[int, frozenset[str]]:
    """Return the trajectories made elsewhere: dialogues with tools. Read in turn, because they are
    long.
    """
    content = {pk: frozenset[str]() for pk in ids}
    if not ids:
        return content
    rows = (
        Turn.objects.filter(trajectory__in=ids)
        .order_by("trajectory", "index")
        .values_list("trajectory", "payload")
        .iterator(chunk_size=200)
    )
    for pk, turns in groupby(rows, key=lambda row: row[0]):
        content[pk] = message_features(payload for _, payload in turns)
    return content


def trajectory_parts(
    trajectories: Iterable[int], wants: frozenset[str]
) -> dict[int, dict[str, list[str]]]:
    """Return for each trajectory the parts that questions may be asked of, as far as they are
    wanted.

    ``turn``: the numbers of its turns. ``world`` and ``user``: the keys of its hidden conditions.
    """
    wanted = list(trajectories)
    parts_of: dict[int, dict[str, list[str]]] = {pk: {} for pk in wanted}
    for start in range(0, len(wanted), CHUNK):
        ids = wanted[start : start + CHUNK]
        if "turn" in wants:
            rows = Turn.objects.filter(trajectory__in=ids).order_by("trajectory", "index")
            for pk, index in rows.values_list("trajectory", "index"):
                parts_of[pk].setdefault("turn", []).append(str(index))
        if "constraint" in wants:
            for pk, parts in _conditions(ids).items():
                parts_of[pk] |= parts
    return parts_of


def _conditions(ids: Sequence[int]) -> dict[int, dict[str, list[str]]]:
    """Return the keys of the conditions that are in force in each trajectory, by kind.

    A run under ``world_only`` or ``user_only`` has the others in its profile, but nobody asks
    whether they are violated.
    """
    profiles: dict[int, list[tuple[int, str]]] = {}
    rows = Trajectory.objects.filter(pk__in=ids, profile__isnull=False)
    for pk, profile, settings in rows.values_list("pk", "profile", "run__settings"):
        profiles.setdefault(profile, []).append((pk, settings.get("constraints", "both")))
    conditions: dict[int, dict[str, list[str]]] = {}
    constraints = Constraint.objects.filter(profile__in=profiles).order_by("pk")
    for profile, kind, key in constraints.values_list("profile", "kind", "key"):
        for pk, condition in profiles[profile]:
            if condition in ("both", f"{kind}_only"):
                conditions.setdefault(pk, {}).setdefault(kind, []).append(key)
    return conditions


def task_content(tasks: Iterable[int]) -> dict[int, frozenset[str]]:
    """Return for each task which of the things that questions may need it has."""
    wanted = list(tasks)
    parts = task_parts(wanted, frozenset({"candidate"}))
    return {pk: frozenset({"candidates"} if parts[pk] else ()) for pk in wanted}


def task_parts(tasks: Iterable[int], wants: frozenset[str]) -> dict[int, dict[str, list[str]]]:
    """Return for each task the parts that questions may be asked of: the keys of its candidates."""
    wanted = list(tasks)
    parts: dict[int, dict[str, list[str]]] = {pk: {} for pk in wanted}
    if "candidate" not in wants:
        return parts
    for start in range(0, len(wanted), CHUNK):
        rows = Candidate.objects.filter(task__in=wanted[start : start + CHUNK]).order_by()
        # Sorted here: databases sort texts by the rules of different languages.
        for pk, key in sorted(rows.values_list("task", "key")):
            parts[pk].setdefault("candidate", []).append(key)
    return parts


@dataclass(frozen=True)
class QuestionUse:
    """A question of a study: how many items are asked it, and what the others lack."""

    question: Question
    items: int
    total: int
    lacks: tuple[str, ...]

    @property
    def left_out(self) -> int:
        return self.total - self.items

    @property
    def why(self) -> str:
        """The reason, such as ``have no feedback on a plan``."""
        words = [NEEDS[need] for need in self.lacks]
        return f"have no {' or no '.join(words)}" if words else ""


def asked_questions(
    questionnaire: Questionnaire, items: Mapping[tuple[str, ...], int]
) -> list[QuestionUse]:
    """Return every question of a questionnaire; ``items`` counts items by the keys that they are
    asked.
    """
    total = sum(items.values())
    rows = []
    for question in questionnaire.questions:
        lacks: Counter[str] = Counter()
        asked = 0
        for keys, count in items.items():
            if question.key in keys:
                asked += count
                continue
            has = {n for other in questionnaire.of_keys(keys) for n in other.needs}
            lacks.update(dict.fromkeys(sorted(question.needs - has), count))
        rows.append(QuestionUse(question, asked, total, tuple(n for n, _ in lacks.most_common())))
    return rows


def study_questions(study: Study, questionnaire: Questionnaire) -> list[QuestionUse]:
    """Return the questions of a study, as its items are asked them, each item once."""
    return asked_questions(questionnaire, asked_counts(study))


def asked_counts(study: Study) -> dict[tuple[str, ...], int]:
    """Return how many items of a study, gold among them, are asked the same questions."""
    rows = Item.objects.filter(study=study, use__in=(Item.Use.MAIN, Item.Use.GOLD)).order_by()
    counted = rows.values_list("asked").annotate(n=Count("pk"))
    return dict(sorted((tuple(keys), n) for keys, n in counted))
