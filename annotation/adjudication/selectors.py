"""Questions on which people disagree as an adjudicator sees them, and decisions on them.

Decisions are those of adjudicators, and, where they may be seen, those of judges and checkers.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.adjudication.disagreement import Disagreement, compared_ratings
from annotation.models import Adjudication, Aspect, Assignment, Item, Rating, Study, StudyEvent
from annotation.plans.adjudication_rule import RATERS_FIRST, adjudicator_sees
from annotation.questionnaires import Questionnaire, Slot
from annotation.questionnaires.decisions import mark_text, telling_marks
from annotation.ratings.checks import answer_text, markable
from annotation.ratings.voting import VoteOutcome, marked_by_majority, vote_outcome
from benchmarks.core.digests import derive_seed
from benchmarks.models import Candidate, Constraint, JudgeScore, Turn, Violation

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


DECISIONS: Mapping[str, str] = {
    Candidate.Decision.KEPT: "keep",
    Candidate.Decision.REMOVED: "remove",
}


class RaterView(NamedTuple):
    """The answer of one rater at a place, under a letter; ``own``: the reader is this rater."""

    letter: str
    answer: str
    marks: Sequence[str]
    comment: str
    flag: str
    quotes: Sequence[str]
    remark: str
    own: bool
    unblinded: bool


@dataclass(frozen=True)
class ConditionTally:
    """The number of raters who marked a condition; ``tied``: exactly half of them."""

    text: str
    count: int
    raters: int
    majority: bool
    tied: bool


class QueueRow(NamedTuple):
    """A line of the queue."""

    place: Disagreement
    name: str
    title: str
    part: str
    prompt: str
    answers: Sequence[str]
    decided: bool


class AdjudicationResult(NamedTuple):
    """The decision of an adjudicator about a place. ``revealed``: after seeing the judges'."""

    item: int
    rank: int
    trajectory: int | None
    task: int | None
    question: str
    subject: str
    value: int | None
    chosen: list[Any] | None
    reason: str
    by: int
    by_name: str
    at: datetime
    revealed: bool


def adjudicated(study: Study) -> Iterator[AdjudicationResult]:
    """Yield the decision that counts of every decided place: the latest. Ratings stay beside it."""
    later = Adjudication.objects.filter(
        item=OuterRef("item"), question=OuterRef("question"), subject=OuterRef("subject"),
        pk__gt=OuterRef("pk"),
    )  # fmt: skip
    rows = Adjudication.objects.filter(~Exists(later), item__study=study)
    fields = (
        "item", "item__rank", "item__trajectory", "item__task", "question", "subject", "value",
        "chosen", "reason", "by", "by__username", "at", "revealed",
    )  # fmt: skip
    ordered = rows.order_by("item__rank", "question", "subject")
    for row in ordered.values_list(*fields).iterator():
        yield AdjudicationResult(*row)


# --- One place ------------------------------------------------------------------------------------


def find_slot(item: Item, questionnaire: Questionnaire, name: str) -> Slot | None:
    """Return the place of an item with this name that people can disagree about."""
    slots = questionnaire.slots(item.asked, item.subjects)
    match = next((slot for slot in slots if slot.name == name), None)
    return None if match is None or match.question.scale.kind in ("text", "spans") else match


def place_ratings(item: Item, slot: Slot) -> QuerySet[Rating]:
    """Return the submitted answers at a place, of people who did not withdraw."""
    answered = Q(value__isnull=False) | Q(chosen__isnull=False)
    rows = compared_ratings(item.study).filter(answered, assignment__item=item)
    return rows.filter(question=slot.question.key, subject=slot.subject).order_by("pk")


def raters_of(item: Item, slot: Slot, texts: Mapping[str, str], user: User) -> list[RaterView]:
    """Return everybody who answered at a place, under letters that tell nothing of who they are.

    The letters are drawn for each item anew, so that nobody can be followed from item to item.
    """
    everybody = Assignment.objects.filter(item=item, state=Assignment.State.SUBMITTED).order_by()
    ids = sorted(
        everybody.values_list("pk", flat=True),
        key=lambda pk: derive_seed(item.study.seed, "adjudication", item.pk, pk),
    )
    here = Q(question=slot.question.key, subject=slot.subject) | Q(question="")
    ratings: dict[int, dict[tuple[str, bool], Rating]] = {}
    rows = Rating.objects.filter(here, assignment__in=ids).select_related("assignment", "edit")
    for row in rows:
        ratings.setdefault(row.assignment_id, {})[row.aspect, bool(row.question)] = row
    answering = set(place_ratings(item, slot).values_list("assignment", flat=True))
    views, scale = [], slot.question.scale
    for place, pk in enumerate(ids):
        if pk not in answering:
            continue
        by_aspect = ratings[pk]
        answer = by_aspect[Aspect.ANSWER, True]
        views.append(
            RaterView(
                letter=letter(place),
                answer=answer_text(slot.question, answer, texts),
                marks=[
                    mark_text(scale, mark, texts)
                    for mark in telling_marks(scale, answer.chosen or [])
                ],
                comment=_text(by_aspect.get((Aspect.COMMENT, True))),
                flag=_flag(by_aspect.get((Aspect.FLAG, True))),
                quotes=_quotes(by_aspect.get((Aspect.EVIDENCE, True))),
                remark=_text(by_aspect.get((Aspect.COMMENT, False))),
                own=answer.assignment.annotator_id == user.pk,
                unblinded=answer.edit.unblinded,
            )
        )
    return views


