"""What all cluster bootstraps share: the percentile interval and the warning of few clusters."""

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.results import Interval

FEW_CLUSTERS = 20


def percentile_interval(
    drawn: Floats, *, level: float, unit: str, seed: int, resamples: int, clusters: int
) -> Interval:
    """Return the interval between the (1 ∓ level)/2 quantiles of resampled values.

    ``drawn`` are the resamples in which the statistic was defined, at least one; ``resamples`` is
    the number drawn. ``unit`` names what was drawn (Efron 1979, Ann. Stat. 7:1).
    """
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    details = {"seed": seed, "resamples": resamples, "clusters": clusters}
    return Interval(float(low), float(high), level, f"{unit} bootstrap (percentile)", details)


def few_clusters(clusters: int, unit: str) -> tuple[str, ...]:
    """Warn where fewer than 20 clusters make the interval too narrow.

    Cameron, Gelbach & Miller 2008, Rev. Econ. Stat. 90:414.
    """
    if clusters >= FEW_CLUSTERS:
        return ()
    plural = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
    return (f"only {clusters} {plural}: the bootstrap interval is too narrow",)
