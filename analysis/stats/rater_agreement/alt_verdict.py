"""Conditions under which the alternative annotator test counts as a verdict on a judge.

The test alone lets a judge pass that always gives the same answer, where people mostly give it too.
So each judge is also compared with the best constant judge and with chance, and the power of the
test says how often a judge as good as a person would pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.rater_agreement.sample_size import planned_scores
from analysis.stats.results import Estimate


def compared_wins(scores: Floats, own: Floats) -> tuple[Floats, Floats, Any]:
    """Return for each item and person whether the person, and the judge, is at least as close.

    The third says where the two are compared: both and another person scored the item.
    """
    there = ~np.isnan(scores)
    filled = np.where(there, scores, 0.0)
    others = there.sum(axis=1, keepdims=True) - there
    sums = filled.sum(axis=1, keepdims=True) - filled
    # Σ_r (x − h_r)² − Σ_r (y − h_r)² = (x − y)(m(x + y) − 2 Σ h_r): no difference of large squares.
    judge = np.where(np.isnan(own), 0.0, own)[:, None]
    further = (judge - filled) * (others * (judge + filled) - 2 * sums)
    compared = there & (others >= 1) & ~np.isnan(own)[:, None]
    judge_wins = (further <= 1e-9) & compared
    person_wins = (further >= -1e-9) & compared
    return person_wins.astype(np.float64), judge_wins.astype(np.float64), compared


def mean_share(totals: Floats) -> Floats:
    """Return the mean over people of wins/items, without people who have no item."""
    people = totals.shape[1] // 2
    wins, items = totals[:, :people], totals[:, people:]
    shares = np.divide(wins, items, out=np.full(wins.shape, np.nan), where=items > 0)
    known = ~np.isnan(shares)
    result: Floats = np.divide(
        np.where(known, shares, 0).sum(axis=1),
        known.sum(axis=1),
        out=np.full(len(totals), np.nan),
        where=known.any(axis=1),
    )
    return result


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


Reason = Literal["", "constant_judge", "chance_agreement", "too_few"]

# The lowest alpha from which tentative conclusions may be drawn: Krippendorff 2004, Content
# Analysis, 2nd ed., p. 241.
LOW_ALPHA = 0.667
ENOUGH_POWER = 0.8

SAME_AS_CONSTANT = "not distinguishable from always answering {answer}"
WORSE_THAN_CONSTANT = "less often as close to people as always answering {answer} is"
ALWAYS = "the judge always answers {own}"
CHANCE = "its agreement with people is not distinguishable from chance"
BELOW_CHANCE = "it agrees with people less than by chance"
ALL_ALIKE = "all answers are equal, so agreement beyond chance is undefined"
CONSTANT_START = "a constant judge also passes"
CONSTANT_PASSES = CONSTANT_START + ": always answering {answer} has winning rate {rate:.2f}"
ALPHA_LOW = "people agree little with each other: ordinal alpha {alpha}, below 0.667"
ALPHA_UNDEFINED = "ordinal alpha of people is undefined, so nobody knows how far they agree"


@dataclass(frozen=True)
class BestConstant:
    """The answer with which a judge that always gives it does best in the same test.

    Attributes
    ----------
    answer
        The answer of the scale with the highest winning rate; of several, the one with the highest
        advantage probability.
    winning_rate, advantage, passes
        As of a judge, adjusted over the people of this test alone.
    """

    answer: int
    winning_rate: float
    advantage: float
    passes: bool


@dataclass(frozen=True)
class AltTestVerdict:
    """The conclusion about a judge.

    Attributes
    ----------
    withheld
        Whether there is no verdict: see ``reason`` and ``text``.
    passes
        Whether the judge may stand in for a person; None where the verdict is withheld.
    reason
        ``too_few``: the test is not available. ``constant_judge``: the judge always gives one
        answer, or cannot be told from the best constant. ``chance_agreement``: its agreement with
        people cannot be told from chance. Empty where there is a verdict.
    why, text
        The same in words: the reason alone, and a sentence with the winning rates.
    best_constant
        None where the test is not available.
    beyond_constant
        Its advantage probability minus the best constant's, on the same items, paired.
    chance_corrected
        Its agreement with single answers of people beyond chance.
    constant
        The judge's only answer; None where it gives several.
    people_alpha
        Ordinal alpha of people on the items tested; None where it is undefined.
    power
        How often a judge as good as a person would pass.
    cautions
        What to keep in mind with the verdict.
    """

    withheld: bool
    passes: bool | None
    reason: Reason
    why: str
    text: str
    best_constant: BestConstant | None
    beyond_constant: Estimate
    chance_corrected: Estimate
    constant: float | None
    people_alpha: float | None
    power: Power | None
    cautions: tuple[str, ...]


def not_available(why: str) -> AltTestVerdict:
    """Return the verdict where there is no test."""
    nothing = Estimate.without_value(why)
    return AltTestVerdict(
        True, None, "too_few", why, f"Verdict withheld: {why}.", None, nothing, nothing, None,
        None, None, (),
    )  # fmt: skip


def undecided(
    best: BestConstant,
    beyond: Estimate,
    corrected: Estimate,
    *,
    constant: float | None,
    people_alpha: float | None,
    power: Power,
) -> AltTestVerdict:
    """Return what a verdict rests on; `decided` says what it is."""
    return AltTestVerdict(
        True, None, "", "", "", best, beyond, corrected, constant, people_alpha, power, ()
    )


def decided(verdict: AltTestVerdict, *, passed: bool, winning_rate: float) -> AltTestVerdict:
    """Decide a verdict from the outcome of the test.

    Notes
    -----
    Withheld where the judge has one answer only; where the interval of ``beyond_constant`` reaches
    0; where that of ``chance_corrected`` does. An interval that lies below 0 altogether withholds
    a pass, and agrees with a failure, which is then the verdict. No interval counts as reaching 0,
    unless the value lies above 0 (then it is the same in every resample).
    """
    best = verdict.best_constant
    if best is None:
        return verdict
    beyond, corrected = verdict.beyond_constant, verdict.chance_corrected
    answer = str(best.answer)
    why: list[str] = []
    reason: Reason = ""
    same = _reaches_zero(beyond)
    if verdict.constant is not None:
        reason = "constant_judge"
        if verdict.constant != best.answer:
            why.append(ALWAYS.format(own=f"{verdict.constant:g}"))
        else:
            same = True
    if same:
        reason = "constant_judge"
        why.append(SAME_AS_CONSTANT.format(answer=answer))
    elif passed and _below_zero(beyond):
        reason = "constant_judge"
        why.append(WORSE_THAN_CONSTANT.format(answer=answer))
    if _reaches_zero(corrected) or passed and _below_zero(corrected):
        reason = reason or "chance_agreement"
        if corrected.value is None:
            why.append(ALL_ALIKE)
        elif verdict.constant is None:
            why.append(BELOW_CHANCE if _below_zero(corrected) else CHANCE)
    rate = f"winning rate {winning_rate:.2f}"
    if reason:
        words = ", and ".join(why)
        text = (
            f"Verdict withheld: {words}. The test alone: {rate}; always answering {answer}: "
            f"{best.winning_rate:.2f}."
        )
        return replace(
            verdict, withheld=True, passes=None, reason=reason, why=words, text=text,
            cautions=_cautions(verdict, passes=False),
        )  # fmt: skip
    may = "May" if passed else "May not"
    text = f"{may} stand in for a person: {rate}; always answering {answer}: " + (
        f"{best.winning_rate:.2f}."
    )
    return replace(
        verdict, withheld=False, passes=passed, reason="", why="", text=text,
        cautions=_cautions(verdict, passes=passed),
    )  # fmt: skip


def _cautions(verdict: AltTestVerdict, *, passes: bool) -> tuple[str, ...]:
    best, alpha, power = verdict.best_constant, verdict.people_alpha, verdict.power
    found = []
    if passes and best is not None and best.passes:
        found.append(CONSTANT_PASSES.format(answer=best.answer, rate=best.winning_rate))
    if alpha is None:
        found.append(ALPHA_UNDEFINED)
    elif alpha < LOW_ALPHA:
        found.append(ALPHA_LOW.format(alpha=f"{alpha:.2f}".replace("-", "−")))
    if power is not None and power.power < ENOUGH_POWER:
        found.append(power.in_words)
    return tuple(found)


def _reaches_zero(estimate: Estimate) -> bool:
    if estimate.interval is None:
        return estimate.value is None or estimate.value == 0
    return estimate.interval.holds(0)


def _below_zero(estimate: Estimate) -> bool:
    if estimate.interval is None:
        return estimate.value is not None and estimate.value < 0
    return estimate.interval.high < 0
