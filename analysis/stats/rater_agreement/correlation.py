"""Correlations of two columns: Pearson, Spearman, Kendall. None of them sees a constant bias."""

from collections.abc import Callable, Hashable, Sequence
from itertools import compress
from math import atanh, sqrt, tanh
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.columns import Codes, Floats, as_column, check_length_of, check_level
from analysis.stats.resampling import (
    RESAMPLES,
    estimate_from_draws,
    repeated,
    resampled,
    units_to_draw,
)
from analysis.stats.results import Estimate, Interval

TOO_FEW = "fewer than three complete pairs"
CONSTANT = "one of the two is constant"
THREE_PAIRS = "three pairs only: Fisher's interval needs four"
FOUR_PAIRS = "{n} pairs only: the interval needs five"
ON_A_LINE = "all pairs lie on one line: Fisher's interval has no width"
SAME_ORDER = "both put all pairs into one order: the interval has no width"
MANY_CELLS = "more than {most:,} possible pairs of values: no bootstrap of clusters"
INCOMPLETE = "incomplete pair"
FEW_PAIRS = 20
MOST_CELLS = 4_000
PEARSON = "Pearson's r"
SPEARMAN = "Spearman's rho, average ranks for ties"
KENDALL = "Kendall's tau-b"


class _PairedScores(NamedTuple):
    """Complete pairs, what they belong to where that repeats, and what was left out."""

    x: Floats
    y: Floats
    clusters: list[Hashable] | None
    excluded: dict[str, int]
    warnings: tuple[str, ...]
    undefined: str

    @property
    def n(self) -> int:
        return int(self.x.size)


def pearson(
    x: Any,
    y: Any,
    *,
    clusters: Sequence[Hashable] | None = None,
    cluster_unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    unit: str = "model",
) -> Estimate:
    """Compute the product-moment correlation of two columns, with Fisher's interval.

    Parameters
    ----------
    x, y
        Columns of equal length; a pair with a missing half (None, NaN) is excluded and counted.
    clusters, cluster_unit, seed, resamples
        What each pair belongs to. Where one occurs twice the interval draws clusters instead.
    level
        Confidence level as a fraction.
    unit
        What one pair is, for the warning that there are few.

    Notes
    -----
    r = Σ(x − x̄)(y − ȳ)/sqrt(Σ(x − x̄)² Σ(y − ȳ)²); interval tanh(atanh r ± z/sqrt(n − 3)), which
    assumes independent pairs from a bivariate normal distribution (Fisher 1921, Metron 1:3).
    Models are neither a random sample nor many: n is the number of models, not of trajectories,
    and one of them can make the correlation. Undefined under three pairs (two always give ±1) and
    where a column is constant; no interval at n = 3 or |r| = 1. AdaPlanBench, section 3.2 (0.898
    for Acc with ATWC, 0.919 with ATUC, over ten models).
    """
    pairs = _pairs(x, y, clusters, level, unit)
    if pairs.undefined:
        return _undefined(pairs, PEARSON)
    r = _correlation(pairs.x, pairs.y)
    if pairs.clusters is not None:
        a, b = pairs.x - pairs.x.mean(), pairs.y - pairs.y.mean()
        parts = np.column_stack([a, b, a * a, b * b, a * b, np.ones(pairs.n)])
        units = units_to_draw(np.arange(pairs.n), parts, clusters=pairs.clusters, unit=cluster_unit)
        drawn = resampled(units, _moment_correlation, seed=seed, resamples=resamples)
        return estimate_from_draws(
            r, pairs.n, drawn, units, level=level, seed=seed, excluded=pairs.excluded,
            method=PEARSON,
        )  # fmt: skip
    if pairs.n == 3 or 1 - abs(r) < 1e-14:
        return _plain(r, pairs, THREE_PAIRS if pairs.n == 3 else ON_A_LINE, PEARSON)
    return _fisher(r, pairs, 1 / sqrt(pairs.n - 3), level, "Fisher z", PEARSON)


