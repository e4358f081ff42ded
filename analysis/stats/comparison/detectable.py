"""The smallest difference that so many tasks can show, where one is not clear."""

from statistics import NormalDist

from analysis.stats.results import Estimate

POWER = 0.8


def smallest_difference(difference: Estimate, *, power: float = POWER) -> float | None:
    """Return the smallest true difference that would be clear with this probability.

    Parameters
    ----------
    difference
        With an interval, single or simultaneous (Bonferroni).
    power
        Probability with which a true difference of that size has an interval without 0.

    Returns
    -------
    float or None
        In the units of the difference; None without an interval.

    Notes
    -----
    With h half the width of the interval and z its normal quantile at the level that it has for
    itself, the standard error is about h/z, and the difference is (z + z_power)·h/z: 1.43·h for one
    95 % interval and a power of 80 %. It takes the spread of these data and not the difference
    found in them: no power computed after the fact (Hoenig & Heisey 2001, Am. Stat. 55:19).
    """
    interval = difference.interval
    if interval is None:
        return None
    each = 1 - (1 - interval.level) / interval.details.get("comparisons", 1)
    z = NormalDist().inv_cdf((1 + each) / 2)
    return interval.half_width * (1 + NormalDist().inv_cdf(power) / z)
