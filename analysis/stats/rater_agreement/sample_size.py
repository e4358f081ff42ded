"""The number of items that an agreement study needs for a wanted precision."""

from dataclasses import dataclass
from math import ceil
from statistics import NormalDist
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_level
from analysis.stats.rater_agreement.alpha import Metric, alphas, coincidences
from analysis.stats.rater_agreement.answers import Answers, answers_of_scores

MOST_ITEMS = 10_000_000
NOT_REACHED = "more than {most:,} items"
OFTEN_UNDEFINED = "{share:.0%} of the simulated studies have no alpha: all scores are equal"


@dataclass(frozen=True)
class SampleSize:
    """The number of items needed.

    Attributes
    ----------
    items
        The whole number; None where ``undefined`` says why there is none.
    half_width
        Half the width that the interval is to have at most, in the units of the statistic.
    exact
        What the formula gives before it is rounded up; None where there is no formula.
    reached
        The half-width at ``items``.
    """

    items: int | None
    half_width: float
    level: float
    method: str
    exact: float | None = None
    reached: float | None = None
    undefined: str = ""
    warnings: tuple[str, ...] = ()


def items_for_share(expected: float, half_width: float, *, level: float = 0.95) -> SampleSize:
    """Find the fewest items for a Wilson interval of a share, such as that of equal scores.

    Parameters
    ----------
    expected
        The share that is expected, from 0 to 1; 0.5 needs the most.
    half_width
        Half the width that the interval is to have at most, as a fraction.

    Raises
    ------
    ValueError
        If the share or the half-width is no fraction.

    Notes
    -----
    The half-width z/(n + z²)·sqrt(n p(1 − p) + z²/4) falls with n; the smallest n is found by
    halving. Items are taken as independent. Wilson 1927, J. Am. Stat. Assoc. 22:209.
    """
    check_level(level)
    _check_fraction(half_width, "the half-width")
    if not 0 <= expected <= 1:
        raise ValueError(f"the expected share is a fraction from 0 to 1, not {expected}")
    z = NormalDist().inv_cdf((1 + level) / 2)

    def half(n: int) -> float:
        return z / (n + z * z) * float(np.sqrt(n * expected * (1 - expected) + z * z / 4))

    method = f"Wilson interval of a share of {expected:.3g}"
    low, high = 0, 1
    while half(high) > half_width:
        low, high = high, 2 * high
        if high > MOST_ITEMS:
            reason = NOT_REACHED.format(most=MOST_ITEMS)
            return SampleSize(None, half_width, level, method, undefined=reason)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half(middle) <= half_width else (middle, high)
    return SampleSize(high, half_width, level, method, reached=half(high))


def items_for_icc(
    expected: float, half_width: float, *, raters: int, level: float = 0.95
) -> SampleSize:
    """Compute how many items the interval of a one-way intraclass correlation needs.

    Parameters
    ----------
    expected
        The correlation that is expected, of a single rater.
    half_width
        Half the width that the interval is to have.
    raters
        How many score each item.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    n = 8 z²(1 − ρ)²(1 + (k − 1)ρ)²/(k(k − 1)w²) + 1 with w the full width: Bonett 2002, Stat. Med.
    21:1331. An approximation that is meant for ρ ≥ 0.7 or so, or k of 3 and more.
    """
    check_level(level)
    _check_fraction(half_width, "the half-width")
    if raters < 2:
        raise ValueError("an intraclass correlation needs two raters or more")
    if not 0 <= expected < 1:
        raise ValueError(f"the expected correlation lies from 0 to 1, not {expected}")
    z = NormalDist().inv_cdf((1 + level) / 2)
    spread = (1 - expected) * (1 + (raters - 1) * expected)
    exact = 8 * z**2 * spread**2 / (raters * (raters - 1) * (2 * half_width) ** 2) + 1
    method = f"Bonett 2002, one-way ICC of {expected:.3g}, {raters} raters"
    return SampleSize(max(2, ceil(exact - 1e-9)), half_width, level, method, exact)


