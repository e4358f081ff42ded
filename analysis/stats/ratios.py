"""Ratios of totals, such as searches per call."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.stats.bootstrap import few_clusters, percentile_interval
from analysis.stats.columns import MISSING, as_column, check_length_of, check_level, encode
from analysis.stats.means import CLUSTERS_EQUAL, ONE_CLUSTER, resampled_quotients
from analysis.stats.results import Estimate

NOTHING_BELOW = "the total to divide by is 0"


def ratio_of_totals(
    above: Any,
    below: Any,
    clusters: Sequence[Hashable],
    *,
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
    unit: str = "task",
) -> Estimate:
    """Compute Σ above / Σ below with a percentile bootstrap interval that resamples clusters.

    Parameters
    ----------
    above, below
        Two columns of counts, 0 or more, one row per trajectory; a row that lacks either is
        excluded and counted.
    clusters
        The cluster of each row, usually its task.
    seed, resamples, level, unit
        As in `means.mean_by_cluster`.

    Returns
    -------
    Estimate
        ``n`` is the number of rows.

    Notes
    -----
    Long trajectories weigh more than short ones: it is no mean of ratios, which would leave out
    rows with nothing below and let rows with little below decide. Each resample draws clusters with
    replacement and divides its own totals; resamples with nothing below are dropped and counted in
    a warning. Undefined where Σ below = 0; no interval from one cluster, nor where all resamples
    agree. Cochran 1977, Sampling Techniques, ch. 6 (ratio estimator); Efron 1979, Ann. Stat. 7:1.
    """
    check_level(level)
    tops, bottoms = as_column(above), as_column(below)
    check_length_of(bottoms, tops.size, "below")
    check_length_of(clusters, tops.size, "clusters")
    there = ~(np.isnan(tops) | np.isnan(bottoms))
    counts = dict(excluded or {})
    if not there.all():
        counts[MISSING] = counts.get(MISSING, 0) + int((~there).sum())
    tops, bottoms = tops[there], bottoms[there]
    if (tops < 0).any() or (bottoms < 0).any():
        raise ValueError("counts are 0 or more")
    n, total = int(tops.size), float(bottoms.sum())
    if total == 0:
        return Estimate.without_value(NOTHING_BELOW, n=n, excluded=counts)
    names, codes = encode(c for c, keep in zip(clusters, there, strict=True) if keep)
    value, size = float(tops.sum()) / total, len(names)
    if size == 1:
        return Estimate(value, n, no_interval=ONE_CLUSTER.format(unit=unit), excluded=counts)
    drawn = resampled_quotients(
        np.bincount(codes, weights=tops, minlength=size),
        np.bincount(codes, weights=bottoms, minlength=size),
        seed=seed,
        resamples=resamples,
    )
    kept = drawn[~np.isnan(drawn)]
    interval = percentile_interval(
        kept, level=level, unit=unit, seed=seed, resamples=resamples, clusters=size
    )
    if interval.high - interval.low <= 1e-12 * max(1.0, abs(value)):
        why = CLUSTERS_EQUAL.format(unit=unit).replace("mean", "ratio")
        return Estimate(value, n, no_interval=why, excluded=counts)
    warnings = [*few_clusters(size, unit)]
    if kept.size < drawn.size:
        warnings.append(f"{drawn.size - kept.size} of {drawn.size} resamples had nothing below")
    return Estimate(value, n, interval, excluded=counts, warnings=tuple(warnings))
