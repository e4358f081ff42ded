"""People's scores beside the judges', one row per answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from django.db.models import QuerySet

from analysis.filters.selection import ChosenRun
from analysis.filters.study_kinds import turn_questions, whole_scores
from annotation.models import Assignment, Study
from annotation.questionnaires import load_questionnaire
from annotation.ratings.selectors import human_scores
from benchmarks.models import JudgeScore, Trajectory

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    "trajectory",
    "task",
    "label",
    "turn",
    "annotator",
    "simulated",
    "unblinded",
    "question",
    "dimension",
    "human",
)


def rating_frame(study: Study, runs: Sequence[ChosenRun], *, turns: bool = False) -> "DataFrame":
    """Return current scores of submitted items about the runs' trajectories: `COLUMNS`.

    Scores of whole items and last plans, which have no ``turn``, or those of every one of the
    ``turns``; never both, because they are not about the same. ``dimension`` is empty for questions
    that are no rubric dimension.
    """
    import pandas as pd

    questionnaire = load_questionnaire(study.questionnaire)
    wanted = turn_questions(questionnaire) if turns else whole_scores(questionnaire)
    keys = {question.key for question in wanted}
    labels = {run.pk: run.label for run in runs}
    about = {
        pk: (task, labels[run])
        for pk, task, run in Trajectory.objects.filter(
            run__in=list(labels), items__study=study
        ).values_list("pk", "task", "run")
    }
    records = [
        (
            score.trajectory,
            *about[score.trajectory],
            score.turn,
            score.annotator,
            score.is_simulated,
            score.unblinded,
            score.question,
            score.dimension,
            score.value,
        )
        for score in human_scores(studies=[study.pk])
        if score.trajectory in about
        and score.question in keys
        and (score.turn is not None) == turns
    ]
    return pd.DataFrame.from_records(records, columns=list(COLUMNS))


def marks_seen(study: Study) -> dict[tuple[int, int], bool] | None:
    """Return whether the judges' marks were seen, by trajectory and annotator.

    None where the study does not withhold them at random.
    """
    if study.verdicts != Study.Verdicts.RANDOM:
        return None
    rows = Assignment.objects.filter(
        study=study, state=Assignment.State.SUBMITTED, part=Assignment.Part.MAIN
    )
    return {
        (trajectory, annotator): verdicts != Study.Verdicts.NONE
        for trajectory, annotator, verdicts in rows.values_list(
            "trajectory", "annotator", "verdicts"
        )
    }


def final_scores(
    study: Study, runs: Sequence[ChosenRun], dimensions: Sequence[str], *, by_look: bool = False
) -> "DataFrame":
    """Return judges' scores of the final turns that people judged in a study, one column per seat.

    Indexed by trajectory and dimension; missing where whoever sat there gave no score. By seat and
    not by name, because runs may be judged by different judges: what counts is their mean. A judge
    who looked more than once counts with the mean of the looks; ``by_look`` gives each look its
    column instead, so that every score is an integer, and each seat as many columns.
    """
    rows = _judged(study, runs, dimensions).filter(is_final=True)
    keys = {"trajectory": "trajectory", "dimension": "dimension"}
    return _by_look(rows, keys) if by_look else _by_seat(rows, keys)


def every_turn_scores(
    study: Study, runs: Sequence[ChosenRun], dimensions: Sequence[str]
) -> "DataFrame":
    """Return the same of every turn and look, indexed by trajectory, turn and dimension."""
    keys = {"trajectory": "trajectory", "turn_index": "turn", "dimension": "dimension"}
    return _by_look(_judged(study, runs, dimensions), keys)


def _judged(
    study: Study, runs: Sequence[ChosenRun], dimensions: Sequence[str]
) -> QuerySet[JudgeScore]:
    submitted = Assignment.objects.filter(study=study, state=Assignment.State.SUBMITTED)
    return JudgeScore.objects.filter(
        judging__in=[run.judging for run in runs if run.judging is not None],
        dimension__in=list(dimensions),
        trajectory__in=submitted.values("trajectory"),
    ).order_by()


def _by_seat(rows: QuerySet[JudgeScore], keys: Mapping[str, str]) -> "DataFrame":
    return _pivoted(rows, keys, "seat")


def _by_look(rows: QuerySet[JudgeScore], keys: Mapping[str, str]) -> "DataFrame":
    """Return each look in its column; a seat that looked once has that score in all of its own.

    So the mean of a row's columns is the mean of its seats.
    """
    import pandas as pd

    wide = _pivoted(rows, keys, "seat", "replicate")
    looks = wide.columns.unique("replicate")
    if len(looks) < 2:
        return wide.droplevel("replicate", axis=1)
    seats = {}
    for seat in wide.columns.unique("seat"):
        scores = cast("DataFrame", wide[seat]).reindex(columns=looks)
        once = scores.notna().sum(axis=1) == 1
        seats[seat] = scores.where(~once, scores.ffill(axis=1).bfill(axis=1))
    every: DataFrame = pd.concat(seats, axis=1)
    every.columns = pd.Index([f"{seat} ({look})" for seat in seats for look in looks])
    return every


def _pivoted(rows: QuerySet[JudgeScore], keys: Mapping[str, str], *columns: str) -> "DataFrame":
    import pandas as pd

    names = list(keys.values())
    frame = pd.DataFrame.from_records(
        list(rows.values_list(*keys, *columns, "value")), columns=[*names, *columns, "value"]
    ).astype({"value": "float64"})
    # A dimension that nobody scored keeps its rows: what is missing is counted, not dropped.
    return frame.pivot_table(
        index=names, columns=list(columns), values="value", aggfunc="mean", dropna=False
    )
