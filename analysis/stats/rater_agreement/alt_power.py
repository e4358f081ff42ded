"""How often a judge as good as a person passes the alternative annotator test."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.rater_agreement.alt_wins import compared_wins
from analysis.stats.rater_agreement.sample_size import planned_scores

WANTED = 0.8
# Made-up items that the variation of differences is taken from, and made-up tests.
ITEMS, TESTS, SEED = 4_000, 4_000, 20260401
MOST_ITEMS = 1_000_000
METHOD = (
    "simulation: people and judge are exchangeable, with the scores and the ordinal alpha of "
    "these people; {tests:,} tests from the t statistics' joint normal distribution, seed {seed}"
)


@dataclass(frozen=True)
class Power:
    """The test's power against a judge that is as good as a person.

    Attributes
    ----------
    items
        Items tested; ``power`` is the share of such judges that pass with so many.
    items_needed
        Items that would give ``wanted``; None where a million are not enough.
    in_words
        Both, as a sentence without its full stop.
    """

    items: int
    power: float
    wanted: float
    items_needed: int | None
    method: str
    in_words: str


def power_for(
    shares: Sequence[float],
    alpha: float | None,
    counts: Floats,
    *,
    items: int,
    others: int,
    epsilon: float,
    q: float,
    effect: float = 1.0,
    degrees: int | None = None,
) -> Power:
    """Compute how often a judge passes who scores as people do.

    Parameters
    ----------
    shares, alpha
        How often people give each answer, in its order, and their ordinal alpha; None where all
        answers are equal.
    counts
        Square table of the people tested: items that two of them share, and on the diagonal those
        of each one.
    items
        Items tested.
    others
        People per item, at least 2.
    epsilon, q
        Of the test.
    effect, degrees
        Where items share tasks: how many times larger the variance of a mean is for it, and the
        degrees of freedom of the t tests.

    Notes
    -----
    Scores are made by `sample_size.planned_scores` for ``others`` people and one judge more, from
    which come τ², the variance of d = W^h − W^f, and ρ, the correlation of d between people; the
    mean of d is 0. The t statistics of n items are then normal with mean −ε√n/τ, variance 1 and
    correlation ρ·n_jk/√(n_j n_k), read against t with the fewest degrees of freedom; the judge
    passes where at least half are clear after Benjamini & Yekutieli. For more items all n grow by
    one factor, which is found by halving, with the same random numbers throughout. It takes people
    as exchangeable, a judge among them, and p-values as adjusted over the people of this test.
    """
    tau, rho = _variation(tuple(round(share, 4) for share in shares), alpha, others)
    own = np.diag(counts)
    if tau <= 0:
        return _stated(items, 1.0, items, epsilon)
    root = np.sqrt(np.outer(own, own))
    correlation = rho * counts / root
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    half = vectors * np.sqrt(np.maximum(values, 0))
    drawn = np.random.default_rng(SEED).standard_normal((TESTS, own.size)) @ half.T

    rank = np.arange(1, own.size + 1)
    lines = q * rank / (own.size * (1 / rank).sum())

    def power(factor: float) -> float:
        from scipy.special import stdtrit  # slow to import

        free = (float(own.min()) - 1 if degrees is None else degrees) * factor
        shifted = np.sort(drawn - epsilon * np.sqrt(own * factor / effect / tau), axis=1)
        won = ((shifted <= stdtrit(max(free, 1.0), lines)) * rank).max(axis=1)
        return float((won >= own.size / 2).mean())

    now = power(1.0)
    low, high = 0.0, 1.0
    while power(high) < WANTED:
        low, high = high, 2 * high
        if high * items > MOST_ITEMS:
            return _stated(items, now, None, epsilon)
    while (high - low) * items > max(1.0, 0.005 * high * items):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= WANTED else (middle, high)
    return _stated(items, now, ceil(high * items), epsilon)


def _stated(items: int, power: float, needed: int | None, epsilon: float) -> Power:
    more = (
        f"{MOST_ITEMS:,} would not give {WANTED:.0%}"
        if needed is None
        else f"{needed:,} would give {WANTED:.0%}"
    )
    words = (
        f"with {items:,} items and ε = {epsilon:g} a judge as good as a person passes {power:.0%} "
        f"of the time; {more}"
    )
    method = METHOD.format(tests=TESTS, seed=SEED)
    return Power(items, power, WANTED, needed, method, words)


def _variation(shares: tuple[float, ...], alpha: float | None, others: int) -> tuple[float, float]:
    """Return τ² and ρ; rounded, so that judges of one criterion share one simulation."""
    if alpha is None or sum(share > 0 for share in shares) < 2:
        return 0.0, 0.0
    return _simulated(shares, min(max(round(alpha, 2), 0.0), 0.99), others)


@lru_cache(maxsize=256)
def _simulated(shares: tuple[float, ...], alpha: float, others: int) -> tuple[float, float]:
    scores = planned_scores(alpha, shares, raters=others + 1, seed=SEED, items=ITEMS)
    person, judge, _ = compared_wins(scores[:, :-1], scores[:, -1])
    d = person - judge
    tau = float((d**2).mean())
    if tau <= 0 or others < 2:
        return tau, 0.0
    products = d.sum(axis=1) ** 2 - (d**2).sum(axis=1)
    rho = float(products.mean()) / (others * (others - 1)) / tau
    return tau, min(max(rho, 0.0), 1.0)
