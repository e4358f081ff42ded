"""Shares with Wald and Wilson intervals. Everything is a fraction (0 to 1), never percent."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import isnan, sqrt
from statistics import NormalDist
from typing import Literal

from analysis.stats.columns import MISSING, check_level
from analysis.stats.results import ONE_VALUE, Estimate, Interval

Method = Literal["wilson", "wald"]

NO_OBSERVATIONS = "no observations"
WALD_COLLAPSED = "a Wald interval has no width at 0 % or 100 %: read the Wilson interval"
WALD_OUTSIDE = "the Wald interval leaves 0 to 100 % and is not clipped, as published"


def share(
    successes: int,
    n: int,
    *,
    level: float = 0.95,
    method: Method = "wilson",
    excluded: Mapping[str, int] | None = None,
) -> Estimate:
    """Compute the share of successes among n independent yes/no observations, with an interval.

    Parameters
    ----------
    successes, n
        Counts, 0 ≤ successes ≤ n.
    level
        Confidence level as a fraction.
    method
        ``"wilson"`` (the default to read) or ``"wald"`` (as published).
    excluded
        Observations that had no yes or no, by reason; carried through.

    Returns
    -------
    Estimate
        In fractions. Undefined at n = 0; no interval at n = 1.

    Notes
    -----
    With p = x/n and z the (1 + level)/2 quantile of the standard normal distribution:

    - Wald: p ± z·sqrt(p(1−p)/n), *not clipped* to [0, 1]; at p = 0 or 1 it has no width, which the
      result warns of (AdaPlanBench, Appendix C.8 and Table 9, there in percent with z = 1.96).
    - Wilson: (x + z²/2)/(n + z²) ± z/(n + z²)·sqrt(x(n−x)/n + z²/4), always inside [0, 1]
      (Wilson 1927, J. Am. Stat. Assoc. 22:209; recommended by Newcombe 1998, Stat. Med. 17:857).

    Both assume independent observations with one common probability. Several attempts at one task
    are not independent: use `means.mean_by_cluster` on the 0/1 outcomes there.
    """
    if successes != int(successes) or n != int(n) or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no share")
    if n == 0:
        check_level(level)
        return Estimate.without_value(NO_OBSERVATIONS, excluded=excluded)
    return _estimate(successes / n, n, level, method, excluded)


def share_of(
    outcomes: Sequence[bool | float | None],
    *,
    level: float = 0.95,
    method: Method = "wilson",
    excluded: Mapping[str, int] | None = None,
) -> Estimate:
    """Compute the share of true outcomes; None (and NaN) is excluded and counted.

    See `share` for formulas and degenerate cases. Outcomes other than true, false, 0, 1 and None
    are refused.
    """
    known = [o for o in outcomes if o is not None and not isnan(o)]
    if any(o not in (0, 1) for o in known):
        raise ValueError("outcomes must be true, false or None")
    counts = dict(excluded or {})
    if len(known) < len(outcomes):
        counts[MISSING] = counts.get(MISSING, 0) + len(outcomes) - len(known)
    yes = sum(1 for outcome in known if outcome)
    return share(yes, len(known), level=level, method=method, excluded=counts)


def published_share(
    fraction: float, n: int, *, level: float = 0.95, method: Method = "wald"
) -> Estimate:
    """Give a share that was published as a rounded number the interval that n gives it.

    ``fraction`` is not turned back into a count: p is used in the formulas of `share` as printed,
    so the interval is exact to the rounding of p. Say beside it when n is inferred.
    """
    if not 0 <= fraction <= 1 or n < 1:
        raise ValueError(f"{fraction} with n = {n} is no share")
    return _estimate(fraction, n, level, method, None)


def _estimate(
    p: float, n: int, level: float, method: Method, excluded: Mapping[str, int] | None
) -> Estimate:
    check_level(level)
    counts = dict(excluded or {})
    if n == 1:
        return Estimate(p, n, no_interval=ONE_VALUE, excluded=counts)
    z = NormalDist().inv_cdf((1 + level) / 2)
    warnings: tuple[str, ...] = ()
    if method == "wilson":
        low, high = _wilson(p, n, z)
    elif method == "wald":
        half = z * sqrt(p * (1 - p) / n)
        low, high = p - half, p + half
        if half == 0:
            warnings = (WALD_COLLAPSED,)
        elif low < 0 or high > 1:
            warnings = (WALD_OUTSIDE,)
    else:
        raise ValueError(f"unknown interval {method!r}")
    interval = Interval(low, high, level, method)
    return Estimate(p, n, interval, excluded=counts, warnings=warnings)


def _wilson(p: float, n: int, z: float) -> tuple[float, float]:
    centre = (n * p + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(n * p * (1 - p) + z * z / 4)
    # The ends are exactly 0 and 1 there; the floats miss them by a rounding error.
    low = 0.0 if p == 0 else max(0.0, centre - half)
    high = 1.0 if p == 1 else min(1.0, centre + half)
    return low, high


def coverage_by_step(
    parts: Collection[Hashable], finds: Iterable[tuple[int, Hashable]], steps: int
) -> tuple[float | None, ...]:
    """Compute the share of the parts that were found up to each step.

    Parameters
    ----------
    parts
        What is asked for. What is found beyond it counts for nothing.
    finds
        (step from 1, part) of every find, in any order; a part counts from its first find.
    steps
        How many steps there were.

    Returns
    -------
    tuple
        One fraction for each step, never falling; None for each where nothing is asked for.
    """
    whole = set(parts)
    if not whole:
        return (None,) * steps
    first: dict[Hashable, int] = {}
    for step, part in finds:
        if not 1 <= step <= steps:
            raise ValueError(f"step {step} of {steps} steps")
        if part in whole:
            first[part] = min(step, first.get(part, step))
    new = [0] * (steps + 1)
    for step in first.values():
        new[step] += 1
    shares, so_far = [], 0
    for count in new[1:]:
        so_far += count
        shares.append(so_far / len(whole))
    return tuple(shares)


def kept_to(values: Sequence[float | None], steps: int) -> tuple[float | None, ...]:
    """Carry the last value on to the given number of steps.

    What was found stays found: so carried, every later step is about the same trajectories as the
    first, also those that have ended. Without a value there is none to carry.
    """
    if not values:
        return (None,) * steps
    return (*values, *[values[-1]] * (steps - len(values)))