def spearman(
    x: Any,
    y: Any,
    *,
    clusters: Sequence[Hashable] | None = None,
    cluster_unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    unit: str = "item",
) -> Estimate:
    """Compute Spearman's rank correlation of two columns.

    Parameters
    ----------
    x, y, clusters, cluster_unit, seed, resamples, level, unit
        As in `pearson`.

    Notes
    -----
    Pearson's r of the ranks, equal values sharing their average rank. Interval
    tanh(atanh ρ ± z·sqrt((1 + ρ²/2)/(n − 3))): Bonett & Wright 2000, Psychometrika 65:23; it
    assumes independent pairs, and is rough where values are heavily tied, as scores from 1 to 5
    are. Undefined as `pearson`; no interval at n = 3 or |ρ| = 1. The bootstrap of clusters is not
    done where there are more than 4,000 possible pairs of values.
    """
    pairs = _pairs(x, y, clusters, level, unit)
    if pairs.undefined:
        return _undefined(pairs, SPEARMAN)
    rho = _correlation(_average_ranks(pairs.x), _average_ranks(pairs.y))
    if pairs.clusters is not None:
        return _from_tables(
            rho, pairs, _rank_correlation, SPEARMAN, cluster_unit, seed, resamples, level
        )
    if pairs.n == 3 or 1 - abs(rho) < 1e-14:
        return _plain(rho, pairs, THREE_PAIRS if pairs.n == 3 else SAME_ORDER, SPEARMAN)
    error = sqrt((1 + rho**2 / 2) / (pairs.n - 3))
    return _fisher(rho, pairs, error, level, "Bonett-Wright", SPEARMAN)


def kendall(
    x: Any,
    y: Any,
    *,
    clusters: Sequence[Hashable] | None = None,
    cluster_unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    unit: str = "item",
) -> Estimate:
    """Compute Kendall's tau-b of two columns.

    Parameters
    ----------
    x, y, clusters, cluster_unit, seed, resamples, level, unit
        As in `pearson`.

    Notes
    -----
    τ_b = (C − D)/sqrt((P − T_x)(P − T_y)) over the P = n(n − 1)/2 pairs of pairs, of which C are in
    the same and D in opposite order, T_x and T_y tied in x and in y. Interval
    tanh(atanh τ ± z·sqrt(0.437/(n − 4))): Fieller, Hartley & Pearson 1957, Biometrika 44:470;
    Bonett & Wright 2000, Psychometrika 65:23, who advise it for |τ| < 0.8 (a warning says where it
    is not). Undefined as `pearson`; no interval under five pairs or at |τ| = 1.
    """
    pairs = _pairs(x, y, clusters, level, unit)
    if pairs.undefined:
        return _undefined(pairs, KENDALL)
    tau = _tau(pairs)
    if pairs.clusters is not None:
        return _from_tables(tau, pairs, _concordance, KENDALL, cluster_unit, seed, resamples, level)
    if pairs.n < 5 or 1 - abs(tau) < 1e-14:
        why = FOUR_PAIRS.format(n=pairs.n) if pairs.n < 5 else SAME_ORDER
        return _plain(tau, pairs, why, KENDALL)
    error = sqrt(0.437 / (pairs.n - 4))
    far = ("the interval is meant for |τ| under 0.8",) if abs(tau) >= 0.8 else ()
    return _fisher(tau, pairs, error, level, "Bonett-Wright", KENDALL, far)


def _pairs(
    x: Any, y: Any, clusters: Sequence[Hashable] | None, level: float, unit: str
) -> _PairedScores:
    check_level(level)
    first, second = as_column(x), as_column(y)
    check_length_of(second, first.size, "y")
    there = ~(np.isnan(first) | np.isnan(second))
    gone = int((~there).sum())
    a, b = first[there], second[there]
    n = int(a.size)
    groups = None
    if clusters is not None:
        check_length_of(clusters, first.size, "clusters")
        groups = repeated(list(compress(clusters, there)))
    undefined = ""
    if n < 3:
        undefined = TOO_FEW
    elif _constant(a) or _constant(b):
        undefined = CONSTANT
    few = (f"only {n} {unit}s: one of them can make the correlation",) if n < FEW_PAIRS else ()
    return _PairedScores(a, b, groups, {INCOMPLETE: gone} if gone else {}, few, undefined)


def _undefined(pairs: _PairedScores, method: str) -> Estimate:
    return Estimate.without_value(
        pairs.undefined, n=pairs.n, excluded=pairs.excluded, method=method
    )


def _plain(value: float, pairs: _PairedScores, why: str, method: str) -> Estimate:
    return Estimate(
        value, pairs.n, no_interval=why, excluded=pairs.excluded, warnings=pairs.warnings,
        method=method,
    )  # fmt: skip


def _fisher(
    value: float,
    pairs: _PairedScores,
    error: float,
    level: float,
    name: str,
    method: str,
    warnings: tuple[str, ...] = (),
) -> Estimate:
    """Give the interval that is symmetric in atanh, with its standard error there."""
    centre, half = atanh(value), NormalDist().inv_cdf((1 + level) / 2) * error
    interval = Interval(tanh(centre - half), tanh(centre + half), level, name)
    return Estimate(
        value, pairs.n, interval, excluded=pairs.excluded, warnings=(*pairs.warnings, *warnings),
        method=method,
    )  # fmt: skip


