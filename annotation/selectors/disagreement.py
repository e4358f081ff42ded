"""Where annotators disagree, most first. Read a page at a time, however large the study.

A place is a question about an item or one of its parts. How far its raters disagree is two whole
numbers, so that pages can go on exactly where the last one ended:

- scores: the range as a share of the scale, then the variance;
- choices: how evenly the votes are split, from 0 (all equal) to 1 (spread over all options);
- marks: d/(1 + d) for d, the mean size of the symmetric difference over pairs of raters.

Of submitted main items, without people who withdrew. Words are not compared.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from typing import Any

from django.db.models import (
    Case,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    IntegerField,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Cast, Greatest

from annotation.models import Adjudication, Aspect, Assignment, Item, Rating, Study
from annotation.questionnaires import Question, Questionnaire, Slot
from annotation.selectors.ratings import of_those_who_stay

# Disagreement is counted in thousandths.
WHOLE = 1000
COMPARED = ("points", "choice", "marks")


@dataclass(frozen=True)
class Disagreement:
    """A place where raters disagree; ``first`` is the id of its first rating."""

    rank: int
    question: str
    subject: str
    raters: int
    far: int
    spread: int
    first: int

    @property
    def key(self) -> tuple[int, int, int, int]:
        """Sorts the queue: who disagree most come first."""
        return -self.far, -self.spread, self.rank, self.first


@dataclass(frozen=True)
class Narrowed:
    """What of the queue is asked for: one question or all, decided places or open ones or all."""

    question: str = ""
    decided: bool | None = None


def disagreements(
    study: Study,
    questionnaire: Questionnaire,
    narrowed: Narrowed,
    *,
    size: int,
    beyond: Disagreement | None = None,
    backwards: bool = False,
) -> list[Disagreement]:
    """At most ``size`` places of the queue after ``beyond``, or before it, nearest first."""
    found = [
        *_of_values(study, questionnaire, narrowed, size, beyond, backwards),
        *_of_marks(study, questionnaire, narrowed, size, beyond, backwards),
    ]
    return sorted(found, key=lambda row: row.key, reverse=backwards)[:size]


def count_disagreements(study: Study, questionnaire: Questionnaire, narrowed: Narrowed) -> int:
    """How many places of the queue there are."""
    total = 0
    values = _grouped(study, questionnaire, narrowed)
    if values is not None:
        total += values.count()
    return total + sum(1 for _ in _marked(study, questionnaire, narrowed))


def disagreement_at(
    questionnaire: Questionnaire, item: Item, slot: Slot, ratings: Sequence[Rating]
) -> Disagreement:
    """Where one place stands in the queue, from its ratings."""
    scale = slot.question.scale
    if scale.kind == "marks":
        far, spread = _far_apart([rating.chosen or [] for rating in ratings]), 0
    else:
        values = [rating.value for rating in ratings if rating.value is not None]
        far, spread = _apart(slot.question, values)
    first = min((rating.pk for rating in ratings), default=0)
    return Disagreement(
        item.rank, slot.question.key, slot.subject, len(ratings), far, spread, first
    )


def compared_ratings(study: Study) -> QuerySet[Rating]:
    """Answers of submitted main items, without people who withdrew."""
    rows = Rating.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__item__use=Item.Use.MAIN,
        aspect=Aspect.ANSWER,
    )
    return of_those_who_stay(rows).order_by()


# --- Scores and choices: grouped by the database --------------------------------------------------


def _of_values(
    study: Study,
    questionnaire: Questionnaire,
    narrowed: Narrowed,
    size: int,
    beyond: Disagreement | None,
    backwards: bool,
) -> Iterator[Disagreement]:
    rows = _grouped(study, questionnaire, narrowed)
    if rows is None:
        return
    if beyond is not None:
        rows = rows.filter(_behind(beyond, backwards))
    order = (
        ("far", "spread", "-rank", "-first") if backwards else ("-far", "-spread", "rank", "first")
    )
    for row in rows.order_by(*order)[:size]:
        yield Disagreement(
            row["rank"], row["question"], row["subject"], row["raters"], row["far"],
            row["spread"], row["first"],
        )  # fmt: skip


def _grouped(
    study: Study, questionnaire: Questionnaire, narrowed: Narrowed
) -> QuerySet[Rating, Any] | None:
    """Places with unequal values, one row each; None where no question has values."""
    asked = _asked(questionnaire, narrowed, "points", "choice")
    if not asked:
        return None
    rows = _narrow(compared_ratings(study), narrowed)
    rows = rows.filter(question__in=[q.key for q in asked], value__isnull=False)
    value = Cast("value", IntegerField())
    grouped: QuerySet[Rating, Any] = (
        rows.annotate(rank=F("assignment__item__rank"))
        .values("rank", "question", "subject")
        .annotate(
            raters=Count("pk"),
            first=Min("pk"),
            low=Min(value),
            high=Max(value),
            total=Sum(value),
            squares=Sum(value * value),
        )
        .filter(raters__gte=2, low__lt=F("high"))
    )
    return grouped.annotate(far=_far(asked, value), spread=_spread(asked))


def _far(asked: Sequence[Question], value: Any) -> Case:
    """The first number of each question: its range, or how evenly its votes are split."""
    whens = [
        When(
            question__in=[
                q.key for q in asked if q.scale.kind == "points" and q.scale.most == most
            ],
            then=_whole((F("high") - F("low")) * Value(WHOLE) / Value(most - 1)),
        )
        for most in {q.scale.most for q in asked if q.scale.kind == "points"}
    ]
    for question in asked:
        if question.scale.kind == "choice":
            votes = [Count("pk", filter=Q(value=v)) for v in question.scale.values]
            k = len(votes)
            split = (F("raters") - Greatest(*votes)) * Value(WHOLE * k)
            then = _whole(split / (F("raters") * Value(k - 1)))
            whens.append(When(question=question.key, then=then))
    return Case(*whens, default=Value(0), output_field=IntegerField())


def _spread(asked: Sequence[Question]) -> Case:
    """The second number: the variance of scores, nothing for choices."""
    points = [q.key for q in asked if q.scale.kind == "points"]
    n, squares, total = F("raters"), F("squares"), F("total")
    variance = (n * squares - total * total) * Value(WHOLE) / (n * n)
    whens = [When(question__in=points, then=_whole(variance))] if points else []
    return Case(*whens, default=Value(0), output_field=IntegerField())


def _whole(expression: Any) -> Any:
    return ExpressionWrapper(expression, output_field=IntegerField())


def _behind(place: Disagreement, backwards: bool) -> Q:
    """The rows that come after a place, or before it."""
    less, more = ("gt", "lt") if backwards else ("lt", "gt")
    same = Q(far=place.far)
    equal = same & Q(spread=place.spread)
    return (
        Q(**{f"far__{less}": place.far})
        | same & Q(**{f"spread__{less}": place.spread})
        | equal & Q(**{f"rank__{more}": place.rank})
        | equal & Q(rank=place.rank) & Q(**{f"first__{more}": place.first})
    )


def _apart(question: Question, values: Sequence[int]) -> tuple[int, int]:
    """Both numbers of one place, as `_far` and `_spread` have them."""
    if not values:
        return 0, 0
    n = len(values)
    if question.scale.kind == "choice":
        k = len(question.scale.values)
        ((_, most),) = Counter(values).most_common(1)
        return (n - most) * WHOLE * k // (n * (k - 1)), 0
    squares, total = sum(v * v for v in values), sum(values)
    far = (max(values) - min(values)) * WHOLE // (question.scale.most - 1)
    return far, (n * squares - total * total) * WHOLE // (n * n)


# --- Marks: sets are compared here, one place after the other -------------------------------------


def _of_marks(
    study: Study,
    questionnaire: Questionnaire,
    narrowed: Narrowed,
    size: int,
    beyond: Disagreement | None,
    backwards: bool,
) -> list[Disagreement]:
    def wanted(row: Disagreement) -> bool:
        return beyond is None or (row.key < beyond.key if backwards else row.key > beyond.key)

    rows = filter(wanted, _marked(study, questionnaire, narrowed))
    take = heapq.nlargest if backwards else heapq.nsmallest
    return take(size, rows, key=lambda row: row.key)


def _marked(
    study: Study, questionnaire: Questionnaire, narrowed: Narrowed
) -> Iterator[Disagreement]:
    """Places whose sets differ, item by item; never more than one place in memory."""
    asked = _asked(questionnaire, narrowed, "marks")
    if not asked:
        return
    rows = _narrow(compared_ratings(study), narrowed)
    rows = rows.filter(question__in=[q.key for q in asked], chosen__isnull=False)
    place = ("assignment__item__rank", "question", "subject")
    found = rows.order_by(*place, "pk").values_list(*place, "chosen", "pk")
    for (rank, question, subject), group in groupby(found.iterator(), key=lambda row: row[:3]):
        sets = list(group)
        far = _far_apart([chosen for *_, chosen, _ in sets]) if len(sets) > 1 else 0
        if far:
            yield Disagreement(rank, question, subject, len(sets), far, 0, sets[0][-1])


def _far_apart(sets: Iterable[Sequence[str]]) -> int:
    pairs = [len(set(one) ^ set(other)) for one, other in combinations(sets, 2)]
    if not pairs:
        return 0
    # d/(1 + d) for the mean d = sum/pairs, in thousandths
    return sum(pairs) * WHOLE // (sum(pairs) + len(pairs))


# --- What is asked for ----------------------------------------------------------------------------


def _asked(questionnaire: Questionnaire, narrowed: Narrowed, *kinds: str) -> list[Question]:
    return [
        question
        for question in questionnaire.questions
        if question.scale.kind in kinds and narrowed.question in ("", question.key)
    ]


def _narrow(rows: QuerySet[Rating], narrowed: Narrowed) -> QuerySet[Rating]:
    if narrowed.decided is None:
        return rows
    place: Mapping[str, OuterRef] = {
        "item": OuterRef("assignment__item"),
        "question": OuterRef("question"),
        "subject": OuterRef("subject"),
    }
    decided = Exists(Adjudication.objects.filter(**place))
    return rows.filter(decided) if narrowed.decided else rows.exclude(decided)
