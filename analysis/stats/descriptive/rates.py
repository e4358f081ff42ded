"""Ratios of totals, such as searches per call, and shares with an interval by cluster."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from analysis.stats.columns import MISSING, as_column, check_length_of, check_level, encode
from analysis.stats.descriptive.means import (
    CLUSTERS_EQUAL,
    ONE_CLUSTER,
    cluster_interval,
    cluster_quotient,
)
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate

NOTHING_BELOW = "the total to divide by is 0"


def ratio_of_totals(
    above: Any,
    below: Any,
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
    unit: str = "task",
    rate: bool = False,
) -> Estimate:
    """Compute Σ above / Σ below with an interval that takes clusters as independent.

    Parameters
    ----------
    above, below
        Two columns of counts, 0 or more, one row per trajectory; a row that lacks either is
        excluded and counted.
    clusters
        The cluster of each row, usually its task.
    level, unit
        As in `means.mean_by_cluster`.
    rate
        What is above is a part of what is below: the value is a share.

    Returns
    -------
    Estimate
        ``n`` is the number of rows.

    Notes
    -----
    Long trajectories weigh more than short ones: it is no mean of ratios, which would leave out
    rows with nothing below and let rows with little below decide. The interval is that of
    `means.mean_by_cluster`, from `means.cluster_quotient`; it does not go below 0, and for a share
    not above 1. Undefined where Σ below = 0; no interval where all that is below belongs to one
    cluster, nor where all clusters have the same ratio. Cochran 1977, Sampling Techniques, ch. 6
    (ratio estimator).
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
    names, codes = encode(compress(clusters, there))
    value, size = float(tops.sum()) / total, len(names)
    sums = np.bincount(codes, weights=tops, minlength=size)
    sizes = np.bincount(codes, weights=bottoms, minlength=size)
    size = int(np.count_nonzero(sums + sizes))  # others say nothing
    if size == 1 or np.count_nonzero(sizes) == 1:
        return Estimate(value, n, no_interval=ONE_CLUSTER.format(unit=unit), excluded=counts)
    _, error, df = cluster_quotient(sums, sizes)
    if error <= 1e-9 * max(1.0, abs(value)):
        why = CLUSTERS_EQUAL.format(unit=unit).replace("mean", "ratio")
        return Estimate(value, n, no_interval=why, excluded=counts)
    interval = cluster_interval(value, error, df, clusters=size, unit=unit, level=level, rate=rate)
    return Estimate(value, n, interval, excluded=counts).within(0, None)


@dataclass(frozen=True)
class Rate:
    """``hits`` of ``of`` observations; both estimates have the same value.

    ``wilson`` takes the observations for independent; ``clustered`` takes clusters as such: read it
    where several observations share an instance or a trajectory.
    """

    hits: int
    of: int
    wilson: Estimate
    clustered: Estimate


def rate(
    hits: Sequence[bool | None],
    clusters: Sequence[Hashable],
    *,
    empty: str,
    unit: str,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
) -> Rate:
    """Compute a share whose denominator is itself a count, with both intervals.

    Parameters
    ----------
    hits
        True or false for an observation in the denominator, None for one outside it.
    clusters
        The cluster of each observation, in the denominator or not.
    empty
        The reason to give where the denominator is empty.
    excluded
        Observations left out before, by reason; carried through.

    Notes
    -----
    p = x/m, with m the number of observations in the denominator. Wilson interval as in
    `proportions.share`, for independent observations. Cluster interval as in
    `rates.ratio_of_totals`, for clusters whose denominators vary. Undefined with ``empty`` at
    m = 0. At 0 % and 100 % all clusters agree, and the second is Wilson's over clusters, each
    counted once. Wilson 1927, J. Am.
    Stat. Assoc. 22:209.
    """
    column = as_column(hits)
    check_length_of(clusters, column.size, "clusters")
    counted = ~np.isnan(column)
    yes = np.where(counted, column, 0)
    n, x = int(counted.sum()), int(yes.sum())
    if n == 0:
        nothing = Estimate.without_value(empty, excluded=excluded)
        return Rate(0, 0, nothing, nothing)
    drawn = ratio_of_totals(
        yes,
        counted,
        clusters,
        level=level,
        excluded=excluded,
        unit=unit,
        rate=True,
    )
    wilson = share(x, n, level=level, excluded=excluded)
    return Rate(x, n, wilson, _by_clusters(replace(drawn, n=n), clusters, counted, unit, level))


def _by_clusters(
    estimate: Estimate, clusters: Sequence[Hashable], counted: Any, unit: str, level: float
) -> Estimate:
    """Give a rate of 0 or 1, in which all clusters agree, Wilson's interval over the clusters."""
    groups = len(set(compress(clusters, counted)))
    if estimate.interval is not None or estimate.value not in (0.0, 1.0) or groups < 2:
        return estimate
    agreed = share(groups if estimate.value else 0, groups, level=level).interval
    assert agreed is not None
    return replace(
        estimate,
        no_interval="",
        interval=replace(
            agreed, method=f"Wilson, clusters counted once ({unit})",
            details={"clusters": groups}, unit=unit,
        ),
    )  # fmt: skip
