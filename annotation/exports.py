"""Submitted ratings under pseudonyms, for the files in which runs are exported."""

from collections.abc import Iterator

from django.utils.crypto import salted_hmac

from annotation.models import Aspect, Assignment, Item, Rating
from annotation.questionnaires import load_questionnaire
from annotation.selectors.ratings import of_those_who_stay, turn_of
from benchmarks.models import Run
from benchmarks.ratings import PersonRating, rating_source


def pseudonym(user: int) -> str:
    """The name under which a rater's answers leave the installation."""
    return "rater-" + salted_hmac("annotation.exports", str(user)).hexdigest()[:12]


@rating_source
def submitted_ratings(run: Run) -> Iterator[PersonRating]:
    """What annotators answered about a run's trajectories, item by item."""
    rows = Rating.objects.filter(
        assignment__trajectory__run=run,
        assignment__item__use=Item.Use.MAIN,
        assignment__state=Assignment.State.SUBMITTED,
        aspect__in=[Aspect.ANSWER, Aspect.COMMENT],
    ).select_related(
        "assignment__study", "assignment__trajectory__task", "assignment__annotator__annotator"
    )
    rows = of_those_who_stay(rows).order_by("assignment", "pk")
    for row in rows.iterator(chunk_size=500):
        item = row.assignment
        trajectory = item.trajectory
        assert trajectory is not None  # they were looked for by their trajectory
        questions = load_questionnaire(item.study.questionnaire).questions
        about = getattr(item.annotator, "annotator", None)
        yield PersonRating(
            task_id=trajectory.task.external_id,
            attempt=trajectory.attempt,
            study=item.study.name,
            rater=pseudonym(item.annotator_id),
            simulated=bool(about and about.is_simulated),
            turn=turn_of(row.subject),
            question=row.question,
            dimension=next((q.dimension for q in questions if q.key == row.question), ""),
            value=row.value,
            text=row.text,
        )
