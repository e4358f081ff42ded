"""Judges' scores: one row per judged turn and dimension, and sums per judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, QuerySet, Sum

from analysis.selection import ChosenRun
from benchmarks.models import JudgeScore

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("label", "trajectory", "task", "turn", "dimension", "score")
CELL_COLUMNS = ("label", "dimension", "judge", "mean", "n")
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


def _scores(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> QuerySet[JudgeScore]:
    judgings = [run.judging for run in runs if run.judging is not None]
    rows = JudgeScore.objects.filter(judging__in=judgings, dimension__in=list(dimensions))
    return (rows.filter(is_final=True) if final else rows).order_by()


def turn_scores(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> "DataFrame":
    """The judges' mean score of every judged turn on every dimension: `COLUMNS`.

    Missing where a judge who was asked gave no score: the mean of fewer judges is another measure.
    """
    import pandas as pd

    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    groups = ("judging", "trajectory", "trajectory__task", "turn_index", "dimension")
    rows = (
        _scores(runs, dimensions, final=final)
        .filter(trajectory__status="done")
        .values(*groups)
        .annotate(total=Sum("value"), scored=Count("value"), asked=Count("pk"))
        .values_list(*groups, "total", "scored", "asked")
    )
    frame = pd.DataFrame.from_records(
        list(rows),
        columns=["judging", "trajectory", "task", "turn", "dimension", "total", "scored", "asked"],
    )
    frame["label"] = frame["judging"].map(by_judging)
    mean = frame["total"].astype("float64") / frame["asked"]
    frame["score"] = mean.where(frame["scored"] == frame["asked"])
    order = {key: place for place, key in enumerate(dimensions)}
    frame["place"] = frame["dimension"].map(order)
    placed = {label: place for place, label in enumerate(by_judging.values())}
    frame["agent"] = frame["label"].map(placed)
    frame = frame.sort_values(["agent", "place", "trajectory", "turn"], ignore_index=True)
    return frame[list(COLUMNS)]


def judge_cells(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> "DataFrame":
    """Mean and number of scores of every judge, by agent and dimension: `CELL_COLUMNS`."""
    import pandas as pd

    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    groups = ("judging", "dimension", "judge__name", "judge__version", "seat")
    rows = list(
        _scores(runs, dimensions, final=final)
        .values(*groups)
        .annotate(total=Sum("value"), n=Count("value"))
        .values_list(*groups, "total", "n")
    )
    names = judge_names({(name, version, seat) for _, _, name, version, seat, _, _ in rows})
    records = [
        (
            by_judging[judging],
            dimension,
            names[name, version, seat],
            total / n if n else None,
            n,
        )
        for judging, dimension, name, version, seat, total, n in rows
    ]
    frame = pd.DataFrame.from_records(records, columns=list(CELL_COLUMNS))
    order = {key: place for place, key in enumerate(dimensions)}
    placed = {label: place for place, label in enumerate(by_judging.values())}
    keys = frame["label"].map(placed), frame["dimension"].map(order)
    frame = frame.assign(agent=keys[0], place=keys[1]).sort_values(["agent", "place", "judge"])
    return frame[list(CELL_COLUMNS)].reset_index(drop=True)


def judge_names(judges: set[tuple[str, str, str]]) -> dict[tuple[str, str, str], str]:
    """What to call each judge: its name; with version or seat where the name does not tell."""
    versions: dict[str, set[str]] = {}
    seats: dict[tuple[str, str], set[str]] = {}
    for name, version, seat in judges:
        versions.setdefault(name, set()).add(version)
        seats.setdefault((name, version), set()).add(seat)
    called = {}
    for name, version, seat in judges:
        words = name
        if len(versions[name]) > 1:
            words += f" {version}"
        if len(seats[name, version]) > 1:
            words += f", seat {seat}"
        called[name, version, seat] = words
    return called


@dataclass(frozen=True)
class Unscored:
    """How many scores a dimension lacks, and what the judges said about it."""

    missing: int
    asked: int
    reasons: Mapping[str, int]


def unscored(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> dict[str, Unscored]:
    """Scores that were asked for and not given, by dimension, with the reasons."""
    rows = _scores(runs, dimensions, final=final)
    found: dict[str, Unscored] = {}
    asked = dict(rows.values_list("dimension").annotate(n=Count("pk")))
    missing = rows.filter(value__isnull=True).values_list("dimension", "reason")
    reasons: dict[str, dict[str, int]] = {}
    for dimension, reason, count in missing.annotate(n=Count("pk")):
        reasons.setdefault(dimension, {})[reason or "no reason given"] = count
    for dimension, by_reason in reasons.items():
        ordered = dict(sorted(by_reason.items(), key=lambda item: (-item[1], item[0])))
        found[dimension] = Unscored(sum(ordered.values()), asked[dimension], ordered)
    return found


def single_scores(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> "DataFrame":
    """Every judge's score of every judged turn: `SINGLE_COLUMNS`; missing where it gave none.

    Where a judge was asked several times, the mean of its answers, if it gave one each time.
    """
    import pandas as pd

    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    who = ("judge__name", "judge__version", "seat")
    fields = ("judging", "trajectory", "trajectory__task", "turn_index", "is_final", "dimension")
    rows = list(
        _scores(runs, dimensions, final=final)
        .filter(trajectory__status="done")
        .values_list(*fields, *who)
        .annotate(total=Sum("value"), scored=Count("value"), asked=Count("pk"))
    )
    names = judge_names({row[len(fields) : -3] for row in rows})
    records = [
        (
            by_judging[row[0]],
            *row[1 : len(fields)],
            names[row[len(fields) : -3]],
            row[-3] / row[-1] if row[-2] == row[-1] else None,
        )
        for row in rows
    ]
    frame = pd.DataFrame.from_records(records, columns=list(SINGLE_COLUMNS))
    return frame.astype({"score": "float64"})


@dataclass(frozen=True)
class Unread:
    """Turns of one run that lack a readable score of some judge, of all judged turns.

    ``judges`` counts missing scores by judge.
    """

    label: str
    turns: int
    of: int
    judges: Mapping[str, int]


def unread(
    runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool
) -> dict[str, Unread]:
    """By label of the run: turns that lack a score of some judge; runs without any are absent."""
    by_judging = {run.judging: run.label for run in runs if run.judging is not None}
    missing = _scores(runs, dimensions, final=final).filter(value__isnull=True)
    turns = dict(missing.values_list("judging").annotate(n=Count("turn", distinct=True)))
    if not turns:
        return {}
    who = ("judge__name", "judge__version", "seat")
    gone = list(missing.values_list("judging", *who).annotate(n=Count("pk")))
    names = judge_names({row[1:-1] for row in gone})
    judges: dict[int, dict[str, int]] = {}
    for judging, *judge, count in gone:
        name, version, seat = judge
        judges.setdefault(judging, {})[names[name, version, seat]] = count
    asked = dict(
        _scores(runs, dimensions, final=final)
        .filter(judging__in=list(turns))
        .values_list("judging")
        .annotate(n=Count("turn", distinct=True))
    )
    return {
        label: Unread(label, turns[judging], asked[judging], judges[judging])
        for judging, label in by_judging.items()
        if judging in turns
    }
