"""Replies of judges in two judgings of the same turns, and which trajectories pass by each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from django.db.models import Count, Sum

from analysis.filters.runs import NEARLY, pass_threshold
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from analysis.stats.judges.rejudging import ScoreChange, score_change
from benchmarks.models import AnswererVersion, Exchange, JudgeScore, Trajectory, Turn
from benchmarks.roles.judge_names import judge_names

if TYPE_CHECKING:
    from pandas import DataFrame

COUNTS, BESIDE = "counts", "beside"
ITEM = ("trajectory", "task", "turn", "dimension")
COLUMNS = ("judging", "label", *ITEM, "judge", "replicate", "score")


class JudgeSeat(NamedTuple):
    """A judge in a judging: name, version and seat."""

    name: str
    version: str
    seat: str


@dataclass(frozen=True, eq=False)
class Replies:
    """Scores of single replies: ``frame`` has `COLUMNS`, ``judge`` is a place in ``sittings``.

    ``judging`` is `COUNTS` or `BESIDE`; ``score`` is missing where a reply gave none.
    """

    frame: "DataFrame"
    sittings: tuple[JudgeSeat, ...]

    def of(self, judging: str, judge: JudgeSeat | None = None) -> "DataFrame":
        """Return the replies of one judging, or of one judge in it."""
        rows = self.frame[self.frame["judging"] == judging]
        return rows if judge is None else rows[rows["judge"] == self.sittings.index(judge)]

    def judges(self, judging: str) -> dict[JudgeSeat, str]:
        """Return the judges of this judging with their labels."""
        there = {self.sittings[place] for place in self.of(judging)["judge"].unique().tolist()}
        called = judge_names({tuple(sitting) for sitting in there})
        return {sitting: called[tuple(sitting)] for sitting in sorted(there)}


def reply_scores(runs: Sequence[ChosenRun], dimensions: Sequence[str], *, final: bool) -> Replies:
    """Return the replies about finished trajectories in the judging that counts and the one beside
    it.
    """
    import pandas as pd

    which: dict[int, tuple[str, str]] = {}
    judged_runs: dict[int, ChosenRun] = {}
    for run in runs:
        for name, judged in ((COUNTS, run.judged), (BESIDE, run.beside)):
            if judged is not None:
                which[judged.pk] = name, run.label
                judged_runs[judged.pk] = run
    rows = JudgeScore.objects.filter(
        counted(judged_runs, "judging", "trajectory__task"), dimension__in=list(dimensions)
    )
    turns = Turn.objects.filter(
        counted(by_id(runs), "trajectory__run", "trajectory__task"),
        trajectory__status=Trajectory.Status.DONE,
    )
    if final:
        rows, turns = rows.filter(is_final=True), turns.filter(is_final=True)
    about = {
        pk: rest
        for pk, *rest in turns.order_by().values_list(
            "pk", "trajectory", "trajectory__task", "index"
        )
    }
    fields = ("judging", "turn", "dimension", "judge", "seat", "replicate", "value")
    replies = list(rows.order_by().values_list(*fields))
    versions = {
        pk: (name, version)
        for pk, name, version in AnswererVersion.objects.filter(
            pk__in={row[3] for row in replies}
        ).values_list("pk", "name", "version")
    }
    seats = sorted({(row[3], row[4]) for row in replies})
    place = {seat_of_judge: number for number, seat_of_judge in enumerate(seats)}
    records = [
        (*which[judging], *about[turn], dimension, place[judge, seat], replicate, value)
        for judging, turn, dimension, judge, seat, replicate, value in replies
        if turn in about
    ]
    frame = pd.DataFrame.from_records(records, columns=list(COLUMNS))
    return Replies(
        frame.astype({"score": "float64"}),
        tuple(JudgeSeat(*versions[judge], seat) for judge, seat in seats),
    )


@dataclass(frozen=True)
class MatchedJudges:
    """Two judges that correspond: by version, else by name, else by seat."""

    label: str
    first: JudgeSeat
    second: JudgeSeat


def matches(first: Mapping[JudgeSeat, str], second: Iterable[JudgeSeat]) -> list[MatchedJudges]:
    """Match the judges of the second judging with those of the first.

    The same version on the same seat, then on any, then another version, then the same seat.
    Judges without a counterpart are left out.
    """
    matched: list[MatchedJudges] = []
    left, right = sorted(first), sorted(second)
    alike: tuple[Any, ...] = (
        lambda first_judge: first_judge,
        lambda first_judge: first_judge[:2],
        lambda first_judge: first_judge.name,
        lambda first_judge: first_judge.seat,
    )
    for key in alike:
        for first_judge in list(left):
            other = next(
                (second_judge for second_judge in right if key(second_judge) == key(first_judge)),
                None,
            )
            if other is not None:
                matched.append(
                    MatchedJudges(
                        _called(first[first_judge], first_judge, other), first_judge, other
                    )
                )
                left.remove(first_judge)
                right.remove(other)
    return sorted(matched, key=lambda match: match.first)


def _called(name: str, judge: JudgeSeat, other: JudgeSeat) -> str:
    if judge.name != other.name:
        return f"{name} → {other.name} (seat {judge.seat})"
    return (
        name
        if judge.version == other.version
        else f"{judge.name}: {judge.version} → {other.version}"
    )


def first_replies(frame: "DataFrame") -> "DataFrame":
    """Return one reply for each judge and item: what can be held against single replies
    elsewhere.
    """
    return frame[frame["replicate"] == 1]


def item_scores(frame: "DataFrame") -> "DataFrame":
    """Return the mean of a judging's replies by judge (columns) for every item (rows, by `ITEM`).

    Missing where a reply gave none: fewer replies are another measure.
    """
    sums = frame.groupby([*ITEM, "judge"], sort=True)["score"].agg(["sum", "count", "size"])
    means = (sums["sum"] / sums["size"]).where(sums["count"] == sums["size"])
    return means.unstack("judge")


class BothScores:
    """The scores of the items that both judgings have, of each judge and of all together.

    Differences are between means of replies; whether a score is another one, and by how much, is
    about single replies, so that it can be read beside how far a judge's own replies agree.
    """

    def __init__(self, replies: Replies, seed: int) -> None:
        self.seed, self.place = seed, replies.sittings.index
        frames = [replies.of(which) for which in (COUNTS, BESIDE)]
        tables = [item_scores(part(frame)) for part in (_as_is, first_replies) for frame in frames]
        items = tables[0].index
        for table in tables[1:]:
            items = items.intersection(table.index)
        self.items = items
        self.means, self.single = (
            [table.loc[items] for table in pair] for pair in (tables[:2], tables[2:])
        )

    def change(self, match: MatchedJudges | None, dimension: str = "") -> ScoreChange:
        """Return how the scores of one judge (or all) change on one dimension (or all)."""
        kept = np.ones(len(self.items), dtype=bool)
        if dimension:
            kept = np.asarray(self.items.get_level_values("dimension") == dimension)
        tasks = self.items[kept].get_level_values("task").tolist()
        moved, changed = (
            score_change(*self._columns(pair, match, kept), tasks=tasks, seed=self.seed)
            for pair in (self.means, self.single)
        )
        return replace(changed, first=moved.first, second=moved.second, difference=moved.difference)

    def _columns(
        self, pair: Sequence["DataFrame"], match: MatchedJudges | None, kept: Any
    ) -> list[Any]:
        sitting = [None, None] if match is None else [match.first, match.second]
        return [
            (
                table.mean(axis=1, skipna=False) if seat is None else table[self.place(seat)]
            ).to_numpy()[kept]
            for table, seat in zip(pair, sitting, strict=True)
        ]


def _as_is(frame: "DataFrame") -> "DataFrame":
    return frame


def replies_of(frame: "DataFrame") -> tuple[Any, Any, list[int]]:
    """Return one judge's replies, items by replicates: scores, whether each was asked for, and
    tasks.
    """
    table = frame.pivot(index=list(ITEM), columns="replicate", values="score")
    asked = frame.assign(asked=1.0).pivot(index=list(ITEM), columns="replicate", values="asked")
    tasks = table.index.get_level_values("task").tolist()
    return table.to_numpy(dtype="float64"), ~np.isnan(asked.to_numpy(dtype="float64")), tasks


def verdicts(
    frame: "DataFrame", runs: Sequence[ChosenRun], counted: Mapping[str, Sequence[str]]
) -> dict[int, bool | None]:
    """Return whether the last plan of each trajectory passes by the replies of one judging, by its
    run's threshold, dimensions and quorum; None where that is undefined. ``frame`` has last plans
    alone.

    ``counted`` are the dimensions by the name that settings give them.
    """
    about = {
        run.label: (bar, tuple(counted[str(run.settings.get("dimensions", "all"))]))
        for run in runs
        if (bar := pass_threshold(run.settings)) is not None
    }
    passes: dict[int, bool | None] = {}
    columns = frame.groupby(["label", "trajectory", "dimension"])["score"].agg(
        ["sum", "count", "size"]
    )
    by_trajectory: dict[tuple[str, int], dict[str, float | None]] = {}
    for (label, trajectory, dimension), total, given, asked in columns.itertuples():
        if label in about:
            enough = given == asked or (given and not about[label][0].everybody)
            mean = total / given if enough and given else None
            by_trajectory.setdefault((label, trajectory), {})[dimension] = mean
    for (label, trajectory), means in by_trajectory.items():
        bar, keys = about[label]
        values = [means.get(key) for key in keys]
        known = [value for value in values if value is not None]
        passes[trajectory] = (
            min(known) >= bar.threshold - NEARLY if len(known) == len(values) and known else None
        )
    return passes


def judge_costs(
    runs: Sequence[ChosenRun], roles: Sequence[str]
) -> dict[str, dict[JudgeSeat, float]]:
    """Return each judge's mean cost of a trajectory by judging, where every call states it."""
    costs: dict[str, dict[JudgeSeat, float]] = {}
    for which in (COUNTS, BESIDE):
        judged = [(run.judged if which == COUNTS else run.beside, run) for run in runs]
        carried = {
            judging.made_by or judging.run: run for judging, run in judged if judging is not None
        }
        rows = (
            Exchange.objects.filter(
                counted(carried, "trajectory__run", "trajectory__task"), role__in=list(roles)
            )
            .order_by()
            .values_list("answerer__name", "answerer__version", "seat")
            .annotate(
                total=Sum("cost"),
                stated=Count("cost"),
                calls=Count("pk"),
                plays=Count("trajectory", distinct=True),
            )
        )
        costs[which] = {
            JudgeSeat(name, version, seat): total / plays
            for name, version, seat, total, stated, calls, plays in rows
            if stated == calls and plays
        }
    return costs
