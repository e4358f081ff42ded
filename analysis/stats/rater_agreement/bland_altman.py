"""Bland and Altman's limits of agreement: how far apart two measurements of an item lie."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, check_level
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.rater_agreement.correlation import INCOMPLETE
from analysis.stats.resampling import (
    RESAMPLES,
    estimate_from_draws,
    repeated,
    resampled,
    units_to_draw,
)
from analysis.stats.results import Estimate, Interval

TOO_FEW = "fewer than two complete pairs"
METHODS = (
    "mean difference",
    "Bland-Altman lower limit of agreement",
    "Bland-Altman upper limit of agreement",
)
NO_SPREAD = "all differences are equal: no interval"


@dataclass(frozen=True)
class LimitsOfAgreement:
    """Limits of agreement of first − second, in points of the scale.

    Attributes
    ----------
    bias
        Mean difference, with a t interval.
    sd
        Standard deviation of the differences (n − 1); None where it is undefined.
    lower, upper
        bias ∓ z·sd, with intervals.
    share
        The share of differences that the limits are to hold, which gives z (0.95).
    """

    bias: Estimate
    sd: float | None
    lower: Estimate
    upper: Estimate
    share: float


def bland_altman(
    first: Any,
    second: Any,
    *,
    share: float = 0.95,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> LimitsOfAgreement:
    """Compute the mean difference of two columns and the limits between which most lie.

    Parameters
    ----------
    first, second
        Columns of equal length in the same units; a pair with a missing half is excluded, counted.
    share
        The share of differences that the limits are to hold if these are normal.
    clusters, unit, seed, resamples
        What each pair belongs to. Where one occurs twice intervals draw clusters, else they need
        no seed.
    level
        Of the intervals.

    Notes
    -----
    d = first − second; limits d̄ ∓ z·s with z = 1.96 for a share of 0.95. Intervals: d̄ ± t·s/√n;
    limit ± t·s·sqrt(1/n + z²/(2(n − 1))), t with n − 1 degrees of freedom (Bland & Altman 1986,
    Lancet 327:307; 1999, Stat. Methods Med. Res. 8:135). They assume independent pairs and
    differences that are near to normal and the same over the scale: on scores from 1 to 5 the
    limits are coarse. Undefined under two pairs; no interval where all differences are equal.
    """
    check_level(level)
    check_level(share)
    a, b = as_column(first), as_column(second)
    check_length_of(b, a.size, "second")
    differences = a - b
    there = ~np.isnan(differences)
    d = differences[there]
    n = int(d.size)
    excluded = {INCOMPLETE: int((~there).sum())} if n < a.size else {}
    if n < 2:
        bias, lower, upper = (
            Estimate.without_value(TOO_FEW, n=n, excluded=excluded, method=method)
            for method in METHODS
        )
        return LimitsOfAgreement(bias, None, lower, upper, share)
    z = NormalDist().inv_cdf((1 + share) / 2)
    mean, sd = float(d.mean()), float(d.std(ddof=1))
    values = (mean, mean - z * sd, mean + z * sd)
    if clusters is not None:
        check_length_of(clusters, a.size, "clusters")
        groups = repeated(list(compress(clusters, there)))
        if groups is not None:
            parts = np.column_stack([d - mean, (d - mean) ** 2, np.ones(n)])
            units = units_to_draw(np.arange(n), parts, clusters=groups, unit=unit)
            drawn = resampled(
                units, lambda totals: _limits(totals, mean, z), seed=seed, resamples=resamples
            )
            bias, lower, upper = (
                estimate_from_draws(
                    value,
                    n,
                    column,
                    units,
                    level=level,
                    seed=seed,
                    excluded=excluded,
                    method=method,
                )
                for value, column, method in zip(values, drawn.T, METHODS, strict=True)
            )
            return LimitsOfAgreement(bias, sd, lower, upper, share)
    if sd <= 1e-12 * max(1.0, abs(mean)):
        bias, lower, upper = (
            Estimate(value, n, no_interval=NO_SPREAD, excluded=excluded, method=method)
            for value, method in zip(values, METHODS, strict=True)
        )
        return LimitsOfAgreement(bias, 0.0, lower, upper, share)
    t = t_quantile(n - 1, level)
    halves = [t * sd * sqrt(1 / n + more) for more in (0, *[z**2 / (2 * (n - 1))] * 2)]
    bias, lower, upper = (
        Estimate(
            value, n, Interval(value - half, value + half, level, "t", {"df": n - 1}),
            excluded=excluded, method=method,
        )
        for value, half, method in zip(values, halves, METHODS, strict=True)
    )  # fmt: skip
    return LimitsOfAgreement(bias, sd, lower, upper, share)


def _limits(totals: Floats, centre: float, z: float) -> Floats:
    """Compute bias and both limits of totals of d − centre, its square and 1."""
    sums, squares, n = totals.T
    spread = np.sqrt(np.maximum(squares - sums**2 / n, 0) / np.maximum(n - 1, 1))
    bias = centre + sums / n
    return np.column_stack([bias, bias - z * spread, bias + z * spread])


@dataclass(frozen=True)
class MeasurementPairs:
    """Pairs of measurements as a Bland-Altman plot shows them, equal ones together.

    Attributes
    ----------
    means, differences
        Mean of both and first − second, in points of the scale.
    counts
        How many pairs lie there.
    rounded
        How far a point may lie from its pairs in each direction; 0 where it lies on them.
    """

    means: tuple[float, ...]
    differences: tuple[float, ...]
    counts: tuple[int, ...]
    rounded: float = 0.0


def paired_points(first: Any, second: Any, *, most: int = 1500) -> MeasurementPairs:
    """Count the pairs of two columns by their mean and difference.

    Parameters
    ----------
    first, second
        Columns of equal length; a pair with a missing half is left out.
    most
        How many points there may be at most.

    Notes
    -----
    Scores are coarse, so many pairs coincide. Where there are more than ``most`` different ones,
    both numbers are rounded to a grid that is made twice as wide until there are few enough.
    """
    a, b = as_column(first), as_column(second)
    check_length_of(b, a.size, "second")
    there = ~(np.isnan(a) | np.isnan(b))
    points = np.column_stack([(a + b)[there] / 2, (a - b)[there]])
    if not len(points):
        return MeasurementPairs((), (), ())
    step = 0.0
    # In floats the mean of three equal scores may differ in its last digits.
    distinct, counts = np.unique(np.round(points, 9), axis=0, return_counts=True)
    while len(distinct) > most:
        step = 2 * step or float(np.ptp(points, axis=0).max()) / 256
        distinct, counts = np.unique(np.round(points / step) * step, axis=0, return_counts=True)
    return MeasurementPairs(
        tuple(float(mean) for mean in distinct[:, 0]),
        tuple(float(difference) + 0.0 for difference in distinct[:, 1]),
        tuple(int(count) for count in counts),
        step / 2,
    )