def _from_tables(
    value: float,
    pairs: _PairedScores,
    statistic: Callable[[Floats], Floats],
    method: str,
    unit: str,
    seed: int,
    resamples: int,
    level: float,
) -> Estimate:
    """Draw clusters, by counts of each pair of values."""
    cells, shape = _cells(pairs)
    size = shape[0] * shape[1]
    if size > MOST_CELLS:
        return _plain(value, pairs, MANY_CELLS.format(most=MOST_CELLS), method)
    used, codes = np.unique(cells, return_inverse=True)
    units = units_to_draw(codes, np.eye(used.size), clusters=pairs.clusters, unit=unit)

    def of_tables(totals: Floats) -> Floats:
        tables = np.zeros((len(totals), size))
        tables[:, used] = totals
        return statistic(tables.reshape(-1, *shape))

    drawn = resampled(units, of_tables, seed=seed, resamples=resamples)
    return estimate_from_draws(
        value, pairs.n, drawn, units, level=level, seed=seed, excluded=pairs.excluded,
        method=method,
    )  # fmt: skip


def _cells(pairs: _PairedScores) -> tuple[Codes, tuple[int, int]]:
    """Return the cell of each pair in the table of all values of x by all values of y."""
    rows, row_codes = np.unique(pairs.x, return_inverse=True)
    columns, column_codes = np.unique(pairs.y, return_inverse=True)
    return row_codes * columns.size + column_codes, (rows.size, columns.size)


def _tau(pairs: _PairedScores) -> float:
    cells, shape = _cells(pairs)
    if shape[0] * shape[1] <= MOST_CELLS:
        table = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.float64)
        return float(_concordance(table.reshape(1, *shape))[0])
    from scipy.stats import kendalltau  # slow to import: scores do without

    return float(kendalltau(pairs.x, pairs.y).statistic)


def _average_ranks(column: Floats) -> Floats:
    _, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[codes]
    return ranks


def _correlation(a: Floats, b: Floats) -> float:
    a, b = a - a.mean(), b - b.mean()
    return min(1.0, max(-1.0, float(a / np.linalg.norm(a) @ (b / np.linalg.norm(b)))))


def _moment_correlation(totals: Floats) -> Floats:
    """Compute Pearson's r of totals of x, y, x², y², xy and 1."""
    x, y, xx, yy, xy, n = totals.T
    return _quotient(xy - x * y / n, (xx - x * x / n), (yy - y * y / n), xx * yy)


def _rank_correlation(tables: Floats) -> Floats:
    """Compute Spearman's rho of tables of counts in the order of their values."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    # Average rank of a value less the mean rank, (n + 1)/2.
    x = np.cumsum(rows, axis=1) - rows / 2 - n[:, None] / 2
    y = np.cumsum(columns, axis=1) - columns / 2 - n[:, None] / 2
    product = np.einsum("bij,bi,bj->b", tables, x, y)
    xx, yy = (rows * x * x).sum(axis=1), (columns * y * y).sum(axis=1)
    return _quotient(product, xx, yy, n**6)


def _concordance(tables: Floats) -> Floats:
    """Compute Kendall's tau-b of tables of counts in the order of their values."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    upto = np.zeros((len(tables), tables.shape[1] + 1, tables.shape[2] + 1))
    upto[:, 1:, 1:] = tables.cumsum(axis=1).cumsum(axis=2)
    below_left = upto[:, :-1, :-1]
    below_right = upto[:, :-1, -1:] - upto[:, :-1, 1:]
    excess = (tables * (below_left - below_right)).sum(axis=(1, 2))
    untied_x = (n * n - (rows * rows).sum(axis=1)) / 2
    untied_y = (n * n - (columns * columns).sum(axis=1)) / 2
    return _quotient(excess, untied_x, untied_y, n**4)


def _quotient(above: Floats, first: Floats, second: Floats, scale: Floats) -> Floats:
    """Compute above/sqrt(first·second), NaN where either is 0 but for rounding errors."""
    below = first * second
    result: Floats = np.full(above.shape, np.nan)
    there = (first > 0) & (second > 0) & (below > 1e-20 * scale)
    result[there] = np.clip(above[there] / np.sqrt(below[there]), -1, 1)
    return result


def _constant(column: Any) -> bool:
    """Return whether a column varies by no more than rounding errors."""
    return bool(np.ptp(column) <= 1e-13 * np.abs(column).max())
