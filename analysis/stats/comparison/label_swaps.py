"""Each agent against all others on many facts: one family of tests that swaps agents within tasks.

Facts hang together (who stops early does not run out of turns), and most are rare: the maximum of
all statistics over random swaps allows for both, where Bonferroni takes every test as another one
that could have gone wrong.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, encode
from analysis.stats.results import Estimate, Interval

SWAPS = 1999
POWER = 0.8
# Where only larger differences would be clear an interval says nothing that a reader could use.
LARGEST_USEFUL = 0.6
NO_COMMON_TASK = "no task that both sides have"
ALL_ALIKE = "the same on every task: no interval"
NONE_WOULD_SHOW = "too few tasks for any difference to show"
ONLY_ABOVE = "only a difference of about {points:.0f} points would show"
METHOD = "label swaps within tasks (max-T)"


@dataclass(frozen=True)
class SwapResult:
    """A group against all others on one fact.

    Attributes
    ----------
    difference
        Its share minus that of the others on common tasks, with an interval that holds for the
        whole family; ``n`` counts tasks. No interval where a difference of 60 points would not
        show.
    p_adjusted
        Of the family; None where nothing can be tested.
    smallest
        The smallest difference that would be clear with a probability of 80 %; None likewise.
    """

    difference: Estimate
    p_adjusted: float | None = None
    smallest: float | None = None


@dataclass(frozen=True)
class SwapFamily:
    """Every group on every fact; |T| has to exceed ``critical``, and ``size`` is the family's."""

    results: Mapping[tuple[str, str], SwapResult]
    critical: float
    size: int


def swap_family(
    groups: Sequence[str],
    tasks: Sequence[Hashable],
    facts: Mapping[str, Any],
    *,
    size: int,
    seed: int,
    swaps: int = SWAPS,
    level: float = 0.95,
) -> SwapFamily:
    """Compare every group with all others on every fact, on the tasks that both have.

    Parameters
    ----------
    groups, tasks
        A row per case, such as a failed trajectory: its agent and its task.
    facts
        For each fact whether a case shows it: 1, 0, or NaN where that is not known.
    size
        The number of comparisons of the family, fixed beforehand.
    seed, swaps
        Of the random swaps.

    Notes
    -----
    A group's cases of a task are one unit m_gt, their mean. A task with N units adds m_gt − m̄_t for
    a group that has one, which is J/N times its distance from the mean of the J = N − 1 others. The
    difference is Σ(m_gt − m̄_t)/Σ(J/N) over tasks, the Mantel–Haenszel difference with tasks as
    strata (1959, J. Natl. Cancer Inst. 22:719), and T is Σ(m_gt − m̄_t)/√Σσ²_t with σ²_t the
    variance of the task's units. Where agents do not differ each of them may have had each unit of
    a task: the maximum of |T| over the family, with units dealt anew within every task for all
    facts at once, gives adjusted p-values and one critical value c (Westfall & Young 1993). With
    two agents a swap is the flip of a sign. Flips of the sign of agent minus mean of the others are
    no valid test with more agents: they take an agent that never shows a fact for a sure
    difference. The interval is the difference ± c·√Σσ²_t/Σ(J/N), cut off at ±1, which excludes 0
    exactly where |T| exceeds c; the smallest difference is (c + 0.84) times that error. Size and
    power by simulation are in ``docs/statistics.md``.
    """
    check_length_of(tasks, len(groups), "tasks")
    names, group_codes = encode(groups)
    _, task_codes = encode(tasks)
    columns = np.array([as_column(shown) for shown in facts.values()]).reshape(
        len(facts), len(groups)
    )
    units = _units(group_codes, task_codes, columns, len(names))
    shape = len(names), len(facts)
    totals, variances, weights = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    counts = np.zeros(shape, dtype=np.int64)
    apart = []
    for members, values in units:
        known = ~np.isnan(values)
        size_here = known.sum(axis=0)
        means = np.where(known, values, 0).sum(axis=0) / np.maximum(size_here, 1)
        away = np.where(known & (size_here > 1), values - means, 0.0)
        totals[members] += away
        variances[members] += (away**2).mean(axis=0)
        paired = known & (size_here > 1)
        weights[members] += np.where(paired, (size_here - 1) / np.maximum(size_here, 1), 0)
        counts[members] += paired
        apart.append((members, away))
    errors = np.sqrt(variances)
    # Where all agree what is left is rounding.
    tested = errors > 1e-9
    scale = np.where(tested, errors, np.inf)
    maxima = _maxima(apart, scale, totals, seed=seed, swaps=swaps)
    allowed = int((1 - level) * maxima.size + 1e-9)
    critical = float(np.sort(maxima)[::-1][allowed])
    results = {}
    for g, name in enumerate(names):
        for f, fact in enumerate(facts):
            weight, n = float(weights[g, f]), int(counts[g, f])
            if not weight:
                results[name, fact] = SwapResult(Estimate.without_value(NO_COMMON_TASK))
                continue
            value = float(totals[g, f]) / weight
            if not tested[g, f]:
                results[name, fact] = SwapResult(Estimate(value, n, no_interval=ALL_ALIKE))
                continue
            error = float(errors[g, f]) / weight
            statistic = abs(float(totals[g, f])) / float(errors[g, f])
            adjusted = float((maxima >= statistic - 1e-9).mean())
            results[name, fact] = _result(value, n, error, critical, adjusted, size, level, seed)
    return SwapFamily(results, critical, size)


