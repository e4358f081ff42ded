"""Turns compared over trajectories that do not change: survivors cannot move these means."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.descriptive.means import OPEN_SCALE, Scale, mean_t
from analysis.stats.results import Estimate
from analysis.stats.trends.turn_series import TurnRows, read_turns

NO_HORIZON = "no two trajectories have a second turn"
NOBODY = "no trajectory is scored on each of the first {horizon} turns"
TOO_SHORT = "ended before turn {horizon}"
UNSCORED = "a turn up to {horizon} without a score"
STAYERS_HIGHER = (
    "trajectories that reach turn {horizon} began {gap:.2f} points {word} than those that ended "
    "before: means by turn compare them with each other"
)


@dataclass(frozen=True)
class MatchedCurve:
    """Means by turn of the same trajectories throughout.

    Attributes
    ----------
    horizon
        The last turn compared; None where no two trajectories have a second turn.
    points
        Mean score at turns 1 … horizon, each over the same trajectories.
    change
        Mean over them of score at the horizon minus score at turn 1.
    stayed, left
        Mean at turn 1 of the trajectories in the comparison, and of those that ended before.
    """

    agent: str
    dimension: str
    horizon: int | None
    points: tuple[Estimate, ...]
    change: Estimate
    stayed: Estimate
    left: Estimate
    warnings: tuple[str, ...]


def matched_turns(
    agents: Sequence[str],
    dimensions: Sequence[str],
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
    *,
    horizon: int | None = None,
    level: float = 0.95,
    scale: Scale = OPEN_SCALE,
) -> tuple[MatchedCurve, ...]:
    """Compare turns over a fixed set of trajectories, for every agent and dimension.

    Parameters
    ----------
    agents, dimensions, trajectories, turns, scores
        As in `decline.score_by_turn`.
    horizon
        The last turn to compare, from 2. Without it, per agent the highest turn that at least half
        of the trajectories reach, but at least 2.
    level
        Confidence level of the t intervals over trajectories.
    scale
        Lowest and highest possible score: intervals of means end there, and those of changes at
        its width.

    Raises
    ------
    ValueError
        If the horizon is under 2, and as in `decline.score_by_turn`.

    Notes
    -----
    In the comparison are the trajectories with a score on each of the turns 1 … T. Their means at
    t = 1 … T, and the mean of s_T − s_1, are of the same trajectories: trajectories that
    end early cannot move them. The price: they describe only trajectories that last T turns. Where
    a low score ends a trajectory, those that last had some luck before T, which biases the change
    downwards. (Changes from one turn to the next, over all trajectories that have both, are biased
    more and are not given.) Intervals as in `means.mean_t`. Left out are
    trajectories that ended before T and those with a turn that has no score, counted by reason. A
    warning says where those that stayed and those that left began at clearly different scores (t
    intervals of their means do not meet).
    """
    if horizon is not None and horizon < 2:
        raise ValueError(f"a comparison needs two turns, not a horizon of {horizon}")
    rows = read_turns(agents, dimensions, trajectories, turns, scores)
    curves = []
    for a, agent in enumerate(rows.agents):
        last = horizon or _half_way(rows.running(a))
        for d, dimension in enumerate(rows.dimensions):
            table = _table(rows, a, d)
            curves.append(_curve(agent, dimension, last, table, rows.lengths(a), level, scale))
    return tuple(curves)


def _half_way(running: Sequence[int]) -> int | None:
    if len(running) < 2 or running[1] < 2:
        return None
    return max(2, sum(2 * count >= running[0] for count in running))


def _table(rows: TurnRows, agent: int, dimension: int) -> Floats:
    """Return one agent's scores by trajectory (rows) and turn (columns); NaN for none."""
    mine = np.flatnonzero(rows.owner == agent)
    table = np.full((mine.size, int(rows.last[mine].max(initial=0))), np.nan)
    place = np.zeros(rows.owner.size, dtype=np.int64)
    place[mine] = np.arange(mine.size)
    here = (rows.agent == agent) & (rows.dimension == dimension)
    table[place[rows.trajectory[here]], rows.turn[here] - 1] = rows.score[here]
    return table


def _curve(
    agent: str,
    dimension: str,
    horizon: int | None,
    table: Floats,
    lengths: Any,
    level: float,
    scale: Scale,
) -> MatchedCurve:
    if horizon is None:
        none = Estimate.without_value(NO_HORIZON, n=len(table))
        return MatchedCurve(agent, dimension, None, (), none, none, none, ())
    short = lengths < horizon
    scored = np.array(
        [horizon <= row.size and not np.isnan(row[:horizon]).any() for row in table], dtype=bool
    )
    gone = (
        (TOO_SHORT.format(horizon=horizon), int(short.sum())),
        (UNSCORED.format(horizon=horizon), int((~short & ~scored).sum())),
    )
    excluded = {reason: count for reason, count in gone if count}
    left = mean_t(table[short, 0], level=level, scale=scale)
    if not scored.any():
        none = Estimate.without_value(NOBODY.format(horizon=horizon), excluded=excluded)
        return MatchedCurve(agent, dimension, horizon, (), none, none, left, ())
    kept = table[scored, :horizon]
    points = tuple(mean_t(column, level=level, excluded=excluded, scale=scale) for column in kept.T)
    low, high = scale
    reach = OPEN_SCALE if low is None or high is None else (low - high, high - low)
    change = mean_t(kept[:, -1] - kept[:, 0], level=level, excluded=excluded, scale=reach)
    warnings = _gap(points[0], left, horizon)
    return MatchedCurve(agent, dimension, horizon, points, change, points[0], left, warnings)


def _gap(stayed: Estimate, left: Estimate, horizon: int) -> tuple[str, ...]:
    if stayed.interval is None or left.interval is None:
        return ()
    gap = (stayed.value or 0.0) - (left.value or 0.0)
    if stayed.interval.low <= left.interval.high and left.interval.low <= stayed.interval.high:
        return ()
    word = "higher" if gap > 0 else "lower"
    return (STAYERS_HIGHER.format(horizon=horizon, gap=abs(gap), word=word),)
