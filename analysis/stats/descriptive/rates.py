"""A share with two intervals: one for independent observations, one by cluster."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.columns import as_column, check_length_of
from analysis.stats.descriptive.proportions import share
from analysis.stats.descriptive.ratios import ratio_of_totals
from analysis.stats.results import Estimate


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
    `ratios.ratio_of_totals`, for clusters whose denominators vary. Undefined with ``empty`` at
    m = 0. At 0 % and 100 % all clusters agree: only the first has an interval. Wilson 1927, J. Am.
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
    return Rate(x, n, wilson, replace(drawn, n=n))
