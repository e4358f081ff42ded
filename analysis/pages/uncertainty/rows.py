"""What the page on uncertainty reads: scores by task, attempt, judge and setting, and costs."""

from collections.abc import Hashable, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from django.db.models import Count, Sum

from analysis.filters.selection import ChosenRun
from analysis.frames.judgings import COUNTS, matches, reply_scores
from analysis.frames.outcomes import by_id, counted, outcome_frame
from analysis.kit.page import Page
from analysis.pages.correction import people_of, units_of
from analysis.reports import system_facts
from analysis.stats.corrected.corrected_means import RatedUnits, correct_mean
from analysis.stats.uncertainty.budgets import (
    Budget,
    RatingBudget,
    budget_of,
    paired_scores,
    rating_budget,
)
from annotation.models import Assignment, Study
from annotation.ratings.selectors import human_scores
from benchmarks.core.registry import find_system
from benchmarks.models import Exchange, Trajectory

if TYPE_CHECKING:
    from pandas import DataFrame

CELL = ("task", "attempt", "judge", "setting", "replicate")
# Answerers whose replies have no price.
FREE = frozenset({"scripted", "recorded", "human"})
# The latest rated items of which the median time is taken.
LATEST_ITEMS = 500
# Replicates of a seat are numbered from here.
SEAT = 10_000
# Replies of a measure above which a page says that they are too many to split.
MOST_REPLIES = 200_000


class Costs(NamedTuple):
    """What one more of each costs; money in USD, None where a call does not state it.

    ``trajectory`` is a trajectory with its judges, ``judge`` one judge’s scores of a trajectory,
    ``minutes`` are a person’s for a rated item.
    """

    trajectory: float | None
    judge: float | None
    minutes: float | None


def score_rows(runs: Sequence[ChosenRun], system: str) -> "DataFrame":
    """Return single scores of last plans: run, dimension, `CELL` and score.

    Judges of the judging beside the primary one that correspond to one there are the same judge,
    and so is one version on several seats: its replies are replicates.
    Of a benchmark without judges, the rows are the trajectories’ values of its first measure.
    """
    keys = [dimension.key for dimension in system_facts.dimensions_of(system)]
    if not keys:
        return _measure_rows(runs, system)
    replies = reply_scores(runs, keys, final=True)
    frame = replies.frame.rename(columns={"judging": "setting", "trajectory": "attempt"})
    same = {
        replies.sittings.index(match.second): replies.sittings.index(match.first)
        for match in matches(replies.judges(COUNTS), replies.judges("beside"))
    }
    beside = frame["setting"] != COUNTS
    frame["replicate"] += SEAT * frame["judge"]
    frame.loc[beside, "judge"] = frame.loc[beside, "judge"].map(lambda one: same.get(one, one))
    versions: dict[tuple[str, str], int] = {}
    seats = [versions.setdefault(seat[:2], place) for place, seat in enumerate(replies.sittings)]
    frame["judge"] = frame["judge"].map(dict(enumerate(seats)))
    place = {run.label: run.pk for run in runs}
    return frame.assign(run=frame["label"].map(place))[["run", "dimension", *CELL, "score"]]


def _measure_rows(runs: Sequence[ChosenRun], system: str) -> "DataFrame":
    headlines = find_system(system).labels.headlines
    frame = outcome_frame(runs, list(headlines[:1]))
    return frame.rename(columns={"trajectory": "attempt", headlines[0]: "score"}).assign(
        judge="rules", setting=COUNTS, replicate=1, dimension=headlines[0]
    )[["run", "dimension", *CELL, "score"]]


def overall(frame: "DataFrame") -> "DataFrame":
    """Return the mean over dimensions of each reply; missing where it lacks one."""
    grouped = frame.groupby(["run", *CELL], sort=True)["score"]
    sums = grouped.agg(["mean", "count", "size"])
    scores = sums["mean"].where(sums["count"] == sums["size"])
    return scores.rename("score").reset_index()


def budget_of_rows(frame: "DataFrame", *, sampled: bool) -> Budget:
    """Return the budget of the mean of these scores, which are of one agent and measure."""
    return budget_of(
        frame["score"].to_numpy(),
        tasks=frame["task"].tolist(),
        attempts=frame["attempt"].tolist(),
        judges=frame["judge"].tolist(),
        settings=frame["setting"].tolist(),
        sampled=sampled,
    )