def items_for_alpha(
    pilot: Answers,
    half_width: float,
    *,
    metric: Metric = "ordinal",
    seed: int,
    studies: int = 2000,
    level: float = 0.95,
    most: int = 1_000_000,
) -> SampleSize:
    """Find how many items alpha needs, by simulated studies with the answers of a pilot.

    Parameters
    ----------
    pilot
        Answers of a pilot, or of `planned_answers` where there is none yet.
    half_width
        Half the width of the range in which alpha is to fall.
    seed, studies
        Of the simulation: each study draws its items from the pilot's.
    most
        Items at which the search gives up.

    Notes
    -----
    For n items, alphas of ``studies`` samples of n items, drawn from the pilot with replacement;
    half the distance between their (1 ∓ level)/2 quantiles. n grows by doubling, then is narrowed
    to 2 %. Studies in which alpha is undefined are dropped; a warning says so where they are more
    than 1 %. The pilot's answers are taken for the population: with under 50 items the result is
    rough.
    """
    check_level(level)
    _check_fraction(half_width, "the half-width")
    paired, _ = pilot.with_at_least(2)
    method = f"simulation of {studies} studies (seed {seed}), alpha with the {metric} metric"
    parts, weights = coincidences(paired.counts), paired.often
    if paired.items < 2 or np.isnan(alphas((weights @ parts)[None, :], paired.values, metric)[0]):
        reason = "the pilot has no alpha: no pairs, or all answers are equal"
        return SampleSize(None, half_width, level, method, undefined=reason)
    p = weights / paired.items
    dropped = 0.0

    def half(n: int) -> float:
        nonlocal dropped
        drawn = np.random.default_rng(seed).multinomial(n, p, size=studies)
        alphas_drawn = alphas(drawn.astype(np.float64) @ parts, paired.values, metric)
        known = alphas_drawn[~np.isnan(alphas_drawn)]
        dropped = 1 - known.size / studies
        if not known.size:
            return np.inf
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        return float(high - low) / 2

    low, high = 1, 8
    while half(high) > half_width or dropped > 0.5:
        low, high = high, 2 * high
        if high > most:
            reason = NOT_REACHED.format(most=most)
            return SampleSize(None, half_width, level, method, undefined=reason)
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if half(middle) <= half_width else (middle, high)
    reached = half(high)
    warnings = (OFTEN_UNDEFINED.format(share=dropped),) if dropped > 0.01 else ()
    return SampleSize(high, half_width, level, method, reached=reached, warnings=warnings)


def planned_answers(
    expected: float,
    shares: Any,
    *,
    raters: int,
    seed: int,
    metric: Metric = "ordinal",
    items: int = 20_000,
) -> Answers:
    """Make up answers with a given alpha, for planning before there is a pilot.

    Parameters
    ----------
    expected
        The alpha that is expected, from 0 to under 1.
    shares
        How often each score of the scale from 1 up is expected; they are made to add up to 1.
    raters
        How many score each item.
    seed, items
        Of the simulation.

    Raises
    ------
    ValueError
        If a number is out of range.

    Notes
    -----
    Each score is a normal value sqrt(ρ)·t_item + sqrt(1 − ρ)·e, cut at the quantiles of ``shares``;
    ρ is found by halving, so that alpha of the made-up answers is the expected one to 0.002.
    Raters differ by chance only: none is more severe than the others.
    """
    scores = planned_scores(expected, shares, raters=raters, seed=seed, metric=metric, items=items)
    return answers_of_scores(scores, scale=(1, len(shares)))


def planned_scores(
    expected: float,
    shares: Any,
    *,
    raters: int,
    seed: int,
    metric: Metric = "ordinal",
    items: int = 20_000,
) -> Floats:
    """Make up the scores of `planned_answers`: one row per item, one column per rater."""
    wanted = as_column(shares)
    if (
        wanted.size < 2
        or (wanted < 0).any()
        or not wanted.sum() > 0
        or wanted.max() == wanted.sum()
    ):
        raise ValueError("shares: two scores or more with a share above 0 are needed")
    if raters < 2 or not 0 <= expected < 1:
        raise ValueError("alpha lies from 0 to under 1, of two raters or more")
    rng = np.random.default_rng(seed)
    truth, noise = rng.standard_normal((items, 1)), rng.standard_normal((items, raters))
    cuts = [NormalDist().inv_cdf(p) if 0 < p < 1 else np.copysign(np.inf, p - 0.5)
            for p in np.cumsum(wanted / wanted.sum())[:-1]]  # fmt: skip
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        latent = np.sqrt(middle) * truth + np.sqrt(1 - middle) * noise
        scores: Floats = np.searchsorted(cuts, latent) + 1.0
        answers = answers_of_scores(scores, scale=(1, wanted.size))
        totals = answers.often @ coincidences(answers.counts)
        alpha = float(alphas(totals[None, :], answers.values, metric)[0])
        if abs(alpha - expected) < 0.002:
            break
        low, high = (middle, high) if alpha < expected else (low, middle)
    return scores


def _check_fraction(value: float, name: str) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} is a fraction between 0 and 1, not {value}")
