"""Everything that the annotators of a study have submitted, seat by seat, in the order judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, F, Sum

from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study
from annotation.questionnaires import Questionnaire, Slot, load_questionnaire
from benchmarks.models import JudgeScore

Answer = int | frozenset[str]
USES = (Item.Use.MAIN, Item.Use.GOLD)


@dataclass(frozen=True)
class Rater:
    """An annotator who has not left, as the pages of the study name them."""

    user: int
    number: int
    username: str
    simulated: bool

    @property
    def name(self) -> str:
        return f"{self.number} {self.username}"


@dataclass(frozen=True)
class JudgedItem:
    """An item: what it is asked, in order, and what is expected where it is a gold item."""

    pk: int
    trajectory: int | None
    task: int | None
    slots: tuple[Slot, ...]
    expected: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Seat:
    """A submitted item of one annotator. ``seconds`` is active time; None where none is known."""

    user: int
    item: int
    seconds: float | None
    answers: Mapping[str, Answer]

    def number(self, slot: str) -> int | None:
        """The score or choice in a place; marks are no number."""
        answer = self.answers.get(slot)
        return answer if isinstance(answer, int) else None


@dataclass(frozen=True)
class Submitted:
    """The annotators, the items, and the seats in the order in which each annotator judged."""

    questionnaire: Questionnaire
    raters: tuple[Rater, ...]
    items: Mapping[int, JudgedItem]
    seats: tuple[Seat, ...]

    @cached_property
    def main(self) -> list[Seat]:
        """Those that count: gold items are put to everybody, and say nothing about agreement."""
        return [seat for seat in self.seats if not self.items[seat.item].expected]


def submitted_seats(study: Study) -> Submitted:
    """The submitted main and gold items of those who have not left, in five queries."""
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
    answers = _answers(study)
    rows = Assignment.objects.filter(
        study=study, state=Assignment.State.SUBMITTED, item__use__in=USES
    ).order_by("annotator", "submitted_at", "position")
    seats = tuple(
        Seat(user, item, active_ms / 1000 if active_ms else None, answers.get(pk, {}))
        for pk, user, item, active_ms in rows.values_list("pk", "annotator", "item", "active_ms")
        if user in known
    )
    return Submitted(questionnaire, raters, items, seats)


def _items(study: Study, questionnaire: Questionnaire) -> dict[int, JudgedItem]:
    rows = Item.objects.filter(study=study, use__in=USES).order_by("rank")
    shapes: dict[tuple[Any, ...], tuple[Slot, ...]] = {}
    found = {}
    for pk, use, trajectory, task, asked, subjects, expected in rows.values_list(
        "pk", "use", "trajectory", "task", "asked", "subjects", "expected"
    ):
        # Most items of a study are asked the same: their places are made once.
        shape = (*asked, *((kind, tuple(parts)) for kind, parts in sorted(subjects.items())))
        if shape not in shapes:
            shapes[shape] = tuple(questionnaire.slots(asked, subjects))
        gold = expected if use == Item.Use.GOLD else {}
        found[pk] = JudgedItem(pk, trajectory, task, shapes[shape], gold)
    return found


def _answers(study: Study) -> dict[int, dict[str, Answer]]:
    """Numbers and sets of marks of every seat, by slot; words are no such answers."""
    rows = Rating.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__item__use__in=USES,
        aspect=Aspect.ANSWER,
    ).order_by()
    found: dict[int, dict[str, Answer]] = {}
    for seat, question, subject, value, chosen in rows.values_list(
        "assignment", "question", "subject", "value", "chosen"
    ).iterator():
        name = f"{question}.{subject}" if subject else question
        if value is not None:
            found.setdefault(seat, {})[name] = value
        elif chosen is not None:
            found.setdefault(seat, {})[name] = frozenset(chosen)
    return found


def judge_means(study: Study, items: Mapping[int, JudgedItem]) -> dict[int, dict[str, float]]:
    """The judges' mean by item and slot, of the runs' own judgings; missing where one gave none."""
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
