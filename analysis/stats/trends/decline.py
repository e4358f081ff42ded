"""Scores over the turns of trajectories: by turn, by distance from the end, and as a slope.

AdaPlanBench, section 4 and Figure 3. Trajectories that end early leave the later means: whoever
compares turn 2 with turn 8 compares different trajectories. `within_slope` compares each with
itself.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Codes, Floats, check_length_of, check_level
from analysis.stats.descriptive.means import OPEN_SCALE, Scale, grouped_means, t_quantile
from analysis.stats.results import Estimate, Interval
from analysis.stats.trends.turn_series import NO_SLOPE, TurnSeries, read_turns

Alignment = Literal["turn", "from_end"]

ONE_TURN = "one scored turn only"
ONE_TRAJECTORY = "one trajectory only: no interval"
ONE_TASK = "one task only: no interval"


@dataclass(frozen=True)
class TurnPoint:
    """Mean score at one position.

    ``position`` is the turn (1, 2, …), or turns relative to the last one (0, −1, −2, …);
    ``running`` is how many trajectories have that turn, ``mean.n`` how many have a score there.
    """

    position: int
    running: int
    mean: Estimate

    @property
    def least_turns(self) -> int:
        """The fewest turns of a trajectory that has this position."""
        return self.position if self.position > 0 else 1 - self.position


@dataclass(frozen=True)
class Curve:
    """One agent's mean scores on one dimension; ``started`` counts its trajectories."""

    agent: str
    dimension: str
    align: Alignment
    started: int
    points: tuple[TurnPoint, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Slope:
    """Change per turn within trajectories (points of the scale per turn; n = trajectories used)."""

    agent: str
    dimension: str
    slope: Estimate


def score_by_turn(
    agents: Sequence[str],
    dimensions: Sequence[str],
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
    *,
    align: Alignment = "turn",
    level: float = 0.95,
    scale: Scale = OPEN_SCALE,
) -> tuple[Curve, ...]:
    """Compute the mean score by turn for every agent and dimension, and how many still run.

    Parameters
    ----------
    agents, dimensions, trajectories, turns, scores
        Columns of equal length, one row per trajectory, dimension and turn: the agent's and the
        dimension's name, an identifier of the trajectory, the turn from 1, and the score as the
        mean over judges. Give rows without a score (None) too: their turn still shows that the
        trajectory was running.
    align
        ``"turn"`` counts from the first turn, ``"from_end"`` from the last (0, −1, −2, …), where
        the last is the highest turn that the trajectory has in any row.
    level
        Confidence level of the t intervals.
    scale
        The least and the largest score that there can be: intervals end there.

    Notes
    -----
    The mean at a position is taken over the trajectories that have a score there, with the t
    interval of `means.mean_t`. ``running`` counts the trajectories that reached the turn, scored or
    not. Where it falls, later means are of survivors only; each curve warns of it. Undefined where
    no trajectory has a score at that position.
    """
    rows = read_turns(agents, dimensions, trajectories, turns, scores)
    longest = int(rows.last.max(initial=0))
    position = rows.turn - 1 if align == "turn" else rows.last[rows.trajectory] - rows.turn
    codes = (rows.agent * len(rows.dimensions) + rows.dimension) * longest + position
    size = len(rows.agents) * len(rows.dimensions) * longest
    means = grouped_means(codes, rows.score, size, level=level)
    curves = []
    for a, agent in enumerate(rows.agents):
        # At least t turns long: reached turn t, and equally has a turn t − 1 before its last.
        running = rows.running(a)
        for d, dimension in enumerate(rows.dimensions):
            start = (a * len(rows.dimensions) + d) * longest
            points = tuple(
                TurnPoint(p + 1 if align == "turn" else -p, count, means[start + p].within(*scale))
                for p, count in enumerate(running)
            )
            warnings = survivor_warning(running, align)
            curves.append(Curve(agent, dimension, align, running[0], points, warnings))
    return tuple(curves)


def within_slope(
    agents: Sequence[str],
    dimensions: Sequence[str],
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
    *,
    tasks: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[Slope, ...]:
    """Compute the mean change per turn inside trajectories, for every agent and dimension.

    Takes the columns of `score_by_turn`; ``tasks`` has the task of each row, where several
    trajectories share one: errors are then clustered by task.

    Notes
    -----
    With deviations from each trajectory's own means, t̃ = t − t̄_i and s̃ = s − s̄_i, the slope is
    b = Σ t̃ s̃ / Σ t̃² (least squares with one intercept per trajectory: good trajectories lasting
    longer than bad ones does not move it). Its standard error is clustered by trajectory,
    sqrt(G/(G − 1) · Σ_i (Σ_t t̃ (s̃ − b t̃))²) / Σ t̃² with G trajectories (or tasks), the interval
    b ± t(G − 1)·SE (Liang & Zeger 1986, Biometrika 73:13; Cameron & Miller 2015, J. Hum. Resour.
    50:317). It assumes a straight line, and that ending does not depend on the last score itself.

    A trajectory with one scored turn says nothing about change: excluded and counted. Undefined
    without any other; no interval from one trajectory, nor where all lie on parallel lines exactly.
    """
    check_level(level)
    rows = read_turns(agents, dimensions, trajectories, turns, scores)
    if tasks is not None:
        check_length_of(tasks, rows.score.size, "tasks")
    slopes = []
    for a, agent in enumerate(rows.agents):
        for d, dimension in enumerate(rows.dimensions):
            places = rows.rows_of(a, d)
            of_rows = None if tasks is None else [tasks[i] for i in places.tolist()]
            slope = _slope(rows.series(places), of_rows, level)
            slopes.append(Slope(agent, dimension, slope))
    return tuple(slopes)


def _slope(series: TurnSeries, tasks: Sequence[Hashable] | None, level: float) -> Estimate:
    unit = "trajectory" if tasks is None else "task"
    counts = np.bincount(series.code, minlength=series.groups)
    alone = int((counts == 1).sum())
    excluded = {ONE_TURN: alone} if alone else {}
    excluded |= series.excluded
    if not series.repeated:
        return Estimate.without_value(NO_SLOPE, excluded=excluded)
    # Trajectories with one turn have no deviation from it, and so no part in any sum.
    turn, score = _centred(series.turn, series.code), _centred(series.score, series.code)
    square = float((turn * turn).sum())
    slope = float((turn * score).sum()) / square
    cluster = series.clusters(tasks)
    groups = len(set(cluster[counts > 1].tolist()))
    if groups == 1:
        why = ONE_TRAJECTORY if tasks is None else ONE_TASK
        return Estimate(slope, series.repeated, no_interval=why, excluded=excluded)
    parts = np.bincount(cluster[series.code], weights=turn * (score - slope * turn))
    error = sqrt(groups / (groups - 1) * float((parts * parts).sum())) / square
    if error <= 1e-12 * max(1.0, abs(slope)):
        why = f"every {unit} changes at the same rate: no interval"
        return Estimate(slope, series.repeated, no_interval=why, excluded=excluded)
    half = t_quantile(groups - 1, level) * error
    interval = Interval(
        slope - half, slope + half, level, f"t, clustered by {unit}", {"df": groups - 1}
    )
    return Estimate(slope, series.repeated, interval, excluded=excluded)


def _centred(values: Floats, code: Codes) -> Floats:
    centred: Floats = values - (np.bincount(code, weights=values) / np.bincount(code))[code]
    return centred


def survivor_warning(running: Sequence[int], align: Alignment = "turn") -> tuple[str, ...]:
    """Warn that later means are of survivors, where fewer trajectories run on.

    ``running`` counts the trajectories that have at least 1, 2, … turns.
    """
    if not running or running[-1] == running[0]:
        return ()
    if align == "from_end":
        return (
            f"only {running[-1]} of {running[0]} trajectories are {len(running)} turns long: "
            "positions far from the end hold long trajectories only",
        )
    reach = "reaches" if running[-1] == 1 else "reach"
    return (
        f"{running[-1]} of {running[0]} trajectories {reach} turn {len(running)}: "
        "means of different turns compare different survivors",
    )
