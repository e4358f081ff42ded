"""Means with t intervals, means and rates by cluster, and tables of means."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from math import sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import (
    MISSING,
    Codes,
    Floats,
    as_column,
    check_length_of,
    check_level,
    encode,
    present,
)
from analysis.stats.results import ALL_EQUAL, ONE_VALUE, Estimate, Interval

NO_VALUES = "no values"
ONE_CLUSTER = "all values belong to one {unit}: no interval"
CLUSTERS_EQUAL = "every {unit} has the same mean: that says nothing about the uncertainty"
Scale = tuple[float | None, float | None]
OPEN_SCALE: Scale = (None, None)


def mean_t(
    values: Any,
    *,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
    scale: Scale = OPEN_SCALE,
) -> Estimate:
    """Compute the arithmetic mean with a t interval.

    Parameters
    ----------
    values
        One column of numbers; None and NaN are missing, excluded and counted.
    level
        Confidence level as a fraction.
    excluded
        Observations left out before, by reason; carried through.
    scale
        The least and the largest value that there can be: the interval ends there.

    Notes
    -----
    m ± t(n−1; (1 + level)/2)·s/sqrt(n), with s the sample standard deviation (n − 1). Assumes
    independent observations and a mean that is close to normal, which bounded scores give from
    moderate n on. Undefined without values; no interval from one value, nor where all values are
    equal (s = 0 would draw it as a point). Student 1908, Biometrika 6:1.
    """
    kept, gone = present(values)
    counts = {**(excluded or {}), **gone}
    return _grouped(np.zeros(kept.size, dtype=np.int64), kept, 1, level, [counts])[0].within(*scale)


def mean_by_cluster(
    values: Any,
    clusters: Sequence[Hashable],
    *,
    level: float = 0.95,
    excluded: Mapping[str, int] | None = None,
    unit: str = "task",
    scale: Scale = OPEN_SCALE,
) -> Estimate:
    """Compute the mean with an interval that takes whole clusters as independent.

    Parameters
    ----------
    values
        One column of numbers (0/1 outcomes for a share); None and NaN are excluded and counted.
    clusters
        The cluster of each value, usually its task: inside one, anything may depend on anything.
    unit
        What a cluster is called, in the name of the method and in warnings.
    scale
        The least and the largest value that there can be: the interval ends there.

    Notes
    -----
    m = Σ sums / Σ sizes ± t(df)·CR2 standard error, both of `cluster_quotient`, cut off at the ends
    of the scale; for 0/1 outcomes Wilson's interval with the same error and t (`cluster_wilson`),
    which stays between 0 and 1. Chosen by simulation over percentile bootstrap and bootstrap-t; its
    coverage at 8 to 40 clusters is in ``docs/statistics.md``.
    Undefined without values; no interval from one cluster, nor where all clusters have the same
    mean.
    """
    check_level(level)
    column = as_column(values)
    check_length_of(clusters, column.size, "clusters")
    there = ~np.isnan(column)
    counts = dict(excluded or {})
    if not there.all():
        counts[MISSING] = counts.get(MISSING, 0) + int((~there).sum())
    kept = column[there]
    if kept.size == 0:
        return Estimate.without_value(NO_VALUES, excluded=counts)
    names, codes = encode(compress(clusters, there))
    mean, size = float(kept.mean()), len(names)
    if size == 1:
        why = ONE_VALUE if kept.size == 1 else ONE_CLUSTER.format(unit=unit)
        return Estimate(mean, kept.size, no_interval=why, excluded=counts)
    sums, sizes = np.bincount(codes, weights=kept, minlength=size), np.bincount(codes)
    _, error, df = cluster_quotient(sums, sizes)
    if error <= 1e-9 * max(1.0, abs(mean)):
        why = ALL_EQUAL if np.ptp(kept) == 0 else CLUSTERS_EQUAL.format(unit=unit)
        return Estimate(mean, kept.size, no_interval=why, excluded=counts)
    interval = cluster_interval(
        mean,
        error,
        df,
        clusters=size,
        unit=unit,
        level=level,
        rate=bool(np.isin(kept, (0, 1)).all()),
    )
    return Estimate(mean, kept.size, interval, excluded=counts).within(*scale)


def cluster_interval(
    value: float, error: float, df: float, *, clusters: int, unit: str, level: float, rate: bool
) -> Interval:
    """Return the interval that CR2 standard error and degrees of freedom give a mean or a rate."""
    t = t_quantile(df, level)
    if rate:
        ends = cluster_wilson(value, error, t)
        method = f"Wilson by {unit} (CR2)"
    else:
        ends = value - t * error, value + t * error
        method = f"t by {unit} (CR2)"
    return Interval(*ends, level, method, {"clusters": clusters}, unit)


def cluster_quotient(above: Any, below: Any) -> tuple[float, float, float]:
    """Divide totals over clusters, Σ above / Σ below: value, CR2 standard error and df.

    Parameters
    ----------
    above, below
        What each cluster adds, at least two of them; with counts below it is the mean of all
        values. No cluster may hold all of what is below.

    Notes
    -----
    With r = Σa/Σb, h = b/Σb and residuals e = a − r·b of the clusters, the variance is
    Σ e²/(1 − h)/(Σb)², and the degrees of freedom are 1/(Σh² + ((Σw)² − Σw²)), w = h²/(1 − h):
    Bell and McCaffrey's bias-reduced (CR2) variance of the mean under independence, with their
    Satterthwaite approximation (2002, Surv. Methodol. 28:169; Pustejovsky & Tipton 2018, J. Bus.
    Econ. Stat. 36:672). K clusters of one size give s²/K of their means with K − 1.
    """
    a, b = as_column(above), as_column(below)
    total = float(b.sum())
    value = float(a.sum()) / total
    h = b / total
    variance = float(((a - value * b) ** 2 / (1 - h)).sum()) / total**2
    w = h * h / (1 - h)
    df = 1 / float((h * h).sum() + w.sum() ** 2 - (w * w).sum())
    return value, sqrt(variance), df


def quotients_mean(sums: Floats, counts: Floats) -> tuple[float, float, float]:
    """Compute the mean of several means over the same clusters: value, CR2 standard error and df.

    Parameters
    ----------
    sums, counts
        A row per cluster, a column per mean, such as one per model: the total of its values in the
        cluster, and their number, which may be 0. No cluster may hold all values of a mean.

    Notes
    -----
    The value is (1/M)·Σ_m Σ_t s_tm/C_m with C_m = Σ_t c_tm. With h_tm = c_tm/C_m, cluster t adds
    e_t = (1/M)·Σ_m (s_tm − h_tm·S_m)/(C_m·√(1 − h_tm)); the variance is Σ e², and the degrees of
    freedom are tr(Ω)²/tr(Ω²), Ω being the covariance of the e under independent values: Bell and
    McCaffrey's CR2 of a mean of group means (2002; Pustejovsky & Tipton 2018). With one column it
    is `cluster_quotient`; with K clusters that have every mean once it is s²/K of the clusters'
    means, with K − 1.
    """
    totals, sizes = sums.sum(axis=0), counts.sum(axis=0)
    h = counts / sizes
    weights = 1 / (sizes.size * sizes * np.sqrt(1 - h))
    parts = (weights * (sums - h * totals)).sum(axis=1)
    # Independent values of variance 1: those of a mean hang together through the mean alone.
    omega = np.diag((weights**2 * counts).sum(axis=1))
    omega -= np.einsum("tm,sm,tm,sm,m->ts", weights, weights, counts, counts, 1 / sizes)
    df = float(np.trace(omega)) ** 2 / float((omega**2).sum())
    return float((totals / sizes).mean()), sqrt(float((parts**2).sum())), df


def cluster_wilson(rate: float, error: float, t: float) -> tuple[float, float]:
    """Return Wilson's interval for a rate between 0 and 1 whose standard error is known.

    With f = t²·error²/(p(1 − p)), which is t² over the effective number of observations, it is
    (p + f/2 ± √(f·p(1 − p) + f²/4))/(1 + f): always inside 0 … 1. Franco, Little, Louis & Slud
    2019, J. Surv. Stat. Methodol. 7:334.
    """
    spread = rate * (1 - rate)
    f = t * t * error * error / spread
    half = sqrt(f * spread + f * f / 4)
    return (rate + f / 2 - half) / (1 + f), (rate + f / 2 + half) / (1 + f)


@dataclass(frozen=True)
class MeanTable:
    """Means by row and column label; ``cells`` has every pair, undefined ones with their reason."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], Estimate]


