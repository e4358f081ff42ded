"""Two models (or conditions) on the same tasks: difference, tests, and who wins where."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.stats.columns import MISSING, Floats, as_column, check_length_of, check_level, encode
from analysis.stats.results import Estimate, Interval

# Halvings of [−1, 1]: past the precision of a float.
HALVINGS = 60
EQUAL = 1e-12


@dataclass(frozen=True)
class PairedTable:
    """The number of tasks on which both succeed, one of the two, or none (n11, n10, n01, n00)."""

    both: int
    first_only: int
    second_only: int
    neither: int

    def __post_init__(self) -> None:
        """Refuse counts below 0."""
        if min(self.both, self.first_only, self.second_only, self.neither) < 0:
            raise ValueError("counts are 0 or more")

    @property
    def tasks(self) -> int:
        """The number of all tasks."""
        return self.both + self.first_only + self.second_only + self.neither


def score_p(table: PairedTable) -> float:
    """Test whether two succeed equally often, with one attempt at each task.

    Notes
    -----
    z = (n10 − n01)/√(n10 + n01), two-sided against the normal distribution; p = 1 where the two
    never differ. It is McNemar's χ² without continuity correction (1947, Psychometrika 12:153), and
    Tango's score statistic at a difference of 0. Its size by enumeration is in
    ``docs/statistics.md``: at most 0.057 at 15 to 100 tasks.
    """
    differing = table.first_only + table.second_only
    if not differing:
        return 1.0
    return _two_sided((table.first_only - table.second_only) / sqrt(differing))


def score_interval(table: PairedTable, level: float = 0.95) -> tuple[float, float]:
    """Return Tango's score interval of the difference of two success rates, first minus second.

    Notes
    -----
    With b = n10, c = n01 and n tasks, the interval is all Δ with |T(Δ)| ≤ z, where
    T(Δ) = (b − c − nΔ)/√(n(2q + Δ(1 − Δ))), q = (√(B² − 8nC) − B)/(4n) is the maximum likelihood
    estimate of P(n01) under Δ, B = −b − c + (2n − b + c)Δ and C = −cΔ(1 − Δ). T falls in Δ, so each
    end is found by halving. Tango 1998, Stat. Med. 17:891. It always has width, also where the two
    never differ: ±z²/(n + z²). Tasks are taken as independent, with one attempt on either side.
    """
    check_level(level)
    n = table.tasks
    if not n:
        raise ValueError("an interval needs tasks")
    z = NormalDist().inv_cdf((1 + level) / 2)
    value = (table.first_only - table.second_only) / n
    low = -1.0 if table.second_only == n else _end(table, -1.0, value, z)
    high = 1.0 if table.first_only == n else _end(table, 1.0, value, z)
    return low, high


def _end(table: PairedTable, outside: float, inside: float, z: float) -> float:
    """Halve between a rejected and an accepted difference."""
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        if abs(_tango(table, middle)) <= z:
            inside = middle
        else:
            outside = middle
    return inside


def _tango(table: PairedTable, delta: float) -> float:
    """Return Tango's statistic at a difference between −1 and 1, both excluded."""
    b, c, n = table.first_only, table.second_only, table.tasks
    above = b - c - n * delta
    if abs(above) < EQUAL:
        return 0.0
    linear = -b - c + (2 * n - b + c) * delta
    constant = -c * delta * (1 - delta)
    q = (sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    return above / sqrt(variance) if variance > 0 else float("inf")


def robust_p(differences: Any) -> float:
    """Test whether differences between clusters' means are 0 on average.

    Parameters
    ----------
    differences
        One per task, first minus second; at least one, none missing.

    Notes
    -----
    z = Σd/√Σd², two-sided against the normal distribution: the score test that takes the variance
    under the hypothesis, robust to anything inside a task (Boos 1992, Am. Stat. 46:327). For one
    attempt that succeeds or fails it is `score_p`. p = 1 where all differences are 0. |z| is at
    most √n, so under 4 tasks no difference is clear at 0.05.
    """
    values = _checked(differences)
    size = float(values @ values)
    if size <= EQUAL:
        return 1.0
    return _two_sided(float(values.sum()) / sqrt(size))


def robust_interval(differences: Any, level: float = 0.95) -> tuple[float, float] | None:
    """Return the interval that belongs to `robust_p`: all Δ with |Σ(d − Δ)|/√Σ(d − Δ)² ≤ z.

    Notes
    -----
    With mean m and population variance s² of n differences it is m ± z·s/√(n − z²). None where
    n ≤ z²: then no Δ is rejected.
    """
    check_level(level)
    values = _checked(differences)
    z = NormalDist().inv_cdf((1 + level) / 2)
    if values.size <= z * z:
        return None
    half = z * float(values.std()) / sqrt(values.size - z * z)
    mean = float(values.mean())
    return mean - half, mean + half


def _checked(differences: Any) -> Floats:
    values = as_column(differences)
    if values.size == 0 or np.isnan(values).any():
        raise ValueError("a paired test needs differences, and none of them missing")
    return values


def _two_sided(z: float) -> float:
    return erfc(abs(z) / sqrt(2))


NO_COMMON_TASK = "no task in common"
ONE_SIDED = "task that only one of the two has"
ONE_TASK = "one task in common: no interval"
TOO_FEW = "{n} tasks are too few for an interval at this level"
ALL_ALIKE = "the difference is the same on every task: no interval"


@dataclass(frozen=True)
class PairedTasks:
    """The tasks that both have, with each one's mean over attempts.

    ``attempts`` counts the values behind them; ``single`` says that every task has one on either
    side, ``rates`` that every value is 0 or 1. ``excluded`` counts values without a number, and
    tasks that only one of the two has.
    """

    tasks: tuple[Hashable, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    attempts: int
    single: bool
    rates: bool
    excluded: Mapping[str, int]

    @property
    def differences(self) -> Floats:
        """First minus second, by task."""
        differences: Floats = np.array(self.first) - np.array(self.second)
        return differences

    @property
    def binary(self) -> bool:
        """Return whether every task has one attempt on either side that succeeds or fails."""
        return self.single and self.rates

    @property
    def table(self) -> PairedTable | None:
        """The tasks by who succeeds; None where that is not known of each."""
        if not self.binary:
            return None
        pairs = Counter(zip(self.first, self.second, strict=True))
        return PairedTable(pairs[1, 1], pairs[1, 0], pairs[0, 1], pairs[0, 0])


def pair_by_task(
    first_tasks: Sequence[Hashable],
    first_values: Any,
    second_tasks: Sequence[Hashable],
    second_values: Any,
) -> PairedTasks:
    """Match two columns of values by task.

    Parameters
    ----------
    first_tasks, first_values, second_tasks, second_values
        A row per attempt: its task, and its outcome (0 or 1) or score; None and NaN are excluded
        and counted. Several attempts at a task are averaged.
    """
    first, gone_first = _means(first_tasks, first_values, "first")
    second, gone_second = _means(second_tasks, second_values, "second")
    common = [task for task in first if task in second]
    gone = (
        (MISSING, gone_first + gone_second),
        (ONE_SIDED, len(first.keys() ^ second.keys())),
    )
    sizes = [side[task][1] for task in common for side in (first, second)]
    return PairedTasks(
        tuple(common),
        tuple(first[task][0] for task in common),
        tuple(second[task][0] for task in common),
        sum(sizes),
        all(size == 1 for size in sizes),
        all(_is_rate(values) for values in (first_values, second_values)),
        {reason: count for reason, count in gone if count},
    )


def _is_rate(values: Any) -> bool:
    column = as_column(values)
    return bool(np.isin(column[~np.isnan(column)], (0, 1)).all())


def _means(
    tasks: Sequence[Hashable], values: Any, name: str
) -> tuple[dict[Hashable, tuple[float, int]], int]:
    column = as_column(values)
    check_length_of(tasks, column.size, f"{name} tasks")
    there = ~np.isnan(column)
    names, codes = encode(compress(tasks, there))
    sizes = np.bincount(codes, minlength=len(names))
    means = np.bincount(codes, weights=column[there], minlength=len(names)) / np.maximum(sizes, 1)
    pairs = zip(means.tolist(), sizes.tolist(), strict=True)
    return dict(zip(names, pairs, strict=True)), int((~there).sum())


def paired_difference(
    paired: PairedTasks,
    *,
    level: float = 0.95,
    comparisons: int = 1,
    most: float | None = None,
) -> Estimate:
    """Compute the mean difference, first minus second, with a score interval over tasks.

    Parameters
    ----------
    paired
        From `pair_by_task`.
    level, comparisons
        The interval is one of so many that hold together at this level (Bonferroni): each for
        itself has level 1 − (1 − level)/comparisons.
    most
        The largest difference that the scale allows; 1 for outcomes of 0 and 1.

    Returns
    -------
    Estimate
        In the units of the values; ``n`` counts tasks.

    Notes
    -----
    Every task has the same weight, whatever its number of attempts: the mean over tasks of (mean of
    the first's attempts − mean of the second's). With one attempt each that succeeds or fails the
    interval is Tango's (`paired.score_interval`), else that of the robust score test over
    tasks (`paired.robust_interval`), cut off at the ends of the scale. Undefined without a
    common task; no interval from one, from n ≤ z² tasks, nor where scores differ equally on all.
    """
    check_level(level)
    if comparisons < 1:
        raise ValueError("an interval is one of at least one comparison")
    values, excluded = paired.differences, paired.excluded
    n = int(values.size)
    if n == 0:
        return Estimate.without_value(NO_COMMON_TASK, excluded=excluded)
    value = float(values.mean())
    each = 1 - (1 - level) / comparisons
    table = paired.table
    if n == 1:
        return Estimate(value, n, no_interval=ONE_TASK, excluded=excluded)
    if table is not None:
        ends: tuple[float, float] | None = score_interval(table, each)
        method = "Tango score"
    else:
        if np.ptp(values) <= EQUAL:
            return Estimate(value, n, no_interval=ALL_ALIKE, excluded=excluded)
        ends = robust_interval(values, each)
        method = "robust score by task"
    if ends is None:
        return Estimate(value, n, no_interval=TOO_FEW.format(n=n), excluded=excluded)
    details = {"clusters": n}
    if comparisons > 1:
        method += f", simultaneous over {comparisons} comparisons (Bonferroni)"
        details["comparisons"] = comparisons
    interval = Interval(*ends, level, method, details, "task")
    difference = Estimate(value, n, interval, excluded=excluded)
    widest = 1.0 if paired.rates else most
    return difference if widest is None else difference.within(-widest, widest)


@dataclass(frozen=True)
class PairComparison:
    """Two models on the tasks that both have.

    Attributes
    ----------
    first, second
        Mean over the common tasks; None without any.
    difference
        First minus second, in the units of the values; ``n`` counts tasks.
    wins, ties, losses
        Tasks on which the first is better, equal (to 1e-12), worse.
    p_value
        Two-sided, of the test that the interval of ``difference`` inverts, for this comparison
        alone. None without a common task.
    table
        Tasks by who succeeds; None where a task has several attempts, or a score.
    """

    first: float | None
    second: float | None
    difference: Estimate
    wins: int
    ties: int
    losses: int
    p_value: float | None
    table: PairedTable | None


def compare_pair(
    paired: PairedTasks,
    *,
    level: float = 0.95,
    comparisons: int = 1,
    most: float | None = None,
) -> PairComparison:
    """Compare two by their differences on the tasks that both have.

    Parameters
    ----------
    paired
        From `pair_by_task`.
    level, comparisons, most
        As in `paired_difference`.

    Notes
    -----
    Difference and interval as in `paired_difference`; p-value of the test that belongs to it,
    `paired.score_p` or `paired.robust_p`. The interval excludes 0 exactly where
    comparisons · p < 1 − level.
    """
    difference = paired_difference(paired, level=level, comparisons=comparisons, most=most)
    if not paired.tasks:
        return PairComparison(None, None, difference, 0, 0, 0, None, None)
    values = paired.differences
    wins, losses = int((values > EQUAL).sum()), int((values < -EQUAL).sum())
    table = paired.table
    return PairComparison(
        first=float(np.mean(paired.first)),
        second=float(np.mean(paired.second)),
        difference=difference,
        wins=wins,
        ties=values.size - wins - losses,
        losses=losses,
        p_value=score_p(table) if table is not None else robust_p(values),
        table=table,
    )
