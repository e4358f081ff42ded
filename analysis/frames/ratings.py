"""People's scores beside the judges', one row per answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.selection import ChosenRun
from annotation.models import Assignment
from annotation.selectors.ratings import human_scores
from benchmarks.models import JudgeScore, Trajectory

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = (
    "trajectory",
    "task",
    "label",
    "annotator",
    "simulated",
    "question",
    "dimension",
    "human",
)


def rating_frame(study: int, runs: Sequence[ChosenRun]) -> "DataFrame":
    """Current answers of submitted items about the runs' trajectories: `COLUMNS`.

    ``dimension`` is empty for questions that are no rubric dimension.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    about = {
        pk: (task, labels[run])
        for pk, task, run in Trajectory.objects.filter(
            run__in=list(labels), assignments__study=study
        ).values_list("pk", "task", "run")
    }
    records = [
        (
            score.trajectory,
            *about[score.trajectory],
            score.annotator,
            score.is_simulated,
            score.question,
            score.dimension,
            score.value,
        )
        for score in human_scores(studies=[study])
        if score.trajectory in about
    ]
    return pd.DataFrame.from_records(records, columns=list(COLUMNS))


def final_scores(study: int, runs: Sequence[ChosenRun], dimensions: Sequence[str]) -> "DataFrame":
    """Judges' scores of the final turns that people judged in a study, one column per seat.

    Indexed by trajectory and dimension; missing where whoever sat there gave no score. By seat and
    not by name, because runs may be judged by different judges: what counts is their mean.
    """
    import pandas as pd

    judgings = [run.judging for run in runs if run.judging is not None]
    submitted = Assignment.objects.filter(study=study, state=Assignment.State.SUBMITTED)
    rows = (
        JudgeScore.objects.filter(
            judging__in=judgings,
            is_final=True,
            dimension__in=list(dimensions),
            trajectory__in=submitted.values("trajectory"),
        )
        .order_by()
        .values_list("trajectory", "dimension", "seat", "value")
    )
    frame = pd.DataFrame.from_records(
        list(rows), columns=["trajectory", "dimension", "seat", "value"]
    ).astype({"value": "float64"})
    # A dimension that nobody scored keeps its rows: what is missing is counted, not dropped.
    return frame.pivot_table(
        index=["trajectory", "dimension"],
        columns="seat",
        values="value",
        aggfunc="mean",
        dropna=False,
    )
