"""People's scores of plans, over all studies that count, by trajectory, turn and dimension."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import MIXED
from annotation.models import Study
from annotation.ratings.selectors import human_scores
from benchmarks.models import Trajectory

if TYPE_CHECKING:
    from pandas import DataFrame


# Trajectory, turn (None for the last plan), and dimension.
Judged = tuple[int, int | None, str]


@dataclass(frozen=True)
class PeopleScores:
    """The mean of people's scores of each plan, and whose they are.

    ``given`` has every score with its annotator. ``simulated`` counts the simulated annotators
    among ``annotators``.
    """

    means: Mapping[Judged, float] = field(default_factory=dict)
    annotators: int = 0
    simulated: int = 0
    studies: tuple[str, ...] = ()
    given: Mapping[Judged, Sequence[tuple[int, int]]] = field(default_factory=dict)

    def of(self, trajectory: int, turn: int, dimension: str, *, last: bool) -> float | None:
        """Return the people's score of a turn; of the last one, else what they said of the last
        plan.
        """
        mean = self.means.get((trajectory, turn, dimension))
        if mean is None and last:
            mean = self.means.get((trajectory, None, dimension))
        return mean


def people_scores(
    studies: Sequence[int], runs: Sequence[ChosenRun], *, loaded: Sequence[Study] = ()
) -> PeopleScores:
    """Return the scores of submitted items about the runs' trajectories.

    Simulated annotators count in demos only, as on the pages about people. ``loaded`` are these
    studies, where they were read before.
    """
    if not studies:
        return PeopleScores()
    rows = loaded or Study.objects.filter(pk__in=studies)
    known = {study.pk: (study.name, study.is_demo) for study in rows}
    given: dict[Judged, list[tuple[int, int]]] = {}
    who: dict[int, bool] = {}
    used: dict[int, str] = {}
    for score in human_scores(studies=studies, runs=[run.pk for run in runs]):
        name, demo = known[score.study]
        if not score.dimension or (score.is_simulated and not demo):
            continue
        key = score.trajectory, score.turn, score.dimension
        given.setdefault(key, []).append((score.annotator, score.value))
        who[score.annotator] = score.is_simulated
        used[score.study] = name
    return PeopleScores(
        {key: sum(value for _, value in rows) / len(rows) for key, rows in given.items()},
        len(who),
        sum(who.values()),
        tuple(used.values()),
        given,
    )


UNRATED = "nobody rated the feedback"


def feedback_frame(runs: Sequence[ChosenRun], question: str, studies: Sequence[int]) -> "DataFrame":
    """Return one row per finished trajectory: run, label, task, trajectory, ``rated`` and, where
    missing, ``why``.

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
    for pk, run, task, role_changes in rows.order_by("pk").values_list(
        "pk", "run", "task", "role_changes"
    ):
        value = fmean(given[pk]) if pk in given and not role_changes else None
        why = "" if value is not None else MIXED if role_changes else UNRATED
        records.append((run, labels[run], task, pk, value, why, pk in made_up))
    frame = pd.DataFrame.from_records(
        records, columns=["run", "label", "task", "trajectory", "rated", "why", "simulated"]
    )
    return frame.astype({"rated": "float64"})
