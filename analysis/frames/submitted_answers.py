"""All answers that the annotators of a study have submitted, in the order of their work.

A large study has hundreds of thousands of answers: numbers are kept in one table, a row for each
submission, and are read from the database as long texts.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Count, F, Sum, TextField
from django.db.models.functions import Cast

from annotation.bulk_numbers import aggregate_numbers, parse_numbers
from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study
from annotation.questionnaires import Questionnaire, Slot, load_questionnaire
from annotation.questionnaires.decisions import RESPECTED, read_mark
from benchmarks.models import JudgeScore

if TYPE_CHECKING:
    from analysis.stats.columns import Codes, Floats

USES = (Item.Use.MAIN, Item.Use.GOLD)


class Rater(NamedTuple):
    """An annotator who has not left, with the name used on the pages of the study."""

    user: int
    number: int
    username: str
    simulated: bool

    @property
    def name(self) -> str:
        return f"{self.number} {self.username}"


class JudgedItem(NamedTuple):
    """An item with its questions in order, and the expected answers of a gold item.

    Items of one ``shape`` have the same questions.
    """

    pk: int
    trajectory: int | None
    task: int | None
    shape: int
    slots: tuple[Slot, ...]
    expected: Mapping[str, Mapping[str, Any]]


class Submission(NamedTuple):
    """An item submitted by one annotator. ``seconds`` is active time; None where unknown."""

    row: int
    user: int
    item: int
    seconds: float | None


@dataclass(frozen=True)
class SubmittedAnswers:
    """The annotators, the items, and the submissions in the order of each annotator's work.

    ``numbers`` has a row for each submission and a column for each question in ``columns``: scores
    and choices, NaN where there is none. ``marks`` are sets, by row and name of the question: of
    passages, the characters that were marked, each with its label.
    """

    questionnaire: Questionnaire
    raters: tuple[Rater, ...]
    items: Mapping[int, JudgedItem]
    submissions: tuple[Submission, ...]
    columns: Mapping[str, int]
    numbers: "Floats"
    marks: Mapping[tuple[int, str], frozenset[str]]

    @cached_property
    def main(self) -> list[Submission]:
        """The submissions that count: gold items say nothing about agreement."""
        return [
            submission
            for submission in self.submissions
            if not self.items[submission.item].expected
        ]

    @cached_property
    def main_places(self) -> tuple["Codes", "Codes"]:
        """The rows of those that count, and where their items stand among all."""
        import numpy as np

        places = {pk: place for place, pk in enumerate(self.items)}
        rows = [(submission.row, places[submission.item]) for submission in self.main]
        row, place = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        return row, place

    def number(self, submission: Submission, name: str) -> int | None:
        """Return the score or choice in a place."""
        column = self.columns.get(name)
        value = float("nan") if column is None else self.numbers[submission.row, column]
        return None if value != value else int(value)

    def answers(
        self, submissions: Sequence[Submission], names: Sequence[str]
    ) -> list[list[float | None]]:
        """Return the scores and choices of submissions on these questions, in order."""
        import numpy as np

        # Where nobody answered there is no column; the last one has nothing in it.
        columns = [self.columns.get(name, -1) for name in names]
        numbers = self.numbers[np.ix_([submission.row for submission in submissions], columns)]
        values = numbers.astype(object)
        values[np.isnan(numbers)] = None
        rows: list[list[float | None]] = values.tolist()
        return rows


def read_submissions(study: Study) -> SubmittedAnswers:
    """Return the submitted main and gold items of those who have not left, in seven queries."""
    questionnaire = load_questionnaire(study.questionnaire)
    people = study.participants.exclude(state__in=Participant.GONE).order_by("number")
    raters = tuple(
        Rater(user, number, username, bool(simulated))
        for user, number, username, simulated in people.values_list(
            "user", "number", "user__username", "user__annotator__is_simulated"
        )
    )
    known = {rater.user for rater in raters}
    items = _items(study, questionnaire)
    rows = Assignment.objects.filter(
        study=study, state=Assignment.State.SUBMITTED, item__use__in=USES
    ).order_by("annotator", "submitted_at", "position")
    row_of: dict[int, int] = {}
    submissions = tuple(
        Submission(
            row_of.setdefault(pk, len(row_of)), user, item, active_ms / 1000 if active_ms else None
        )
        for pk, user, item, active_ms in rows.values_list("pk", "annotator", "item", "active_ms")
        if user in known
    )
    columns, numbers = _numbers(study, row_of)
    return SubmittedAnswers(
        questionnaire, raters, items, submissions, columns, numbers, _marks(study, row_of)
    )


def _items(study: Study, questionnaire: Questionnaire) -> dict[int, JudgedItem]:
    items = Item.objects.filter(study=study, use__in=USES)
    gold = dict(items.filter(use=Item.Use.GOLD).values_list("pk", "expected"))
    # Most items of a study are asked the same: what one text says is read once.
    shapes: dict[tuple[str, str], tuple[int, tuple[Slot, ...]]] = {}
    judged = {}
    texts = (Cast("asked", TextField()), Cast("subjects", TextField()))
    for pk, trajectory, task, *shape in items.order_by("rank").values_list(
        "pk", "trajectory", "task", *texts
    ):
        asked, subjects = shape
        if (asked, subjects) not in shapes:
            slots = questionnaire.slots(json.loads(asked), json.loads(subjects))
            shapes[asked, subjects] = len(shapes), tuple(slots)
        judged[pk] = JudgedItem(pk, trajectory, task, *shapes[asked, subjects], gold.get(pk, {}))
    return judged


def _numbers(study: Study, row_of: Mapping[int, int]) -> tuple[dict[str, int], "Floats"]:
    """Read the scores and choices of all submissions, and the column of each question."""
    import numpy as np

    rows = _answers(study).filter(value__isnull=False).values_list("question", "subject")
    texts = list(rows.annotate(text=aggregate_numbers("assignment", "value")))
    columns: dict[str, int] = {}
    numbers = np.full((len(row_of), len(texts) + 1), np.nan)
    submissions = np.fromiter(row_of, dtype=np.int64, count=len(row_of))
    order = np.argsort(submissions)
    for column, (question, subject, text) in enumerate(texts):
        columns[_name(question, subject)] = column
        submission, value = parse_numbers(text, 2).T
        place = np.searchsorted(submissions, submission, sorter=order)
        here = order[np.minimum(place, len(order) - 1)] if len(order) else place
        there = submissions[here] == submission if len(order) else np.zeros(0, dtype=bool)
        numbers[here[there], column] = value[there]
    return columns, numbers


def _marks(study: Study, row_of: Mapping[int, int]) -> dict[tuple[int, str], frozenset[str]]:
    rows = _answers(study).filter(chosen__isnull=False).values_list(
        "assignment", "question", "subject", Cast("chosen", TextField())
    )  # fmt: skip
    sets: dict[str, frozenset[str]] = {}
    marks = {}
    for submission, question, subject, text in rows.iterator():
        if submission in row_of:
            if text not in sets:
                sets[text] = frozenset(_elements(json.loads(text)))
            marks[row_of[submission], _name(question, subject)] = sets[text]
    return marks


def _elements(chosen: Sequence[Any]) -> Iterator[str]:
    """Yield the elements of a set of marks; of passages, each character with its label."""
    for mark in chosen:
        if isinstance(mark, str):
            if read_mark(mark)[1] != RESPECTED:
                yield mark
            continue
        place = f"{mark['turn']} {mark['where']} {mark['label']}"
        yield from (f"{place} {at}" for at in range(mark["start"], mark["end"]))


def _answers(study: Study) -> Any:
    """Return all submitted answers of the study; the caller keeps those of its submissions."""
    return Rating.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        aspect=Aspect.ANSWER,
    ).order_by()


def _name(question: str, subject: str) -> str:
    """Return the name of a place, in the form of `Slot.name`."""
    return f"{question}.{subject}" if subject else question


def judge_means(study: Study, items: Mapping[int, JudgedItem]) -> dict[int, dict[str, float]]:
    """Return the judges' mean by item and slot, of the runs' own judgings; missing where one gave
    none.
    """
    rows = (
        JudgeScore.objects.filter(
            trajectory__in=Item.objects.filter(study=study, use=Item.Use.MAIN).values("trajectory"),
            judging=F("trajectory__run__primary_judging"),
        )
        .order_by()
        .values("trajectory", "turn_index", "is_final", "dimension")
        .annotate(total=Sum("value"), scored=Count("value"), asked=Count("pk"))
    )
    means: dict[int, dict[tuple[str, str], float]] = {}
    for row in rows.iterator():
        if row["scored"] == row["asked"]:
            own = means.setdefault(row["trajectory"], {})
            mean = row["total"] / row["scored"]
            own[row["dimension"], f"turn-{row['turn_index']}"] = mean
            if row["is_final"]:
                own[row["dimension"], ""] = mean
    return {
        item.pk: {
            slot.name: mean
            for slot in item.slots
            if (mean := means[item.trajectory].get((slot.question.dimension, slot.subject)))
            is not None
        }
        for item in items.values()
        if item.trajectory in means
    }
