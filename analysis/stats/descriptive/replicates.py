"""Runs that differ in their seed alone: how a figure spreads across them, and their pooled mean."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import MISSING, as_column, check_length_of, encode
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.results import Estimate
from benchmarks.core.means import Replicates, across_replicates


@dataclass(frozen=True)
class ReplicatedMean:
    """A figure of several runs: ``across`` them, each run counting once, and ``pooled``."""

    across: Replicates
    pooled: Estimate


def replicated_mean(
    values: Any,
    runs: Sequence[Hashable],
    tasks: Sequence[Hashable],
    *,
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
        The task of each value: all runs play the same ones, so tasks are what is drawn.
    seed
        Of the bootstrap.
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
    pooled = mean_by_cluster(
        column[there],
        [task for task, known in zip(tasks, there, strict=True) if known],
        excluded=gone,
    )
    return ReplicatedMean(across_replicates(means), pooled)
