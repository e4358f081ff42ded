"""Two models (or conditions) on the same tasks: difference, tests, and who wins where."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.bootstrap import Units, estimate_from_draws, resampled
from analysis.stats.columns import MISSING, Floats, as_column, check_length_of, check_level, encode
from analysis.stats.paired_tests import (
    PERMUTATIONS,
    McNemar,
    SignFlipTest,
    mcnemar,
    sign_flip_test,
)
from analysis.stats.results import Estimate

NO_COMMON_TASK = "no task in common"
ONE_SIDED = "task that only one of the two has"
RESAMPLES = 2000


@dataclass(frozen=True)
class PairedTasks:
    """The tasks that both have, with each one's mean over attempts.

    ``attempts`` counts the values behind them; ``single`` says that every task has one on either
    side. ``excluded`` counts values without a number, and tasks that only one of the two has.
    """

    tasks: tuple[Hashable, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    attempts: int
    single: bool
    excluded: Mapping[str, int]

    @property
    def differences(self) -> Floats:
        """First minus second, by task."""
        differences: Floats = np.array(self.first) - np.array(self.second)
        return differences

    @property
    def binary(self) -> bool:
        """Whether every task has one attempt on either side that succeeds or fails."""
        return self.single and {*self.first, *self.second} <= {0.0, 1.0}


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
        {reason: count for reason, count in gone if count},
    )


def _means(
    tasks: Sequence[Hashable], values: Any, name: str
) -> tuple[dict[Hashable, tuple[float, int]], int]:
    column = as_column(values)
    check_length_of(tasks, column.size, f"{name} tasks")
    there = ~np.isnan(column)
    names, codes = encode(task for task, keep in zip(tasks, there, strict=True) if keep)
    sizes = np.bincount(codes, minlength=len(names))
    means = np.bincount(codes, weights=column[there], minlength=len(names)) / np.maximum(sizes, 1)
    pairs = zip(means.tolist(), sizes.tolist(), strict=True)
    return dict(zip(names, pairs, strict=True)), int((~there).sum())


def paired_difference(
    paired: PairedTasks, *, seed: int, resamples: int = RESAMPLES, level: float = 0.95
) -> Estimate:
    """Compute the mean difference, first minus second, with an interval that draws tasks.

    Parameters
    ----------
    paired
        From `pair_by_task`.
    seed, resamples
        Of the bootstrap.

    Returns
    -------
    Estimate
        In the units of the values; ``n`` counts tasks.

    Notes
    -----
    Every task has the same weight, whatever its number of attempts: the mean over tasks of (mean of
    the first's attempts − mean of the second's). The interval draws tasks with replacement, so
    attempts at one task stay together, and is between the (1 ∓ level)/2 quantiles of the means.
    Tasks with equal differences are interchangeable: how often each distinct difference is drawn is
    one multinomial draw (for outcomes of 0 and 1 over n10, n01 and the agreements n11 + n00), which
    has the same law. Efron & Tibshirani 1993, An Introduction to the Bootstrap, ch. 13. Undefined
    without a common task; no interval from one, nor where the difference is the same on all.
    """
    check_level(level)
    values = paired.differences
    n = int(values.size)
    if n == 0:
        return Estimate.without_value(NO_COMMON_TASK, excluded=paired.excluded)
    distinct, often = np.unique(values, return_counts=True)
    units = Units(np.column_stack([distinct, np.ones_like(distinct)]), often, "task")
    drawn = resampled(
        units, lambda totals: totals[:, 0] / totals[:, 1], seed=seed, resamples=resamples
    )
    return estimate_from_draws(
        float(values.mean()), n, drawn, units, level=level, seed=seed, excluded=paired.excluded
    )


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
    p_value, test
        Two-sided, of the test that is named: McNemar's where every task has one attempt that
        succeeds or fails, else the sign-flip test. None without a common task.
    mcnemar
        None where it does not apply.
    permutation
        None without a common task.
    """

    first: float | None
    second: float | None
    difference: Estimate
    wins: int
    ties: int
    losses: int
    p_value: float | None
    test: str
    mcnemar: McNemar | None
    permutation: SignFlipTest | None


def compare_pair(
    paired: PairedTasks,
    *,
    seed: int,
    resamples: int = RESAMPLES,
    permutations: int = PERMUTATIONS,
    level: float = 0.95,
) -> PairComparison:
    """Compare two by their differences on the tasks that both have.

    Parameters
    ----------
    paired
        From `pair_by_task`.
    seed, resamples, permutations
        Of the bootstrap and of the permutation test.

    Notes
    -----
    Difference and interval as in `paired_difference`. McNemar's exact test (`mcnemar`) where every
    task has one attempt that succeeds or fails, else the sign-flip test (`sign_flip_test`) of the
    differences between tasks' means. Interval and p-value are made in different ways and may
    disagree at the edge.
    """
    difference = paired_difference(paired, seed=seed, resamples=resamples, level=level)
    if not paired.tasks:
        return PairComparison(None, None, difference, 0, 0, 0, None, "", None, None)
    values = paired.differences
    wins, losses = int((values > 1e-12).sum()), int((values < -1e-12).sum())
    flips = sign_flip_test(values, seed=seed, permutations=permutations)
    table = None
    p_value, test = flips.p_value, "sign-flip permutation test"
    if paired.binary:
        both = sum(a == b == 1 for a, b in zip(paired.first, paired.second, strict=True))
        table = mcnemar(both, wins, losses, values.size - both - wins - losses)
        p_value, test = table.p_exact, "McNemar, exact"
    return PairComparison(
        first=float(np.mean(paired.first)),
        second=float(np.mean(paired.second)),
        difference=difference,
        wins=wins,
        ties=values.size - wins - losses,
        losses=losses,
        p_value=p_value,
        test=test,
        mcnemar=table,
        permutation=flips,
    )