def letter(place: int) -> str:
    """Return the letter of a rater: A to Z, then AA and so on."""
    more, last = divmod(place, len(LETTERS))
    return (letter(more - 1) if more else "") + LETTERS[last]


def texts_of(item: Item, slot: Slot) -> dict[str, str]:
    """Return the conditions that can be marked, or the candidate that is asked about, by key."""
    if slot.question.about == "candidate":
        rows = Candidate.objects.filter(task=item.task_id, key=slot.part)
        return dict(rows.values_list("key", "text"))
    if slot.question.scale.kind != "marks" or item.trajectory is None:
        return {}
    constraints = Constraint.objects.filter(profile=item.trajectory.profile_id)
    return dict(constraints.order_by("pk").values_list("key", "text"))


def _text(row: Rating | None) -> str:
    return row.text if row is not None else ""


def _flag(row: Rating | None) -> str:
    return row.text if row is not None and row.value else ""


def _quotes(row: Rating | None) -> list[str]:
    return [span["quote"] for span in (row.chosen or [])] if row is not None else []


def tallies_of(
    slot: Slot, ratings: Sequence[Rating], texts: Mapping[str, str]
) -> list[ConditionTally]:
    """Return how many raters marked each condition, the most marked first; empty where none is
    marked.
    """
    if slot.question.scale.kind != "marks":
        return []
    scale = slot.question.scale
    sets = [telling_marks(scale, rating.chosen or []) for rating in ratings]
    marked, tied = marked_by_majority(sets)
    counts = Counter(key for chosen in sets for key in set(chosen))
    return [
        ConditionTally(mark_text(scale, key, texts), count, len(sets), key in marked, key in tied)
        for key, count in sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    ]


def vote_text(slot: Slot, ratings: Sequence[Rating]) -> str:
    """Return what the majority says; a tie is said to be one. Scores have no majority, but a
    middle.
    """
    scale = slot.question.scale
    values = sorted(rating.value for rating in ratings if rating.value is not None)
    if not values:
        return "Nobody marked anything."
    if scale.kind == "points":
        middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
        return f"Scores from {values[0]} to {values[-1]}, median {middle:g}."
    count: Counter[Hashable] = Counter(values)
    state, value = vote_outcome(count)
    votes = ", ".join(f"{scale.label(v)} {count[v]}" for v in scale.values if count[v])
    if state is VoteOutcome.TIED:
        return f"Tied: {votes}."
    if not isinstance(value, int):
        return f"No majority: {votes}."
    return f"Majority: {scale.label(value)} ({votes})."


def sees_raters(item: Item, slot: Slot, user: User) -> bool:
    """Return whether this person may see the raters' answers at a place.

    Usually once their own decision is stored; a study may show them from the beginning.
    """
    if adjudicator_sees(item.study) == RATERS_FIRST:
        return True
    rows = Adjudication.objects.filter(item=item, question=slot.question.key, subject=slot.subject)
    return rows.filter(by=user).exists()


def was_revealed(item: Item, slot: Slot, user: User) -> bool:
    """Return whether the judges' decisions about a place were shown to this person."""
    return StudyEvent.objects.filter(
        study=item.study_id,
        kind=StudyEvent.Kind.REVEALED,
        by=user,
        detail__item=item.rank,
        detail__question=slot.question.key,
        detail__subject=slot.subject,
    ).exists()


# --- The queue ------------------------------------------------------------------------------------


