"""What people said, for analyses and exports."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Exists, OuterRef

from annotation.models import Aspect, Assignment, Item, Participant, Rating, Study
from annotation.questionnaires import load_questionnaire


@dataclass(frozen=True, slots=True)
class HumanScore:
    """One current answer of one annotator. ``dimension`` is empty for questions on the feedback."""

    study: int
    assignment: int
    trajectory: int
    annotator: int
    is_simulated: bool
    submitted: bool
    question: str
    dimension: str
    value: int
    subject: str = ""

    @property
    def turn(self) -> int | None:
        """The turn that was judged; none where the whole trajectory or its last plan was."""
        return turn_of(self.subject)


def turn_of(subject: str) -> int | None:
    """The number of the turn that a subject such as ``turn-3`` names."""
    kind, _, part = subject.partition("-")
    return int(part) if kind == "turn" else None


def human_scores(
    *,
    studies: Iterable[int] | None = None,
    trajectories: Iterable[int] | None = None,
    runs: Iterable[int] | None = None,
    partial: bool = False,
) -> Iterator[HumanScore]:
    """Scores of submitted items that count, ordered by study and item.

    Gold and training items do not count, nor do answers of people who withdrew. ``partial`` adds
    the answers of items that are still open. Skipped items never count. Each
    filter that is given restricts; none given means all studies.
    """
    states = [Assignment.State.SUBMITTED, *([Assignment.State.OPEN] if partial else [])]
    rows = Rating.objects.filter(
        assignment__state__in=states,
        assignment__item__use=Item.Use.MAIN,
        assignment__trajectory__isnull=False,
        aspect=Aspect.ANSWER,
        value__isnull=False,
    )
    gone = Participant.objects.filter(
        study=OuterRef("assignment__study"),
        user=OuterRef("assignment__annotator"),
        state__in=[Participant.State.WITHDRAWN, Participant.State.ERASED],
    )
    rows = rows.exclude(Exists(gone))
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
    )
    ordered = rows.order_by("assignment__study", "assignment", "pk")
    for (
        study,
        item,
        trajectory,
        person,
        simulated,
        state,
        question,
        value,
        part,
    ) in ordered.values_list(*fields).iterator():
        yield HumanScore(
            study,
            item,
            trajectory,
            person,
            bool(simulated),
            state == Assignment.State.SUBMITTED,
            question,
            dimensions.get((study, question), ""),
            value,
            part,
        )


def _dimensions() -> dict[tuple[int, str], str]:
    """The rubric dimension behind every question of every study that asks one."""
    return {
        (pk, question.key): question.dimension
        for pk, questionnaire in Study.objects.values_list("pk", "questionnaire")
        for question in load_questionnaire(questionnaire).questions
        if question.dimension
    }
