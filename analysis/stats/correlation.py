"""Pearson correlation with Fisher's interval, meant for few points such as one per model."""

from math import atanh, sqrt, tanh
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.stats.columns import as_column, check_length_of, check_level
from analysis.stats.results import Estimate, Interval

TOO_FEW = "fewer than three complete pairs"
CONSTANT = "one of the two is constant"
THREE_PAIRS = "three pairs only: Fisher's interval needs four"
ON_A_LINE = "all pairs lie on one line: Fisher's interval has no width"
INCOMPLETE = "incomplete pair"
FEW_PAIRS = 20


def pearson(x: Any, y: Any, *, level: float = 0.95, unit: str = "model") -> Estimate:
    """Compute the product-moment correlation of two columns, with Fisher's interval.

    Parameters
    ----------
    x, y
        Columns of equal length; a pair with a missing half (None, NaN) is excluded and counted.
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
    check_level(level)
    first, second = as_column(x), as_column(y)
    check_length_of(second, first.size, "y")
    there = ~(np.isnan(first) | np.isnan(second))
    gone = int((~there).sum())
    excluded = {INCOMPLETE: gone} if gone else {}
    a, b = first[there], second[there]
    n = int(a.size)
    if n < 3:
        return Estimate.without_value(TOO_FEW, n=n, excluded=excluded)
    if _constant(a) or _constant(b):
        return Estimate.without_value(CONSTANT, n=n, excluded=excluded)
    a, b = a - a.mean(), b - b.mean()
    r = float(a / np.linalg.norm(a) @ (b / np.linalg.norm(b)))
    r = min(1.0, max(-1.0, r))
    warnings = (f"only {n} {unit}s: one of them can make the correlation",) if n < FEW_PAIRS else ()
    if n == 3 or 1 - abs(r) < 1e-14:
        why = THREE_PAIRS if n == 3 else ON_A_LINE
        return Estimate(r, n, no_interval=why, excluded=excluded, warnings=warnings)
    centre = atanh(r)
    half = NormalDist().inv_cdf((1 + level) / 2) / sqrt(n - 3)
    interval = Interval(tanh(centre - half), tanh(centre + half), level, "Fisher z")
    return Estimate(r, n, interval, excluded=excluded, warnings=warnings)


def _constant(column: Any) -> bool:
    """Whether a column varies by no more than rounding errors."""
    return bool(np.ptp(column) <= 1e-13 * np.abs(column).max())