def mean_table(
    rows: Sequence[str], columns: Sequence[str], values: Any, *, level: float = 0.95
) -> MeanTable:
    """Compute mean and t interval for every pair of labels, such as model and rubric dimension.

    Three columns of equal length; None and NaN are excluded and counted per cell. Labels keep the
    order in which they first appear. Formula and degenerate cases as in `mean_t` (AdaPlanBench,
    Tables 4 and 8, gives such a table of final turns without intervals).
    """
    column = as_column(values)
    check_length_of(rows, column.size, "rows")
    check_length_of(columns, column.size, "columns")
    row_names, row_codes = encode(rows)
    column_names, column_codes = encode(columns)
    size = len(row_names) * len(column_names)
    estimates = grouped_means(
        row_codes * len(column_names) + column_codes, column, size, level=level
    )
    pairs = [(row, name) for row in row_names for name in column_names]
    return MeanTable(row_names, column_names, dict(zip(pairs, estimates, strict=True)))


def grouped_means(
    codes: Codes, values: Any, size: int, *, level: float = 0.95
) -> tuple[Estimate, ...]:
    """Compute `mean_t` of each of ``size`` groups; ``codes`` holds each value's group."""
    column = as_column(values)
    there = ~np.isnan(column)
    missing = np.bincount(codes[~there], minlength=size)
    counts = [{MISSING: int(gone)} if gone else {} for gone in missing]
    return _grouped(codes[there], column[there], size, level, counts)


