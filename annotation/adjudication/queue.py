"""The queue of questions on which annotators disagree, most disagreement first.

Comparing all answers of a large study takes a second, and somebody submits every few seconds. So
the result is cached together with the state of the assignments it came from. The next page
compares only items whose assignments changed: submitted, reopened, or of somebody who left.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.cache import caches
from django.db.models import TextField
from django.db.models.functions import Cast

from annotation.adjudication.disagreement import (
    WHOLE,
    Disagreement,
    compared_assignments,
    compared_ratings,
    far_apart,
    gap_of,
    split_of,
    variance_of,
)
from annotation.bulk_numbers import BETWEEN, aggregate_numbers, parse_numbers
from annotation.models import Adjudication, Study
from annotation.plans.adjudication_rule import adjudicate_from
from annotation.questionnaires import Question, Questionnaire
from benchmarks.source_digest import source_digest

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

Columns = Mapping[str, "NDArray[int64]"]
Place = tuple[int, int, int, int, int, int]
# Of a place; ``slot`` is where its question and part stand in the list of them.
COLUMNS = ("rank", "slot", "raters", "far", "spread", "first")
# With more items changed than this everything is compared anew.
MANY = 2000
KEEP_SECONDS = 24 * 60 * 60


class QueueSelection(NamedTuple):
    """The selected part of the queue: one question or all, decided places or open ones or all.

    Scores are open from the difference on that the study adjudicates.
    """

    question: str = ""
    decided: bool | None = None


class DisagreementTable(NamedTuple):
    """Every place where raters disagree, most first, in columns.

    ``compared`` holds the assignments that it was found from.
    """

    slots: tuple[tuple[str, str], ...]
    columns: Columns
    compared: str


@dataclass(frozen=True)
class Queue:
    """The places that somebody asked for, most disagreement first."""

    slots: tuple[tuple[str, str], ...]
    columns: Columns

    def __len__(self) -> int:
        return len(self.columns["rank"])

    def __getitem__(self, place: int) -> Disagreement:
        row = {name: int(self.columns[name][place]) for name in COLUMNS}
        question, subject = self.slots[row.pop("slot")]
        return Disagreement(question=question, subject=subject, **row)

    def page(
        self, *, size: int, beyond: Disagreement | None = None, backwards: bool = False
    ) -> list[Disagreement]:
        """Return at most ``size`` places after ``beyond``, or before it, nearest first."""
        everything = range(len(self))
        if beyond is None:
            positions = everything[::-1] if backwards else everything
        elif backwards:
            positions = everything[: bisect_left(everything, beyond.key, key=self._key)][::-1]
        else:
            positions = everything[bisect_right(everything, beyond.key, key=self._key) :]
        return [self[place] for place in positions[:size]]

    def _key(self, place: int) -> tuple[int, int, int, int]:
        return self[place].key


def disagreement_queue(
    study: Study, questionnaire: Questionnaire, narrowed: QueueSelection | None = None
) -> Queue:
    """Return the queue of a study, or what of it is asked for."""
    import numpy as np  # slow to import, and few pages need it

    narrowed = narrowed or QueueSelection()
    places = _load(study, questionnaire)
    columns = places.columns
    kept = np.ones(len(columns["rank"]), dtype=bool)
    if narrowed.question:
        asked = [n for n, (question, _) in enumerate(places.slots) if question == narrowed.question]
        kept &= np.isin(columns["slot"], asked)
    if narrowed.decided is not None:
        kept &= _is_decided(study, places) == narrowed.decided
    if narrowed.decided is False:
        kept &= ~_is_close(study, questionnaire, places)
    return Queue(places.slots, {name: columns[name][kept] for name in COLUMNS})


def _is_close(study: Study, questionnaire: Questionnaire, places: DisagreementTable) -> Any:
    """Return at which places scores differ by less than is to be decided in this study.

    The difference is a share of the scale, so that other scales compare with 1 to 5.
    """
    import numpy as np

    kinds = [questionnaire.by_key[key].scale.kind for key, _ in places.slots]
    scored = np.array([kind == "points" for kind in kinds], dtype=bool)
    return scored[places.columns["slot"]] & (
        places.columns["far"] < adjudicate_from(study) * WHOLE // 4
    )


def _is_decided(study: Study, places: DisagreementTable) -> Any:
    """Return which of the places have a decision."""
    import numpy as np

    slots = {slot: n for n, slot in enumerate(places.slots)}
    rows = Adjudication.objects.filter(item__study=study).order_by()
    decided = [
        rank * len(slots) + slots[question, subject]
        for rank, question, subject in rows.values_list("item__rank", "question", "subject")
        if (question, subject) in slots
    ]
    return np.isin(places.columns["rank"] * len(slots) + places.columns["slot"], decided)


# --- What is kept ---------------------------------------------------------------------------------


def _load(study: Study, questionnaire: Questionnaire) -> DisagreementTable:
    created = study.created_at.isoformat()
    key = f"disagreements:{source_digest()}:{study.pk}:{created}:{study.questionnaire}"
    # Before the answers: what is submitted in between is compared again the next time.
    assignments = _compared_assignments(study)
    kept: DisagreementTable | None = caches["reports"].get(key)
    changed = None if kept is None else _changed(kept.compared, assignments)
    if kept is not None and changed is not None and len(changed) <= MANY:
        if not changed:
            return kept
        table = _joined_to(kept, _compared(study, questionnaire, changed), changed, assignments)
    else:
        table = _sorted(*_compared(study, questionnaire, None), assignments)
    caches["reports"].set(key, table, KEEP_SECONDS)
    return table


def _compared_assignments(study: Study) -> str:
    """Return which assignments are compared, and since when they are submitted."""
    rows = compared_assignments(study).filter(item__done__gte=2)
    joined = rows.aggregate(text=aggregate_numbers("item__rank", "pk", "submitted_at"))
    return joined["text"] or ""


def _changed(before: str, now: str) -> set[int]:
    """Return the numbers of the items whose assignments are not the same."""
    return {int(rank) for rank, *_ in _rows(before) ^ _rows(now)} if before != now else set()


def _rows(text: str) -> set[tuple[str, ...]]:
    parts = text.split(BETWEEN) if text else []
    return set(zip(*(parts[n::3] for n in range(3)), strict=True))


def _joined_to(
    kept: DisagreementTable,
    changed: tuple[tuple[tuple[str, str], ...], Columns],
    ranks: set[int],
    assignments: str,
) -> DisagreementTable:
    """Return what is kept of the items that did not change, and what was found of the others."""
    import numpy as np

    slots, columns = changed
    known = {slot: n for n, slot in enumerate(dict.fromkeys((*kept.slots, *slots)))}
    numbers = np.array([known[slot] for slot in slots], dtype=np.int64)
    fresh = {**columns, "slot": numbers[columns["slot"]]}
    stays = ~np.isin(kept.columns["rank"], list(ranks))
    both = {name: np.concatenate([kept.columns[name][stays], fresh[name]]) for name in COLUMNS}
    return _sorted(tuple(known), both, assignments)


def _sorted(
    slots: tuple[tuple[str, str], ...], columns: Columns, assignments: str
) -> DisagreementTable:
    import numpy as np

    order = np.lexsort(
        (columns["first"], columns["rank"], -columns["spread"], -columns["far"])
    )  # the last is the first key: as `Disagreement.key`
    return DisagreementTable(slots, {name: columns[name][order] for name in COLUMNS}, assignments)


# --- Comparing ------------------------------------------------------------------------------------


def _compared(
    study: Study, questionnaire: Questionnaire, ranks: Collection[int] | None
) -> tuple[tuple[tuple[str, str], ...], Columns]:
    """Return the places of these items, or of all, at which raters disagree; in no order."""
    import numpy as np

    slots: dict[tuple[str, str], int] = {}
    blocks = [
        *_of_values(study, questionnaire, ranks, slots),
        np.array(list(_of_marks(study, questionnaire, ranks, slots)), dtype=np.int64).reshape(
            -1, len(COLUMNS)
        ),
    ]
    table = np.concatenate(blocks)
    return tuple(slots), {name: table[:, n] for n, name in enumerate(COLUMNS)}


def _ratings(study: Study, asked: Collection[Question], ranks: Collection[int] | None) -> Any:
    rows = compared_ratings(study).filter(question__in=[question.key for question in asked])
    if ranks is not None:
        return rows.filter(assignment__item__rank__in=ranks)
    return rows.filter(assignment__item__done__gte=2)


def _of_values(
    study: Study,
    questionnaire: Questionnaire,
    ranks: Collection[int] | None,
    slots: dict[tuple[str, str], int],
) -> Iterator[Any]:
    """Yield scores and choices, all answers to one question about one part at a time."""
    asked = {q.key: q for q in questionnaire.questions if q.scale.kind in ("points", "choice")}
    rows = _ratings(study, asked.values(), ranks).filter(value__isnull=False)
    texts = rows.values_list("question", "subject").annotate(
        text=aggregate_numbers("assignment__item__rank", "value", "pk")
    )
    for question, subject, text in texts.iterator():
        slot = slots.setdefault((question, subject), len(slots))
        yield _apart(asked[question], slot, parse_numbers(text, 3))


def _apart(question: Question, slot: int, answers: Any) -> Any:
    """Compute `disagreement_at` for every item at once, from rows of (rank, value, id of the
    rating).
    """
    import numpy as np

    rank, value, pk = answers[np.argsort(answers[:, 0], kind="stable")].T
    starts = np.flatnonzero(np.r_[True, rank[1:] != rank[:-1]])
    n = np.diff(np.r_[starts, rank.size])
    low, high = np.minimum.reduceat(value, starts), np.maximum.reduceat(value, starts)
    if question.scale.kind == "choice":
        values = question.scale.values
        votes = [np.add.reduceat((value == option).astype(np.int64), starts) for option in values]
        far = split_of(n, np.max(votes, axis=0), len(values))
        spread = np.zeros_like(far)
    else:
        total, squares = np.add.reduceat(value, starts), np.add.reduceat(value * value, starts)
        far = gap_of(low, high, question.scale.most)
        spread = variance_of(n, total, squares)
    compared = np.stack(
        [rank[starts], np.full_like(n, slot), n, far, spread, np.minimum.reduceat(pk, starts)],
        axis=1,
    )
    return compared[(n >= 2) & (low < high)]


def _of_marks(
    study: Study,
    questionnaire: Questionnaire,
    ranks: Collection[int] | None,
    slots: dict[tuple[str, str], int],
) -> Iterator[Place]:
    """Compare marks, one place after the other; sets are read where their texts differ."""
    asked = [q for q in questionnaire.questions if q.scale.kind == "marks"]
    if not asked:
        return
    place = ("assignment__item__rank", "question", "subject")
    rows = _ratings(study, asked, ranks).filter(chosen__isnull=False).order_by(*place, "pk")
    answers = rows.values_list(*place, Cast("chosen", TextField()), "pk")
    for (rank, question, subject), group in groupby(answers.iterator(), key=lambda row: row[:3]):
        texts, ids = zip(*(row[3:] for row in group), strict=True)
        if len(set(texts)) == 1:
            continue
        far = far_apart([json.loads(text) for text in texts])
        if far:
            slot = slots.setdefault((question, subject), len(slots))
            yield rank, slot, len(ids), far, 0, ids[0]
