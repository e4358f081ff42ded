"""What people said, for analyses and exports."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from annotation.models import Assignment, Rating, Study
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


def human_scores(
    *,
    studies: Iterable[int] | None = None,
    trajectories: Iterable[int] | None = None,
    runs: Iterable[int] | None = None,
    partial: bool = False,
) -> Iterator[HumanScore]:
    """Answers of submitted items, ordered by study and item.

    ``partial`` adds the answers of items that are still open. Skipped items never count. Each
    filter that is given restricts; none given means all studies.
    """
    states = [Assignment.State.SUBMITTED, *([Assignment.State.OPEN] if partial else [])]
    rows = Rating.objects.filter(assignment__state__in=states, value__isnull=False)
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
    )
    ordered = rows.order_by("assignment__study", "assignment", "pk")
    for study, item, trajectory, person, simulated, state, question, value in ordered.values_list(
        *fields
    ).iterator():
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
        )


def _dimensions() -> dict[tuple[int, str], str]:
    """The rubric dimension behind every question of every study that asks one."""
    return {
        (pk, question.key): question.dimension
        for pk, questionnaire in Study.objects.values_list("pk", "questionnaire")
        for question in load_questionnaire(questionnaire).questions
        if question.dimension
    }
