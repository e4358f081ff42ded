"""Submitted ratings under pseudonyms, for exports of runs."""

from collections.abc import Iterator
from itertools import groupby

from annotation.exports.scope import Pseudonyms
from annotation.exports.table import label_of
from annotation.models import Aspect, Assignment, Item, Rating, Study
from annotation.questionnaires import load_questionnaire
from annotation.ratings.selectors import of_those_who_stay, turn_of
from benchmarks.exports.ratings import PersonRating, rating_source
from benchmarks.models import Run


@rating_source
def submitted_ratings(run: Run) -> Iterator[PersonRating]:
    """Yield what annotators answered about a run's trajectories, item by item and place by
    place.
    """
    rows = Rating.objects.filter(
        assignment__trajectory__run=run,
        assignment__item__use=Item.Use.MAIN,
        assignment__state=Assignment.State.SUBMITTED,
        aspect__in=[Aspect.ANSWER, Aspect.COMMENT],
    ).select_related("assignment__trajectory__task", "assignment__annotator__annotator")
    rows = of_those_who_stay(rows).order_by("assignment", "pk")
    studies = Study.objects.filter(items__trajectory__run=run).distinct().in_bulk()
    names = {pk: Pseudonyms(study) for pk, study in studies.items()}
    for _, own in groupby(rows.iterator(chunk_size=500), key=lambda row: row.assignment_id):
        places: dict[tuple[str, str], dict[str, Rating]] = {}
        for row in own:
            places.setdefault((row.question, row.subject), {})[row.aspect] = row
        for _, by_aspect in sorted(places.items()):
            item = next(iter(by_aspect.values())).assignment
            study = studies[item.study_id]
            yield _rating(study, names[study.pk], item, by_aspect)


def _rating(
    study: Study, names: Pseudonyms, item: Assignment, by_aspect: dict[str, Rating]
) -> PersonRating:
    answer, comment = by_aspect.get(Aspect.ANSWER), by_aspect.get(Aspect.COMMENT)
    rating = answer or comment
    trajectory = item.trajectory
    assert rating is not None and trajectory is not None  # they were looked for by both
    question = load_questionnaire(study.questionnaire).by_key.get(rating.question)
    about = getattr(item.annotator, "annotator", None)
    return PersonRating(
        task_id=trajectory.task.external_id,
        attempt=trajectory.attempt,
        study=study.name,
        rater=names.rater(item.annotator_id),
        simulated=bool(about and about.is_simulated),
        turn=turn_of(rating.subject),
        question=rating.question,
        dimension=question.dimension if question else "",
        value=answer.value if answer else None,
        text=answer.text if answer else "",
        subject=rating.subject,
        label=label_of(question, answer.value if answer else None),
        chosen=None if answer is None or answer.chosen is None else tuple(answer.chosen),
        comment=comment.text if comment else "",
    )