Unit = tuple[Any, Floats]


def _units(groups: Any, tasks: Any, columns: Floats, size: int) -> list[Unit]:
    """Return for each task with two groups or more who they are, and their mean of every fact."""
    cells, place = np.unique(tasks * size + groups, return_inverse=True)
    means = np.full((cells.size, columns.shape[0]), np.nan)
    for f, column in enumerate(columns):
        there = ~np.isnan(column)
        counts = np.bincount(place[there], minlength=cells.size)
        sums = np.bincount(place[there], weights=column[there], minlength=cells.size)
        np.divide(sums, counts, out=means[:, f], where=counts > 0)
    units = []
    of_task = cells // size
    for task in np.unique(of_task):
        rows = np.flatnonzero(of_task == task)
        if rows.size > 1:
            units.append((cells[rows] % size, means[rows]))
    return units


def _maxima(
    apart: Sequence[Unit], scale: Floats, totals: Floats, *, seed: int, swaps: int
) -> Floats:
    """Return the maximum of |T| for the data as they are, and for each deal of the units."""
    rng = np.random.default_rng(seed)
    drawn = np.zeros((swaps, *totals.shape))
    for members, away in apart:
        if not np.any(away):
            continue
        order = np.argsort(rng.random((swaps, len(members))), axis=1)
        drawn[:, members] += away[order]
    own = np.abs(totals / scale).max(initial=0.0)
    return np.concatenate([[own], np.abs(drawn / scale).max(axis=(1, 2), initial=0.0)])


def _result(
    value: float,
    n: int,
    error: float,
    critical: float,
    adjusted: float,
    size: int,
    level: float,
    seed: int,
) -> SwapResult:
    smallest = (critical + NormalDist().inv_cdf(POWER)) * error
    half = critical * error
    if abs(value) <= half and smallest > LARGEST_USEFUL:
        why = ONLY_ABOVE.format(points=100 * smallest) if smallest < 1 else NONE_WOULD_SHOW
        return SwapResult(Estimate(value, n, no_interval=why), adjusted, smallest)
    details = {"clusters": n, "comparisons": size, "seed": seed, "resamples": SWAPS}
    interval = Interval(value - half, value + half, level, METHOD, details, "task")
    return SwapResult(Estimate(value, n, interval).within(-1, 1), adjusted, smallest)