def budget_of_difference(first: "DataFrame", second: "DataFrame", *, sampled: bool) -> Budget:
    """Return the budget of the difference of two agents, over cells that both have.

    Attempts correspond by their order within the task.
    """
    sides: list[dict[tuple[Hashable, ...], float]] = []
    for frame in (first, second):
        number = frame.groupby("task")["attempt"].rank(method="dense").astype(int)
        kept = frame.assign(attempt=number).dropna(subset="score")
        sides.append(
            dict(zip(kept[list(CELL)].itertuples(index=False), kept["score"], strict=True))
        )
    cells, differences = paired_scores(*sides)
    columns = [[cell[place] for cell in cells] for place in range(len(CELL))]
    return budget_of(
        differences, tasks=columns[0], attempts=columns[1], judges=columns[2], settings=columns[3],
        sampled=sampled,
    )  # fmt: skip


def rating_budgets(page: Page, scores: "DataFrame") -> dict[int, RatingBudget]:
    """Return by run what ratings would do to the corrected mean; empty where nothing is rated."""
    plans = people_of(page)
    if plans is None:
        return {}
    keys = [dimension.key for dimension in system_facts.dimensions_of(page.selection.system)]
    primary = scores[scores["setting"] == COUNTS]
    frame = primary.groupby(["run", "attempt", "task"], as_index=False)["score"].mean()
    plan = frame["attempt"].tolist()
    people = np.mean([plans.means(plan, key) for key in keys], axis=0)
    labels = {run.pk: run.label for run in page.runs}
    frame = frame.assign(trajectory=plan, label=frame["run"].map(labels), people=people)
    units = units_of(page, frame, plans)
    return {run.pk: _rating_budget(units[run.label]) for run in page.runs if run.label in units}


def person_budgets(page: Page) -> dict[int, Budget]:
    """Return by run the budget of people's mean scores of whole plans, with raters as judges.

    Simulated annotators count in demos only, as on the pages about people.
    """
    studies = page.selection.people
    if not studies:
        return {}
    demos = set(Study.objects.filter(pk__in=studies, is_demo=True).values_list("pk", flat=True))
    given: dict[tuple[int, int], list[int]] = {}
    for score in human_scores(studies=studies, runs=[run.pk for run in page.runs]):
        if (
            score.dimension
            and score.turn is None
            and (not score.is_simulated or score.study in demos)
        ):
            given.setdefault((score.trajectory, score.annotator), []).append(score.value)
    plans = Trajectory.objects.filter(pk__in={plan for plan, _ in given})
    known = {pk: (run, task) for pk, run, task in plans.values_list("pk", "run", "task")}
    by_run: dict[int, list[tuple[float, int, int, int]]] = {}
    for (plan, rater), values in given.items():
        run, task = known[plan]
        by_run.setdefault(run, []).append((sum(values) / len(values), task, plan, rater))
    return {
        run: budget_of(scores, tasks=tasks, attempts=some, judges=raters, settings=[0] * len(tasks))
        for run, rows in by_run.items()
        for scores, tasks, some, raters in (zip(*rows, strict=True),)
    }


def _rating_budget(units: RatedUnits) -> RatingBudget:
    return rating_budget(units, correct_mean(units).weight)


def costs_of(page: Page, *, timed: bool = True) -> Costs:
    """Return what a trajectory, a judge’s scores and a rated item cost here, on average.

    Without ``timed`` the minutes of people are not read.
    """
    minutes = _minutes(page) if timed else None
    kinds = {
        filler.get("kind") for run in page.runs for row in run.casting.values() for filler in row
    }
    if not kinds - FREE:  # nothing here states a cost
        return Costs(None, None, minutes)
    roles = set(system_facts.judge_roles(page.selection.system))
    rows = list(
        Exchange.objects.filter(
            counted(by_id(page.runs), "trajectory__run", "trajectory__task"),
            trajectory__status=Trajectory.Status.DONE,
        )
        .order_by()
        .values_list("role", "seat")
        .annotate(
            total=Sum("cost"),
            stated=Count("cost"),
            calls=Count("pk"),
            plays=Count("trajectory", distinct=True),
        )
    )
    stated = bool(rows) and all(stated == calls for _, _, _, stated, calls, _ in rows)
    plays = max((row[-1] for row in rows), default=0)
    judging = [row for row in rows if row[0] in roles]
    seats = len({(role, seat) for role, seat, *_ in judging})
    whole = sum(row[2] or 0.0 for row in rows) / plays if stated and plays else None
    judge = sum(row[2] for row in judging) / plays / seats if stated and judging else None
    return Costs(whole, judge, minutes)


def _minutes(page: Page) -> float | None:
    if not page.selection.people:
        return None
    times = list(
        Assignment.objects.filter(
            study__in=page.selection.people,
            part=Assignment.Part.MAIN,
            state=Assignment.State.SUBMITTED,
            active_ms__gt=0,
        )
        .order_by("-pk")
        .values_list("active_ms", flat=True)[:LATEST_ITEMS]
    )
    return median(times) / 60_000 if times else None
