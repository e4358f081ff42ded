"""Several trials of one task: how likely it is that k of them all succeed."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import comb
from typing import Any

import numpy as np

from analysis.stats.columns import MISSING, as_column, check_length_of, check_level, encode
from analysis.stats.descriptive.means import OPEN_SCALE, Scale, mean_by_cluster, mean_t
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate
from benchmarks.core.means import ReplicateSummary, across_replicates

TOO_FEW = "fewer than {k} trials"
NO_TASK = "no task has {k} trials"


@dataclass(frozen=True)
class TrialCounts:
    """Trials n and successes c of each task; ``missing`` trials had no outcome."""

    tasks: tuple[Hashable, ...]
    trials: tuple[int, ...]
    successes: tuple[int, ...]
    missing: int = 0

    @property
    def most(self) -> int:
        """The largest number of trials of any task."""
        return max(self.trials, default=0)


def count_trials(outcomes: Any, tasks: Sequence[Hashable]) -> TrialCounts:
    """Count trials and successes by task.

    Parameters
    ----------
    outcomes
        One column of 0 and 1, one row per trial; None and NaN have no outcome: they are counted
        and are no trials.
    tasks
        The task of each trial.
    """
    column = as_column(outcomes)
    check_length_of(tasks, column.size, "tasks")
    there = ~np.isnan(column)
    kept = column[there]
    if not np.isin(kept, (0, 1)).all():
        raise ValueError("outcomes must be 0, 1 or missing")
    names, codes = encode(compress(tasks, there))
    trials = np.bincount(codes, minlength=len(names))
    successes = np.bincount(codes, weights=kept, minlength=len(names))
    return TrialCounts(
        names,
        tuple(int(n) for n in trials),
        tuple(int(c) for c in successes),
        int((~there).sum()),
    )


def success_rate(
    outcomes: Any,
    tasks: Sequence[Hashable],
    *,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
) -> Estimate:
    """Compute the share of trials that succeeded, with the interval that suits them.

    Parameters
    ----------
    outcomes, tasks
        As in `count_trials`; missing outcomes are excluded and counted.
    excluded
        Trials left out before, by reason; carried through. Without any trial the estimate is
        undefined for the first of these reasons.

    Notes
    -----
    With one trial per task trials are taken as independent, and the interval is Wilson's
    (`proportions.share`). Where a task was tried several times its trials are not, and tasks
    are taken as such (`means.mean_by_cluster`). The value is the share of trials either way: a task
    with more trials weighs more.
    """
    counts = count_trials(outcomes, tasks)
    left = dict(excluded or {})
    if counts.missing:
        left[MISSING] = left.get(MISSING, 0) + counts.missing
    if not counts.trials and left:
        check_level(level)
        return Estimate.without_value(next(iter(left)), excluded=left)
    if counts.most < 2:
        return share(sum(counts.successes), sum(counts.trials), level=level, excluded=left)
    column = as_column(outcomes)
    there = ~np.isnan(column)
    kept = [task for task, keep in zip(tasks, there, strict=True) if keep]
    return mean_by_cluster(column[there], kept, level=level, excluded=left)


def measure_mean(
    values: Any,
    tasks: Sequence[Hashable],
    *,
    rate: bool,
    scale: Scale = OPEN_SCALE,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
) -> Estimate:
    """Compute the mean of a measure over trajectories, with the interval that it has everywhere.

    Parameters
    ----------
    values, tasks
        One of each per trajectory; None and NaN are excluded and counted.
    rate
        The values are 0 or 1, and the mean is a share of trajectories.
    scale
        The least and the largest value that there can be: the interval ends there. A count's scale
        begins at 0.
    excluded
        Trajectories left out before, by reason; carried through. Without any value the estimate is
        undefined for the first of these reasons.

    Notes
    -----
    The one place where a measure gets its interval, so that a number reads the same on every page.
    Rates as in `success_rate`; other means Student's t (`means.mean_t`) where each task was tried
    once, else by task (`means.mean_by_cluster`).
    """
    if rate:
        return success_rate(values, tasks, level=level, excluded=excluded)
    column = as_column(values)
    check_length_of(tasks, column.size, "tasks")
    there = ~np.isnan(column)
    kept = [task for task, keep in zip(tasks, there, strict=True) if keep]
    left = dict(excluded or {})
    if not kept and left:
        check_level(level)
        return Estimate.without_value(next(iter(left)), excluded=left)
    if len(set(kept)) == len(kept):
        return mean_t(column, level=level, excluded=left, scale=scale)
    return mean_by_cluster(column, tasks, level=level, excluded=left, scale=scale)


@dataclass(frozen=True)
class ReplicatedMean:
    """A figure of several runs: ``across`` them, each run counting once, and ``pooled``."""

    across: ReplicateSummary
    pooled: Estimate


def replicated_mean(
    values: Any,
    runs: Sequence[Hashable],
    tasks: Sequence[Hashable],
    *,
    rate: bool = False,
    scale: Scale = OPEN_SCALE,
    excluded: Mapping[str, int] | None = None,
) -> ReplicatedMean:
    """Compute mean and spread of run means, and the pooled mean with an interval over tasks.

    Parameters
    ----------
    values
        One column of numbers, one for each trajectory; None and NaN are excluded and counted.
    runs
        The run of each value. Runs without any value count as undefined.
    tasks
        The task of each value: all runs play the same ones, so tasks are taken as independent.
    rate, scale
        As in `measure_mean`: one run alone has the interval that it has on every page.
    excluded
        Why values are not there, each counted once, those that are None or NaN among ``values``
        as well. Left out, these are counted as missing.

    Notes
    -----
    With run means m_1 … m_R: their mean, the sample standard deviation s (R − 1), and the range, as
    papers give three runs. s says how far one run may lie from another on these tasks; the pooled
    interval says how far the mean may lie from that on other tasks. Neither holds the other. s
    needs two runs, the interval two tasks. With unequal numbers of values per run the mean of means
    and the pooled mean differ.
    """
    column = as_column(values)
    check_length_of(runs, column.size, "runs")
    names, codes = encode(runs)
    there = ~np.isnan(column)
    ns = np.bincount(codes[there], minlength=len(names))
    sums = np.bincount(codes[there], weights=column[there], minlength=len(names))
    means = [float(total / n) if n else None for total, n in zip(sums, ns, strict=True)]
    # With reasons given, a value that is not there was counted under its own.
    gone = {MISSING: int((~there).sum())} if excluded is None and not there.all() else excluded
    kept = [task for task, known in zip(tasks, there, strict=True) if known]
    pooled = measure_mean(column[there], kept, rate=rate, scale=scale, excluded=gone)
    return ReplicatedMean(across_replicates(means), pooled)


def pass_power(
    counts: TrialCounts,
    k: int,
    *,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
) -> Estimate:
    """Estimate pass^k: the probability that k trials of a task all succeed, averaged over tasks.

    Parameters
    ----------
    counts
        Trials and successes by task, from `count_trials`.
    k
        How many trials must all succeed, from 1.
    excluded
        Trials left out before, by reason; carried through.

    Returns
    -------
    Estimate
        In fractions; ``n`` is the number of tasks.

    Notes
    -----
    pass^k = mean over tasks of C(c, k)/C(n, k), with c successes in n trials of a task: the share
    of all sets of k trials in which every one succeeded. C(c, k)/C(n, k) is an unbiased estimate
    of p^k where a task's trials are independent with success probability p; (c/n)^k is not, it is
    too large. pass^1 is the mean success rate of tasks. It is no pass@k, which asks whether *any*
    of k trials succeeds. Yao, Shinn, Razavi & Narasimhan 2024, τ-bench (arXiv 2406.12045),
    section 2.

    Tasks with fewer than k trials have no such set; they are left out and counted, so with unequal
    numbers of trials the curve over k is about fewer tasks at its end. The interval takes tasks as
    independent (`means.mean_by_cluster`, one value per task). Undefined where no task has k
    trials; no interval from one task, nor where all tasks have the same value.
    """
    check_level(level)
    if k < 1 or k != int(k):
        raise ValueError(f"k is a whole number from 1, not {k}")
    left = dict(excluded or {})
    if counts.missing:
        left[MISSING] = left.get(MISSING, 0) + counts.missing
    pairs = list(zip(counts.tasks, counts.trials, counts.successes, strict=True))
    values = {task: comb(c, k) / comb(n, k) for task, n, c in pairs if n >= k}
    short = len(pairs) - len(values)
    if not values:
        return Estimate.without_value(NO_TASK.format(k=k), excluded=left)
    if short:
        left[TOO_FEW.format(k=k)] = short
    return mean_by_cluster(
        list(values.values()),
        list(values),
        level=level,
        excluded=left,
        scale=(0, 1),
    )