def queue_rows(
    study: Study, questionnaire: Questionnaire, places: Sequence[Disagreement], user: User
) -> list[QueueRow]:
    """Return the lines of a page of the queue, in four queries.

    Answers are shown as on the page of a place (`sees_raters`).
    """
    ranks = {place.rank for place in places}
    items = {
        item.rank: item
        for item in Item.objects.filter(study=study, rank__in=ranks).select_related(
            "task", "trajectory"
        )
    }
    texts = _condition_texts(questionnaire, items.values())
    answers: dict[tuple[int, str, str], list[Rating]] = {}
    ratings = compared_ratings(study).filter(assignment__item__rank__in=ranks)
    named = ratings.annotate(rank=F("assignment__item__rank")).order_by("value", "pk")
    for rating in named:
        key = (vars(rating)["rank"], rating.question, rating.subject)
        answers.setdefault(key, []).append(rating)
    decisions = (
        Adjudication.objects.filter(item__study=study, item__rank__in=ranks)
        .order_by()
        .values_list("item__rank", "question", "subject", "by")
    )
    decided_by: dict[tuple[int, str, str], set[int]] = {}
    for rank, asked, subject, by in decisions:
        decided_by.setdefault((rank, asked, subject), set()).add(by)
    raters_first = adjudicator_sees(study) == RATERS_FIRST
    rows = []
    for place in places:
        question = questionnaire.by_key[place.question]
        slot = Slot(question, place.subject)
        key = (place.rank, place.question, place.subject)
        item = items[place.rank]
        task = item.task
        kind, _, part = place.subject.partition("-")
        known = texts.get(item.pk, {})
        rows.append(
            QueueRow(
                place=place,
                name=slot.name,
                title=question.title,
                part=known.get(part, part)
                if kind == "candidate"
                else place.subject.replace("-", " "),
                prompt=task.prompt if task else "",
                answers=[answer_text(question, rating, known) for rating in answers.get(key, [])]
                if raters_first or user.pk in decided_by.get(key, ())
                else [],
                decided=key in decided_by,
            )
        )
    return rows


def _condition_texts(
    questionnaire: Questionnaire, items: Iterable[Item]
) -> dict[int, dict[str, str]]:
    """Return the texts of conditions or candidates of each item (by id), by their keys."""
    texts: dict[int, dict[str, str]] = {}
    if questionnaire.unit == "task":
        by_task = {item.task_id: item.pk for item in items}
        candidates = Candidate.objects.filter(task__in=by_task)
        for task, key, text in candidates.values_list("task", "key", "text"):
            texts.setdefault(by_task[task], {})[key] = text
    elif any(question.scale.kind == "marks" for question in questionnaire.questions):
        by_profile: dict[int, list[int]] = {}
        for item in items:
            if item.trajectory is not None and item.trajectory.profile_id is not None:
                by_profile.setdefault(item.trajectory.profile_id, []).append(item.pk)
        conditions = Constraint.objects.filter(profile__in=by_profile)
        for profile, key, text in conditions.values_list("profile", "key", "text"):
            for pk in by_profile[profile]:
                texts.setdefault(pk, {})[key] = text
    return texts


def decided_count(study: Study) -> int:
    """Return how many places have a decision."""
    rows = Adjudication.objects.filter(item__study=study).order_by()
    return rows.values("item", "question", "subject").distinct().count()


class JudgeVerdict(NamedTuple):
    """The verdict of one judge: ``words`` to show, and why where it is known."""

    judge: str
    words: str
    reason: str = ""


def judge_verdicts(item: Item, slot: Slot) -> list[JudgeVerdict]:
    """Return the scores of the run's own judging, violations found, or the checker's decision.

    Empty where no judge was asked what the annotators were asked.
    """
    if slot.question.about == "candidate":
        return _checked(item, slot.part)
    if slot.question.scale.kind == "marks":
        return _found_violated(item, slot)
    if slot.question.dimension:
        return _scored(item, slot)
    return []


def _scored(item: Item, slot: Slot) -> list[JudgeVerdict]:
    trajectory = item.trajectory
    if trajectory is None or trajectory.run.primary_judging_id is None:
        return []
    rows = JudgeScore.objects.filter(
        judging=trajectory.run.primary_judging_id,
        trajectory=trajectory,
        dimension=slot.question.dimension,
    )
    if slot.question.about == "turn":
        rows = rows.filter(turn_index=int(slot.part))
    else:
        rows = rows.filter(is_final=True)
    scores = rows.order_by("seat", "replicate", "pk").values_list("judge__name", "value", "reason")
    return [
        JudgeVerdict(name, "no score" if value is None else f"{value:g}", reason)
        for name, value, reason in scores
    ]


def _found_violated(item: Item, slot: Slot) -> list[JudgeVerdict]:
    """Return the judges' findings in a turn; a turn that they could not decide is said to be so."""
    turns = Turn.objects.filter(trajectory=item.trajectory_id)
    turn = turns.filter(index=int(slot.part)).first() if slot.part.isdecimal() else None
    if turn is None:
        return []
    judge = "The judges of the run"
    if turn.payload.get("valid", True) is None:
        return [JudgeVerdict(judge, "no decision")]
    keys = markable(item.subjects, slot.question.scale.of)
    rows = Violation.objects.filter(turn=turn, key__in=keys).order_by("pk")
    texts = list(dict.fromkeys(rows.values_list("text", flat=True)))
    return [JudgeVerdict(judge, "; ".join(texts) or "nothing violated")]


def _checked(item: Item, key: str) -> list[JudgeVerdict]:
    row = Candidate.objects.filter(task=item.task_id, key=key).first()
    if row is None or not row.decision:
        return []
    return [JudgeVerdict(row.decided_by or "The checker", DECISIONS[row.decision], row.reason)]
