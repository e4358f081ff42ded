"""How long something lasts that is observed at whole steps: survival, competing ends, and a test.

Times are steps at which something was looked at (1, 2, …), so ties are the rule. Rows of a cluster
(a task) need not be independent of each other.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
from scipy import stats

from analysis.stats.columns import Codes, Floats, check_length_of, check_level, encode
from analysis.stats.results import Estimate, Interval

NO_ROWS = "nothing to follow"
NEVER = "never broken so far: an interval needs a first time"
ALWAYS = "always broken by then: an interval needs some that last"
METHOD = "Kaplan–Meier, log(−log), cluster-robust"
CENSORED, BROKEN, OTHER = 0, 1, 2


@dataclass(frozen=True)
class SurvivalPoint:
    """What is known at one step.

    ``at_risk`` rows were looked at there and whole before; ``broken`` of them broke there.
    ``kept`` is the share that lasts beyond the step (Kaplan–Meier), its ``n`` the rows at risk;
    ``error`` its standard error. ``incidence`` is the share that is broken by then where another
    end makes breaking impossible (Aalen–Johansen), ``incidence_error`` its standard error.
    """

    time: int
    at_risk: int
    broken: int
    kept: Estimate
    error: float | None
    incidence: float
    incidence_error: float | None


def survival_curve(
    times: Any,
    ends: Any,
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
    unit: str = "task",
) -> tuple[SurvivalPoint, ...]:
    """Estimate how long rows last, with standard errors that allow for clusters.

    Parameters
    ----------
    times
        Steps at which each row was broken or seen last, whole numbers from 1.
    ends
        `BROKEN`, `CENSORED` (seen no longer), or `OTHER`: an end after which it cannot break.
    clusters
        What each row belongs to.

    Returns
    -------
    A point for each step from 1 to the last at which a row is at risk; empty without rows.

    Notes
    -----
    S(t) = Π(1 − d/r). Its standard error is the infinitesimal jackknife by clusters, as R's
    ``survfit(..., cluster=)`` has it: of log S, each row contributes Σ(dN − Y·h)/(r·(1 − h)) up to
    t (Terry Therneau, survival 3.5). Intervals are on the scale log(−log S) with a t quantile of
    clusters − 1. In S, rows that end otherwise are censored; the incidence Σ S(t−)·h counts them
    as never broken, with S of all ends (Aalen & Johansen 1978, Scand. J. Stat. 5:141). Coverage is
    right from 10 clusters on (``docs/statistics.md``).
    """
    check_level(level)
    time, end = _columns(times, ends)
    check_length_of(clusters, time.size, "clusters")
    if not time.size:
        return ()
    _, cluster = encode(list(clusters))
    groups = int(cluster.max()) + 1
    last = int(time.max())
    at_risk, broken, other = _counts(time, end, last)
    hazard = broken / at_risk
    kept, errors = _kept(time, end, cluster, at_risk, hazard)
    incidence, incidence_errors = _incidence(time, end, cluster, at_risk, broken, other)
    quantile = float(stats.t.ppf((1 + level) / 2, groups - 1)) if groups > 1 else 0.0
    points = []
    for step in range(last):
        error = float(errors[step]) if groups > 1 else None
        points.append(
            SurvivalPoint(
                step + 1,
                int(at_risk[step]),
                int(broken[step]),
                _estimate(
                    float(kept[step]), int(at_risk[step]), error, quantile, groups, level, unit
                ),
                error,
                float(incidence[step]),
                float(incidence_errors[step]) if groups > 1 else None,
            )
        )
    return tuple(points)


@dataclass(frozen=True)
class BlockTest:
    """A test of groups within blocks: χ², its degrees of freedom, p, and how many blocks tell.

    ``undefined`` says why there is none.
    """

    statistic: float
    freedom: int
    p: float | None
    blocks: int
    undefined: str = ""


def logrank_by_block(
    groups: Sequence[Hashable],
    times: Any,
    ends: Any,
    units: Sequence[Hashable],
    blocks: Sequence[Hashable],
) -> BlockTest:
    """Test whether rows last equally long in all groups, where groups meet in blocks.

    Parameters
    ----------
    groups, units, blocks
        Of each row: its group (an agent), the unit that carries it (a trajectory, of one group and
        one block), and the block in which units of several groups meet (a task).
    times, ends
        As in `survival_curve`; other ends are censored.

    Notes
    -----
    Log-rank scores (a row's events minus what the pooled hazard expects of it) are summed by unit;
    within a block every way to give its units to its groups is taken as equally likely. Mean and
    covariance of the groups' sums under that are exact, and χ² is their quadratic form (Strasser &
    Weber 1999, Math. Methods Stat. 8:220), so that rows of a unit and units of a block need not be
    independent. Size under no difference is in ``docs/statistics.md``.
    """
    time, end = _columns(times, ends)
    for column, name in ((groups, "groups"), (units, "units"), (blocks, "blocks")):
        check_length_of(column, time.size, name)
    names, group = encode(list(groups))
    if len(names) < 2:
        return BlockTest(0.0, 0, None, 0, "only one of them has anything to follow")
    at_risk, broken, _ = _counts(time, end, int(time.max()))
    expected = np.concatenate(([0.0], np.cumsum(broken / at_risk)))
    score = (end == BROKEN) - expected[time]
    _, unit = encode(list(units))
    _, block = encode(list(blocks))
    first = np.unique(unit, return_index=True)[1]
    score, group, block = np.bincount(unit, weights=score), group[first], block[first]
    size = np.bincount(block)
    mean = np.bincount(block, weights=score) / size
    spread = np.bincount(block, weights=(score - mean[block]) ** 2)
    count = np.zeros((size.size, len(names)))
    np.add.at(count, (block, group), 1.0)
    scale = np.divide(spread, size - 1, out=np.zeros_like(spread), where=size > 1)
    total = np.bincount(group, weights=score, minlength=len(names)) - mean @ count
    covariance = np.diag(scale @ count) - (count * (scale / size)[:, None]).T @ count
    telling = int(((scale > 0) & (count.max(axis=1) < size)).sum())
    freedom = int(np.linalg.matrix_rank(covariance)) if telling else 0
    if not freedom:
        return BlockTest(0.0, 0, None, 0, "no task was played by several agents that differ")
    statistic = float(total @ np.linalg.pinv(covariance) @ total)
    return BlockTest(statistic, freedom, float(stats.chi2.sf(statistic, freedom)), telling)


def _columns(times: Any, ends: Any) -> tuple[Codes, Codes]:
    time, end = np.asarray(times), np.asarray(ends)
    check_length_of(end, time.size, "ends")
    if time.size and (not np.equal(time, np.floor(time)).all() or time.min() < 1):
        raise ValueError("times are whole numbers from 1")
    if not np.isin(end, (CENSORED, BROKEN, OTHER)).all():
        raise ValueError("ends are 0 (censored), 1 (broken) or 2 (another end)")
    return time.astype(np.int64), end.astype(np.int64)


def _counts(time: Codes, end: Codes, last: int) -> tuple[Floats, Floats, Floats]:
    """Return rows at risk, broken, and ended otherwise, at each step from 1."""
    every = np.bincount(time, minlength=last + 1)[1:]
    at_risk = every[::-1].cumsum()[::-1].astype(float)
    broken, other = (
        np.bincount(time[end == code], minlength=last + 1)[1:].astype(float)
        for code in (BROKEN, OTHER)
    )
    return at_risk, broken, other


def _by_cluster(cluster: Codes, place: Codes, weights: Any, last: int) -> Floats:
    """Sum weights by cluster and step (clusters × steps)."""
    groups = int(cluster.max()) + 1
    flat = np.bincount(cluster * last + place, weights=weights, minlength=groups * last)
    return np.asarray(flat.reshape(groups, last), dtype=float)


def _hazard_influence(
    time: Codes, end: Codes, cluster: Codes, at_risk: Floats, hazard: Floats, code: int
) -> Floats:
    """Return how each cluster moves the hazard of one end at each step (clusters × steps)."""
    last = at_risk.size
    seen = _by_cluster(cluster, time - 1, np.ones(time.size), last)[:, ::-1].cumsum(axis=1)[:, ::-1]
    events = _by_cluster(cluster, time - 1, (end == code).astype(float), last)
    return (events - seen * hazard) / at_risk


def _kept(
    time: Codes, end: Codes, cluster: Codes, at_risk: Floats, hazard: Floats
) -> tuple[Floats, Floats]:
    kept = np.cumprod(1 - hazard)
    influence = _hazard_influence(time, end, cluster, at_risk, hazard, BROKEN)
    left = np.where(hazard < 1, 1 - hazard, 1.0)
    moved = -kept * np.cumsum(influence / left, axis=1)
    return np.asarray(kept, dtype=float), np.sqrt((moved**2).sum(axis=0))


def _incidence(
    time: Codes, end: Codes, cluster: Codes, at_risk: Floats, broken: Floats, other: Floats
) -> tuple[Floats, Floats]:
    first, second = broken / at_risk, other / at_risk
    stays = 1 - first - second
    before = np.concatenate(([1.0], np.cumprod(stays)[:-1]))
    moved_first = _hazard_influence(time, end, cluster, at_risk, first, BROKEN)
    moved = moved_first + _hazard_influence(time, end, cluster, at_risk, second, OTHER)
    logs = np.cumsum(-moved / np.where(stays > 0, stays, 1.0), axis=1)
    shifted = np.concatenate((np.zeros((logs.shape[0], 1)), logs[:, :-1]), axis=1)
    steps = before * (shifted * first + moved_first)
    errors = np.sqrt((np.cumsum(steps, axis=1) ** 2).sum(axis=0))
    return np.cumsum(before * first), errors


def _estimate(
    kept: float, n: int, error: float | None, quantile: float, groups: int, level: float, unit: str
) -> Estimate:
    if error is None:
        return Estimate(kept, n, no_interval=f"one {unit} only: no interval", method=METHOD)
    if not 0 < kept < 1 or not error:
        why = NEVER if kept >= 1 else ALWAYS if kept <= 0 else "no spread between tasks"
        return Estimate(kept, n, no_interval=why, method=METHOD)
    half = quantile * error / (kept * abs(log(kept)))
    middle = log(-log(kept))
    interval = Interval(
        exp(-exp(middle + half)),
        exp(-exp(middle - half)),
        level,
        METHOD,
        {"clusters": groups},
        unit,
    )
    return Estimate(kept, n, interval, method=METHOD)
