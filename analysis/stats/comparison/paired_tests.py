"""Score tests of two on the same tasks, and the intervals that belong to them.

An interval holds every difference that the test of the same level does not reject, so it excludes 0
exactly where p < 1 − level.
"""

from dataclasses import dataclass
from math import erfc, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_level

# Halvings of [−1, 1]: past the precision of a float.
HALVINGS = 60
EQUAL = 1e-12


@dataclass(frozen=True)
class PairedTable:
    """On how many tasks both succeed, one of the two, or none (n11, n10, n01, n00)."""

    both: int
    first_only: int
    second_only: int
    neither: int

    def __post_init__(self) -> None:
        """Refuse counts below 0."""
        if min(self.both, self.first_only, self.second_only, self.neither) < 0:
            raise ValueError("counts are 0 or more")

    @property
    def tasks(self) -> int:
        """All of them."""
        return self.both + self.first_only + self.second_only + self.neither


def score_p(table: PairedTable) -> float:
    """Test whether two succeed equally often, with one attempt at each task.

    Notes
    -----
    z = (n10 − n01)/√(n10 + n01), two-sided against the normal distribution; p = 1 where the two
    never differ. It is McNemar's χ² without continuity correction (1947, Psychometrika 12:153), and
    Tango's score statistic at a difference of 0. Its size by enumeration is in
    ``docs/statistics.md``: at most 0.057 at 15 to 100 tasks.
    """
    differing = table.first_only + table.second_only
    if not differing:
        return 1.0
    return _two_sided((table.first_only - table.second_only) / sqrt(differing))


def score_interval(table: PairedTable, level: float = 0.95) -> tuple[float, float]:
    """Return Tango's score interval of the difference of two success rates, first minus second.

    Notes
    -----
    With b = n10, c = n01 and n tasks, the interval is all Δ with |T(Δ)| ≤ z, where
    T(Δ) = (b − c − nΔ)/√(n(2q + Δ(1 − Δ))), q = (√(B² − 8nC) − B)/(4n) is the maximum likelihood
    estimate of P(n01) under Δ, B = −b − c + (2n − b + c)Δ and C = −cΔ(1 − Δ). T falls in Δ, so each
    end is found by halving. Tango 1998, Stat. Med. 17:891. It always has width, also where the two
    never differ: ±z²/(n + z²). Tasks are taken as independent, with one attempt on either side.
    """
    check_level(level)
    n = table.tasks
    if not n:
        raise ValueError("an interval needs tasks")
    z = NormalDist().inv_cdf((1 + level) / 2)
    value = (table.first_only - table.second_only) / n
    low = -1.0 if table.second_only == n else _end(table, -1.0, value, z)
    high = 1.0 if table.first_only == n else _end(table, 1.0, value, z)
    return low, high


def _end(table: PairedTable, outside: float, inside: float, z: float) -> float:
    """Halve between a rejected and an accepted difference."""
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2
        if abs(_tango(table, middle)) <= z:
            inside = middle
        else:
            outside = middle
    return inside


def _tango(table: PairedTable, delta: float) -> float:
    """Tango's statistic at a difference between −1 and 1, both excluded."""
    b, c, n = table.first_only, table.second_only, table.tasks
    above = b - c - n * delta
    if abs(above) < EQUAL:
        return 0.0
    linear = -b - c + (2 * n - b + c) * delta
    constant = -c * delta * (1 - delta)
    q = (sqrt(max(0.0, linear**2 - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    return above / sqrt(variance) if variance > 0 else float("inf")


def robust_p(differences: Any) -> float:
    """Test whether differences between clusters' means are 0 on average.

    Parameters
    ----------
    differences
        One per task, first minus second; at least one, none missing.

    Notes
    -----
    z = Σd/√Σd², two-sided against the normal distribution: the score test that takes the variance
    under the hypothesis, robust to anything inside a task (Boos 1992, Am. Stat. 46:327). For one
    attempt that succeeds or fails it is `score_p`. p = 1 where all differences are 0. |z| is at
    most √n, so under 4 tasks no difference is clear at 0.05.
    """
    values = _checked(differences)
    size = float(values @ values)
    if size <= EQUAL:
        return 1.0
    return _two_sided(float(values.sum()) / sqrt(size))


def robust_interval(differences: Any, level: float = 0.95) -> tuple[float, float] | None:
    """Return the interval that belongs to `robust_p`: all Δ with |Σ(d − Δ)|/√Σ(d − Δ)² ≤ z.

    Notes
    -----
    With mean m and population variance s² of n differences it is m ± z·s/√(n − z²). None where
    n ≤ z²: then no Δ is rejected.
    """
    check_level(level)
    values = _checked(differences)
    z = NormalDist().inv_cdf((1 + level) / 2)
    if values.size <= z * z:
        return None
    half = z * float(values.std()) / sqrt(values.size - z * z)
    mean = float(values.mean())
    return mean - half, mean + half


def _checked(differences: Any) -> Floats:
    values = as_column(differences)
    if values.size == 0 or np.isnan(values).any():
        raise ValueError("a paired test needs differences, and none of them missing")
    return values


def _two_sided(z: float) -> float:
    return erfc(abs(z) / sqrt(2))
