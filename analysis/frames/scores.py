"""Judges' scores: one row per judged turn and dimension, and sums per judge."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db.models import Count, QuerySet, Sum

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import VALID, by_id, counted, outcome_frame
from benchmarks.core.registry import find_system
from benchmarks.models import AnswererVersion, JudgeScore, Trajectory, Turn
from benchmarks.roles.judge_names import judge_names

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("label", "trajectory", "task", "turn", "dimension", "score")
CELL_COLUMNS = ("label", "dimension", "judge", "mean", "n", "by_task")
SINGLE_COLUMNS = (
    "label",
    "trajectory",
    "task",
    "turn",
    "is_final",
    "dimension",
    "judge",
    "score",
)
UNSCORED = "not every judge scored"
UNSCORED_PLAN = "not every judge scored the last plan"


def _scores(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> QuerySet[JudgeScore]:
    judgings = {run.judging: run for run in runs if run.judging is not None}
    rows = JudgeScore.objects.filter(
        counted(judgings, "judging", "trajectory__task"), dimension__in=list(dimensions)
    )
    return (rows.filter(is_final=True) if final else rows).order_by()


def turn_scores(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> "DataFrame":
    """Return the judges' mean score of every judged turn on every dimension: `COLUMNS`.

    Missing where a judge who was asked gave no score: the mean of fewer judges is another measure.
    """
    import numpy as np
    import pandas as pd

    # In the order of the index, so that nothing is sorted; what turns are is read apart, once each.
    groups = ("judging", "is_final", "dimension", "turn")
    rows = list(
        _scores(runs, dimensions, final=final)
        .values(*groups)
        .annotate(total=Sum("value"), scored=Count("value"), asked=Count("pk"))
        .values_list("judging", "dimension", "turn", "total", "scored", "asked")
    )
    judging, dimension, judged, total, scored, asked = (
        zip(*rows, strict=True) if rows else ((),) * 6
    )
    turns = np.array(sorted(_turns(runs, final=final)), dtype=np.int64).reshape(-1, 4)
    at = np.array(judged, dtype=np.int64)
    where = np.searchsorted(turns[:, 0], at)
    there = np.zeros(len(at), dtype=bool)
    inside = where < len(turns)
    there[inside] = turns[where[inside], 0] == at[inside]
    trajectory, task, turn = turns[where[there], 1:].T
    placed = {run.judging: place for place, run in enumerate(runs) if run.judging is not None}
    order = {key: place for place, key in enumerate(dimensions)}
    agent = np.array([placed[pk] for pk in judging], dtype=np.int64)[there]
    place = np.array([order[key] for key in dimension], dtype=np.int64)[there]
    # Where no judge gave one there is no sum, and the score is missing.
    sums = np.array(total, dtype=np.float64)[there]
    given, wanted = (np.array(n, dtype=np.int64)[there] for n in (scored, asked))
    score = np.where(given == wanted, sums / np.maximum(wanted, 1), np.nan)
    ordered = np.lexsort((turn, trajectory, place, agent))
    labels = np.array([run.label for run in runs], dtype=object)
    keys = np.array(dimensions, dtype=object)
    columns = (labels[agent], trajectory, task, turn, keys[place], score)
    return pd.DataFrame(
        {name: column[ordered] for name, column in zip(COLUMNS, columns, strict=True)}
    )


def measure_frame(runs: Sequence[ChosenRun], metric: str, system: str) -> "DataFrame":
    """Return `outcome_frame` of one measure, which may be a rubric dimension."""
    if metric in find_system(system).labels.measures:
        return outcome_frame(runs, [metric])
    frame = outcome_frame(runs, [])
    scores = turn_scores(runs, [metric], final=True).set_index("trajectory")["score"]
    frame[metric] = frame["trajectory"].map(scores).astype("float64")
    frame[f"why {metric}"] = frame[metric].isna().map({True: UNSCORED_PLAN, False: ""})
    return frame


def _turns(runs: Sequence[ChosenRun], *, final: bool) -> list[tuple[int, int, int, int]]:
    """Return the turns of finished trajectories: id, trajectory, task and index."""
    rows = Turn.objects.filter(
        counted(by_id(runs), "trajectory__run", "trajectory__task"),
        trajectory__status=Trajectory.Status.DONE,
    ).order_by()
    if final:
        rows = rows.filter(is_final=True)
    fields = ("pk", "trajectory", "trajectory__task", "index")
    return list(rows.values_list(*fields))


def judge_cells(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> "DataFrame":
    """Return the mean and number of scores of every judge, by agent and dimension:
    `CELL_COLUMNS`; ``by_task`` has the sum and number of the scores of each task.
    """
    import pandas as pd

    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    groups = ("judging", "dimension", "judge", "seat", "trajectory__task")
    rows = list(
        _scores(runs, dimensions, final=final)
        .values(*groups)
        .annotate(total=Sum("value"), n=Count("value"))
        .values_list(*groups, "total", "n")
    )
    names = _names({(judge, seat) for _, _, judge, seat, *_ in rows})
    cells: dict[tuple[str, str, str], dict[int, tuple[float, int]]] = {}
    for judging, dimension, judge, seat, task, total, n in rows:
        key = (by_judging[judging], dimension, names[judge, seat])
        cells.setdefault(key, {})[task] = (total or 0.0, n)
    records = []
    for key, by_task in cells.items():
        n = sum(count for _, count in by_task.values())
        total = sum(part for part, _ in by_task.values())
        records.append((*key, total / n if n else None, n, by_task))
    frame = pd.DataFrame.from_records(records, columns=list(CELL_COLUMNS))
    order = {key: place for place, key in enumerate(dimensions)}
    placed = {label: place for place, label in enumerate(by_judging.values())}
    keys = frame["label"].map(placed), frame["dimension"].map(order)
    frame = frame.assign(agent=keys[0], place=keys[1]).sort_values(["agent", "place", "judge"])
    return frame[list(CELL_COLUMNS)].reset_index(drop=True)


def _names(seats: set[tuple[int, str]]) -> dict[tuple[int, str], str]:
    """Return the label of each judge by id and seat."""
    versions = AnswererVersion.objects.filter(pk__in={judge for judge, _ in seats})
    known = {
        pk: (name, version) for pk, name, version in versions.values_list("pk", "name", "version")
    }
    called = judge_names({(*known[judge], seat) for judge, seat in seats})
    return {(judge, seat): called[(*known[judge], seat)] for judge, seat in seats}


class Unscored(NamedTuple):
    """The number of scores that a dimension lacks, and the reasons that judges gave."""

    missing: int
    asked: int
    reasons: Mapping[str, int]


def unscored(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> dict[str, Unscored]:
    """Return the scores that were asked for and not given, by dimension, with the reasons."""
    rows = _scores(runs, dimensions, final=final)
    by_dimension: dict[str, Unscored] = {}
    asked: Counter[str] = Counter()
    given: Counter[str] = Counter()
    # In the order of the index, as above.
    groups = rows.values("judging", "is_final", "dimension")
    counted = groups.annotate(asked=Count("pk"), given=Count("value"))
    for dimension, count, there in counted.values_list("dimension", "asked", "given"):
        asked[dimension] += count
        given[dimension] += there
    if asked == given:
        return by_dimension
    missing = rows.filter(value__isnull=True).values_list("dimension", "reason")
    reasons: dict[str, dict[str, int]] = {}
    for dimension, reason, count in missing.annotate(n=Count("pk")):
        reasons.setdefault(dimension, {})[reason or "no reason given"] = count
    for dimension in (key for key in dimensions if key in reasons):
        ordered = dict(sorted(reasons[dimension].items(), key=lambda item: (-item[1], item[0])))
        by_dimension[dimension] = Unscored(sum(ordered.values()), asked[dimension], ordered)
    return by_dimension


def single_scores(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> "DataFrame":
    """Return every judge's score of every judged turn: `SINGLE_COLUMNS`; missing where it gave
    none.

    Where a judge was asked several times, the mean of its answers, if it gave one each time.
    """
    import pandas as pd

    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    groups = ("judging", "is_final", "dimension", "turn", "judge", "seat")
    # In one order on every database, where resamples begin.
    rows = sorted(
        _scores(runs, dimensions, final=final)
        .values(*groups)
        .annotate(total=Sum("value"), scored=Count("value"), asked=Count("pk"))
        .values_list(*groups, "total", "scored", "asked")
    )
    turns = {pk: about for pk, *about in _turns(runs, final=final)}
    names = _names({(row[4], row[5]) for row in rows})
    records = [
        (
            by_judging[judging],
            *turns[turn],
            is_final,
            dimension,
            names[judge, seat],
            total / asked if scored == asked else None,
        )
        for judging, is_final, dimension, turn, judge, seat, total, scored, asked in rows
        if turn in turns
    ]
    frame = pd.DataFrame.from_records(records, columns=list(SINGLE_COLUMNS))
    return frame.astype({"score": "float64"})


class UnreadableScores(NamedTuple):
    """Turns of one run that lack a readable score of some judge, of all judged turns.

    ``judges`` counts missing scores by judge.
    """

    label: str
    turns: int
    of: int
    judges: Mapping[str, int]


def unread(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> dict[str, UnreadableScores]:
    """Count by label of the run the turns that lack a score of some judge; runs without any are
    absent.
    """
    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    missing = _scores(runs, dimensions, final=final).filter(value__isnull=True)
    gone = list(missing.values_list("judging", "turn", "judge", "seat"))
    if not gone:
        return {}
    names = _names({(judge, seat) for _, _, judge, seat in gone})
    turns: dict[int, set[int]] = {}
    judges: dict[int, Counter[str]] = {}
    for judging, turn, judge, seat in gone:
        turns.setdefault(judging, set()).add(turn)
        judges.setdefault(judging, Counter())[names[judge, seat]] += 1
    asked = dict(
        _scores(runs, dimensions, final=final)
        .filter(judging__in=list(turns))
        .values_list("judging")
        .annotate(n=Count("turn", distinct=True))
    )
    return {
        label: UnreadableScores(
            label, len(turns[judging]), asked[judging], dict(sorted(judges[judging].items()))
        )
        for judging, label in by_judging.items()
        if judging in turns
    }


@dataclass(frozen=True, eq=False)
class LastPlans:
    """A row per finished trajectory: agent, task, validity (NaN: unknown), and the judges' mean
    score of the last plan on each of ``dimensions`` (NaN: a judge is missing).
    """

    labels: list[str]
    tasks: list[int]
    valid: Any
    scores: Any
    dimensions: tuple[str, ...]

    def counted(self, dimensions: Sequence[str]) -> Any:
        """Return the scores on some of the dimensions."""
        return self.scores[:, [self.dimensions.index(key) for key in dimensions]]


def last_plans(runs: Sequence[ChosenRun], dimensions: Sequence[str]) -> LastPlans:
    """Return the last plans of the runs, scored by the judging of each."""
    outcomes = outcome_frame(runs, [VALID])
    scored = turn_scores(runs, dimensions, final=True)
    table = scored.pivot_table(
        index="trajectory", columns="dimension", values="score", aggfunc="first", dropna=False
    ).reindex(index=outcomes["trajectory"], columns=list(dimensions))
    return LastPlans(
        outcomes["label"].tolist(),
        outcomes["task"].tolist(),
        outcomes[VALID].to_numpy(),
        table.to_numpy(dtype="float64"),
        tuple(dimensions),
    )