def _grouped(
    codes: Codes, values: Floats, size: int, level: float, excluded: Sequence[dict[str, int]]
) -> tuple[Estimate, ...]:
    check_level(level)
    ns = np.bincount(codes, minlength=size)
    means = np.bincount(codes, weights=values, minlength=size) / np.maximum(ns, 1)
    spreads = np.bincount(codes, weights=(values - means[codes]) ** 2, minlength=size)
    lowest = np.full(size, np.inf)
    highest = np.full(size, -np.inf)
    np.minimum.at(lowest, codes, values)
    np.maximum.at(highest, codes, values)
    # A mean of equal values can miss them by a rounding error: decide by the values themselves.
    return tuple(
        _mean(
            int(ns[g]),
            float(lowest[g] if lowest[g] == highest[g] else means[g]),
            float(spreads[g]),
            bool(lowest[g] == highest[g]),
            level,
            excluded[g],
        )
        for g in range(size)
    )


def _mean(
    n: int, mean: float, spread: float, all_equal: bool, level: float, excluded: dict[str, int]
) -> Estimate:
    if n == 0:
        return Estimate.without_value(NO_VALUES, excluded=excluded)
    if n == 1 or all_equal:
        why = ONE_VALUE if n == 1 else ALL_EQUAL
        return Estimate(mean, n, no_interval=why, excluded=excluded)
    half = t_quantile(n - 1, level) * sqrt(spread / (n - 1) / n)
    interval = Interval(mean - half, mean + half, level, "t", {"df": n - 1})
    return Estimate(mean, n, interval, excluded=excluded)


def t_quantile(df: float, level: float) -> float:
    """Return the (1 + level)/2 quantile of Student's t: the factor of a two-sided interval."""
    from scipy.special import stdtrit  # slow to import, and not every page needs it

    return float(stdtrit(df, (1 + level) / 2))
