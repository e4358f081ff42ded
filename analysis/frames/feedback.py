"""How people rated the feedback of trajectories, whoever gave it."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import MIXED
from annotation.models import Study
from annotation.ratings.selectors import human_scores
from benchmarks.models import Trajectory

if TYPE_CHECKING:
    from pandas import DataFrame

UNRATED = "nobody rated the feedback"


def feedback_frame(runs: Sequence[ChosenRun], question: str, studies: Sequence[int]) -> "DataFrame":
    """One row per finished trajectory: run, label, task, ``rated`` and, where missing, ``why``.

    ``rated`` is the mean over those who answered the question in these studies, players of the
    trajectory apart; ``simulated`` says whether one of them is simulated, whose answers count in
    demo studies alone. Trajectories in which a role was handed over are not rated for anybody.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    demos = set(Study.objects.filter(pk__in=studies, is_demo=True).values_list("pk", flat=True))
    given: dict[int, list[int]] = defaultdict(list)
    made_up: set[int] = set()
    for score in human_scores(studies=studies, runs=list(labels)) if studies else ():
        if score.question == question and (not score.is_simulated or score.study in demos):
            given[score.trajectory].append(score.value)
            made_up |= {score.trajectory} if score.is_simulated else set()
    rows = Trajectory.objects.filter(run__in=list(labels), status=Trajectory.Status.DONE)
    records = []
    for pk, run, task, recast in rows.order_by("pk").values_list("pk", "run", "task", "recast"):
        value = fmean(given[pk]) if pk in given and not recast else None
        why = "" if value is not None else MIXED if recast else UNRATED
        records.append((run, labels[run], task, value, why, pk in made_up))
    frame = pd.DataFrame.from_records(
        records, columns=["run", "label", "task", "rated", "why", "simulated"]
    )
    return frame.astype({"rated": "float64"})
