"""Intervals of coefficients of agreement: a jackknife for few units, a bootstrap for many."""

from collections.abc import Callable, Mapping
from math import isfinite, sqrt

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.resampling import Units, estimate_from_draws, resampled
from analysis.stats.results import Estimate, Interval, few_clusters, plural_of

# Up to so many units the jackknife holds the truth more often than the percentile bootstrap does
# (docs/statistics.md has both); with more they are the same, and the bootstrap is the usual one.
MOST_UNITS = 100
# Two units have three different resamples and one degree of freedom: any interval would be noise.
FEWEST_UNITS = 3
TWO_UNITS = "two {units} only: no interval"
FISHER = "{unit} jackknife, t on Fisher's z"
LOGIT = "{unit} jackknife, t on the logit"
LOGARITHM = "{unit} jackknife, t on log(1 − coefficient)"
PLAIN = "{unit} jackknife, t, cut at the ends of the scale"


def coefficient_estimate(
    value: float,
    n: int,
    units: Units,
    statistic: Callable[[Floats], Floats],
    *,
    level: float,
    seed: int,
    resamples: int,
    lowest: float = -1.0,
    excluded: Mapping[str, int] | None = None,
    method: str = "",
) -> Estimate:
    """Give a coefficient of agreement an interval from the units that it rests on.

    Parameters
    ----------
    value, n
        The coefficient of all units, and how many observations it has.
    units, statistic
        What is left out or drawn, and the coefficient of totals (`resampling.resampled`).
    level, seed, resamples
        Of the interval; the jackknife needs no seed.
    lowest
        The lowest value that the coefficient can have: −1, 0, or minus infinity.
    excluded, method
        Handed on to the estimate.

    Notes
    -----
    Two units have no interval. Up to 100 units G: each is left out once, θ₍g₎ is the coefficient of
    the others, and
    f(θ) ± t(G − 1)·SE with SE² = (G − 1)/G Σ (f(θ₍g₎) − mean)² is mapped back by f⁻¹; f is Fisher's
    z, atanh, for θ from −1; half the logit, atanh(2θ − 1), from 0; and log(1 − θ) where there is no
    lowest value. So no end leaves the scale. Where a
    θ₍g₎ is at the end of the scale f is not finite: the interval is then that of θ itself, cut at
    the ends, and its method says so. Where a θ₍g₎ is undefined the bootstrap is taken. Tukey 1958,
    Ann. Math. Stat. 29:614; Efron & Tibshirani 1993, An Introduction to the Bootstrap, ch. 11.

    With more units: percentile bootstrap. Coverage of both by simulation: docs/statistics.md.
    """
    if units.size == FEWEST_UNITS - 1:
        return Estimate(
            value, n, no_interval=TWO_UNITS.format(units=plural_of(units.unit)),
            excluded=dict(excluded or {}), method=method,
        )  # fmt: skip
    if FEWEST_UNITS <= units.size <= MOST_UNITS:
        interval = _jackknifed(value, units, statistic, level, lowest)
        if interval is not None:
            return Estimate(
                value, n, interval, excluded=dict(excluded or {}),
                warnings=few_clusters(units.size, units.unit), method=method,
            )  # fmt: skip
    drawn = resampled(units, statistic, seed=seed, resamples=resamples)
    return estimate_from_draws(
        value, n, drawn, units, level=level, seed=seed, excluded=excluded, method=method
    )


def _jackknifed(
    value: float,
    units: Units,
    statistic: Callable[[Floats], Floats],
    level: float,
    lowest: float,
) -> Interval | None:
    """Compute the jackknife interval; None where it is undefined or has no width."""
    from analysis.stats.descriptive.means import t_quantile

    used = units.often > 0
    parts, often = units.parts[used], units.often[used].astype(np.float64)
    size = units.size
    others = statistic(units.totals - parts)
    if not np.isfinite(others).all() or np.ptp(others) <= 1e-12 * max(1.0, abs(value)):
        return None
    factor = t_quantile(size - 1, level)
    bounded = isfinite(lowest)
    high_low, width = 1 + lowest, 1 - lowest
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = np.append(others, value)
        # 1 − 10⁻¹² is a rounding error away from 1, and as far out as Fisher's z can be trusted.
        inside = (moved < 1 - 1e-12) & (moved > lowest + 1e-12)
        moved = np.arctanh((2 * moved - high_low) / width) if bounded else np.log1p(-moved)
    transformed = bool(inside.all())
    if not transformed:
        moved = np.append(others, value)
    mean = float(often @ moved[:-1]) / size
    error = sqrt((size - 1) / size * float(often @ (moved[:-1] - mean) ** 2))
    ends = np.array([moved[-1] - factor * error, moved[-1] + factor * error])
    if not transformed:
        ends, name = np.clip(ends, lowest, 1.0), PLAIN
    elif bounded:
        ends, name = (np.tanh(ends) * width + high_low) / 2, LOGIT if lowest == 0 else FISHER
    else:
        ends, name = -np.expm1(ends[::-1]), LOGARITHM
    details = {"df": size - 1, "clusters": size}
    return Interval(
        float(ends[0]), float(ends[1]), level, name.format(unit=units.unit), details, units.unit
    )
