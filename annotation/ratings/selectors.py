"""Submitted ratings for analyses and exports."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce

from annotation.assignments.selectors import count_gone
from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study
from annotation.questionnaires import load_questionnaire


class HumanScore(NamedTuple):
    """One current answer of one annotator. ``dimension`` is empty for questions on the feedback.

    ``turn`` is the one that was judged, None where the whole trajectory or its last plan was;
    ``unblinded``: given after the annotator had been told who made what.
    """

    study: int
    assignment: int
    trajectory: int
    annotator: int
    is_simulated: bool
    submitted: bool
    question: str
    dimension: str
    value: int
    turn: int | None
    unblinded: bool


def turn_of(subject: str) -> int | None:
    """Return the number of the turn that a subject such as ``turn-3`` names."""
    kind, _, part = subject.partition("-")
    return int(part) if kind == "turn" else None


def human_scores(
    *,
    studies: Iterable[int] | None = None,
    trajectories: Iterable[int] | None = None,
    runs: Iterable[int] | None = None,
    partial: bool = False,
) -> list[HumanScore]:
    """Return scores of submitted items that count, ordered by study and item.

    Gold and training items do not count, nor do answers of people who withdrew. ``partial`` adds
    the answers of items that are still open. Skipped items never count. Each filter that is given
    restricts; none given means all studies.
    """
    states = [Assignment.State.SUBMITTED, *([Assignment.State.OPEN] if partial else [])]
    rows = Rating.objects.filter(
        assignment__state__in=states,
        assignment__item__use=Item.Use.MAIN,
        assignment__trajectory__isnull=False,
        assignment__item__other__isnull=True,
        aspect=Aspect.ANSWER,
        value__isnull=False,
    )
    rows = of_those_who_stay(rows)
    if studies is not None:
        rows = rows.filter(assignment__study__in=list(studies))
    if trajectories is not None:
        rows = rows.filter(assignment__trajectory__in=list(trajectories))
    if runs is not None:
        rows = rows.filter(assignment__trajectory__run__in=list(runs))
    dimensions = _dimensions()
    fields = (
        "assignment__study",
        "assignment",
        "assignment__trajectory",
        "assignment__annotator",
        "assignment__annotator__annotator__is_simulated",
        "assignment__state",
        "question",
        "value",
        "subject",
        "edit__unblinded",
    )
    ordered = rows.order_by("assignment__study", "assignment", "pk")
    return [
        HumanScore(
            study,
            item,
            trajectory,
            person,
            bool(simulated),
            state == Assignment.State.SUBMITTED,
            question,
            dimensions.get((study, question), ""),
            value,
            turn_of(part),
            unblinded,
        )
        for study, item, trajectory, person, simulated, state, question, value, part, unblinded in (
            ordered.values_list(*fields).iterator()
        )
    ]


class PairAnswer(NamedTuple):
    """Which of an item's two trajectories a person prefers: 1 the first, 2 the second, 0 neither.

    ``first`` and ``second`` are the runs that they come from.
    """

    item: int
    task: int
    first: int
    second: int
    annotator: int
    is_simulated: bool
    unblinded: bool
    question: str
    value: int


def pair_answers(study: Study, questions: Iterable[str]) -> list[PairAnswer]:
    """Return the preferences of submitted items that count, in the order of the items."""
    rows = Rating.objects.filter(
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__item__use=Item.Use.MAIN,
        assignment__item__other__isnull=False,
        question__in=list(questions),
        aspect=Aspect.ANSWER,
        value__isnull=False,
    )
    fields = (
        "assignment__item", "assignment__item__task", "assignment__item__trajectory__run",
        "assignment__item__other__run", "assignment__annotator",
        "assignment__annotator__annotator__is_simulated", "edit__unblinded", "question", "value",
    )  # fmt: skip
    kept = of_those_who_stay(rows).order_by("assignment__item__rank", "pk")
    return [PairAnswer(*row) for row in kept.values_list(*fields)]


def of_those_who_stay(rows: QuerySet[Rating]) -> QuerySet[Rating]:
    """Return these ratings without those of people who withdrew or were erased."""
    return rows.exclude(Exists(_gone("assignment__study", "assignment__annotator")))


def meant_annotators(*, left_out: Sequence[str] = Participant.GONE) -> CombinedExpression:
    """Return an expression for items: the number of annotators whose answers each shall have.

    It is what the design says. An item that was opened again because somebody left wants one
    annotator more, and the answers of that person do not count. ``left_out`` are the states of
    people whose answers do not count.
    """
    refilled = Assignment.objects.filter(
        Exists(_gone("study", "annotator").filter(refilled__gt=0, state__in=left_out)),
        item=OuterRef("pk"),
        part=Assignment.Part.MAIN,
        state=Assignment.State.SUBMITTED,
    )
    counts = refilled.order_by().values("item").annotate(count=Count("pk")).values("count")
    return F("wanted") - Coalesce(Subquery(counts), 0)


def _gone(study: str, user: str) -> QuerySet[Participant]:
    return Participant.objects.filter(
        study=OuterRef(study), user=OuterRef(user), state__in=Participant.GONE
    )


class LeftOut(NamedTuple):
    """Rows that analyses leave out of a study.

    These are submissions of people who left, voided ones, and those that were sent back and not
    submitted again.

    ``items`` and ``answers`` are those of ``people`` who left; answers are scores and marks of
    submitted items that would count otherwise. ``voided`` and ``sent_back`` are submissions of
    those who stay.
    """

    people: int = 0
    items: int = 0
    answers: int = 0
    voided: int = 0
    sent_back: int = 0

    @property
    def words(self) -> str:
        """The left-out submissions in words; empty where there are none."""
        parts = []
        if self.items:
            people = "person" if self.people == 1 else "people"
            parts.append(f"{_submissions(self.items)} of {self.people} {people} who left")
        if self.voided:
            parts.append(f"{_submissions(self.voided)} that a manager voided")
        if self.sent_back:
            parts.append(f"{_submissions(self.sent_back)} sent back to the annotator")
        return ", ".join(parts[:-1]) + " and " + parts[-1] if len(parts) > 1 else "".join(parts)


def _submissions(count: int) -> str:
    return f"{count:,} submission{'' if count == 1 else 's'}"


def left_out(study: Study) -> LeftOut:
    """Return how much of a study does not count, in three queries."""
    people = count_gone(study).total()
    voided, sent_back = _voided(study)
    if not people:
        return LeftOut(voided=voided, sent_back=sent_back)
    rows = Rating.objects.filter(
        Exists(_gone("assignment__study", "assignment__annotator")),
        assignment__study=study,
        assignment__state=Assignment.State.SUBMITTED,
        assignment__item__use=Item.Use.MAIN,
        aspect=Aspect.ANSWER,
    ).order_by()
    counts = rows.aggregate(items=Count("assignment", distinct=True), answers=Count("pk"))
    return LeftOut(people, counts["items"], counts["answers"], voided, sent_back)


def _voided(study: Study) -> tuple[int, int]:
    """Return how many submissions were voided, and how many are sent back and open."""
    State = Assignment.State
    rows = Assignment.objects.filter(
        study=study, state__in=(State.VOIDED, State.OPEN), item__use=Item.Use.MAIN
    ).exclude(state=State.OPEN, note="")
    rows = rows.exclude(Exists(_gone("study", "annotator"))).order_by()
    counts = dict(rows.values_list("state").annotate(count=Count("pk")))
    return counts.get(State.VOIDED, 0), counts.get(State.OPEN, 0)


def _dimensions() -> dict[tuple[int, str], str]:
    """Return the rubric dimension behind every question of every study that asks one."""
    return {
        (pk, question.key): question.dimension
        for pk, questionnaire in Study.objects.values_list("pk", "questionnaire")
        for question in load_questionnaire(questionnaire).questions
        if question.dimension
    }
