"""Measure how far annotators disagree about a question on an item or on one of its parts.

Disagreement is two whole numbers, so that the order of the queue is exact:

- scores: the range as a share of the scale, then the variance;
- choices: how evenly the votes are split, from 0 (all equal) to 1 (spread over all options);
- marks: d/(1 + d) for d, the mean size of the symmetric difference over pairs of raters.

Only submitted main items count, without people who withdrew. Text answers are not compared.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from django.db.models import QuerySet

from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study
from annotation.questionnaires import Question, Slot

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
    def name(self) -> str:
        """The name of the place on its item, as `Slot.name`."""
        return f"{self.question}.{self.subject}" if self.subject else self.question

    @property
    def key(self) -> tuple[int, int, int, int]:
        """The sort key of the queue: the widest disagreement comes first."""
        return -self.far, -self.spread, self.rank, self.first


def disagreement_at(item: Item, slot: Slot, ratings: Sequence[Rating]) -> Disagreement:
    """Return where one place stands in the queue, from its ratings."""
    if slot.question.scale.kind == "marks":
        far, spread = far_apart([rating.chosen or [] for rating in ratings]), 0
    else:
        values = [rating.value for rating in ratings if rating.value is not None]
        far, spread = _apart(slot.question, values)
    first = min((rating.pk for rating in ratings), default=0)
    return Disagreement(
        item.rank, slot.question.key, slot.subject, len(ratings), far, spread, first
    )


def compared_ratings(study: Study) -> QuerySet[Rating]:
    """Return answers of submitted main items, without people who withdrew."""
    rows = Rating.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__item__use=Item.Use.MAIN,
        aspect=Aspect.ANSWER,
    )
    return rows.exclude(assignment__annotator__in=_gone(study)).order_by()


def compared_assignments(study: Study) -> QuerySet[Assignment]:
    """Return the assignments that these are of."""
    rows = Assignment.objects.filter(
        study=study, state=Assignment.State.SUBMITTED, item__use=Item.Use.MAIN
    )
    return rows.exclude(annotator__in=_gone(study)).order_by()


def _gone(study: Study) -> QuerySet[Participant, Any]:
    """Return who left, without a query for each row where several studies are read: the people
    are the same.
    """
    gone = Participant.objects.filter(study=study, state__in=Participant.GONE)
    return gone.order_by().values("user")


def _apart(question: Question, values: Sequence[int]) -> tuple[int, int]:
    """Return both numbers of a place with scores or choices."""
    if not values:
        return 0, 0
    n = len(values)
    if question.scale.kind == "choice":
        ((_, most),) = Counter(values).most_common(1)
        return split_of(n, most, len(question.scale.values)), 0
    far = gap_of(min(values), max(values), question.scale.most)
    return far, variance_of(n, sum(values), sum(value * value for value in values))


# Of one place in whole numbers, or of many in arrays of them.


def gap_of(low: Any, high: Any, most: int) -> Any:
    """Return the first number of scores: their range as a share of the scale from 1 to ``most``."""
    return (high - low) * WHOLE // (most - 1)


def variance_of(n: Any, total: Any, squares: Any) -> Any:
    """Return the second number of n scores, from their sum and that of their squares."""
    return (n * squares - total * total) * WHOLE // (n * n)


def split_of(n: Any, most: Any, options: int) -> Any:
    """Return the first number of n choices, of which ``most`` are the same; the second is 0."""
    return (n - most) * WHOLE * options // (n * (options - 1))


def far_apart(sets: Iterable[Sequence[str]]) -> int:
    """Return the first number of a place with marks; the second is 0."""
    pairs = [len(set(first) ^ set(other)) for first, other in combinations(sets, 2)]
    if not pairs:
        return 0
    # d/(1 + d) for the mean d = sum/pairs, in thousandths
    return sum(pairs) * WHOLE // (sum(pairs) + len(pairs))
