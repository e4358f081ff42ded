"""The verdict on a judge: what two tests together say about whether it may stand in for a person.

Non-inferiority asks whether the judge agrees with people about as well as people do; the
alternative annotator test asks whether it is as close to them as each person is. The test alone
lets a judge pass that always gives the same answer, where people mostly give it too. So standing in
takes both, and the power says how often a judge as good as a person passes both.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import Any

import numpy as np

from analysis.stats.columns import Floats
from analysis.stats.rater_agreement.non_inferiority import (
    MARGIN,
    MOST_ITEMS,
    RETAINED,
    Answer,
    NonInferiority,
    paired_kappas,
)
from analysis.stats.rater_agreement.sample_size import planned_scores


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
LEVEL = 0.95
# Made-up items that the variation of differences is taken from, and made-up tests.
ITEMS, TESTS, SEED = 4_000, 4_000, 20260401
METHOD = (
    "simulation: people and judge are exchangeable, with the scores and the ordinal alpha of "
    "these people; {tests:,} tests from the statistics' joint normal distribution, seed {seed}"
)


@dataclass(frozen=True)
class Power:
    """The power of both tests against a judge that is as good as a person.

    Attributes
    ----------
    items
        Items tested; ``power`` is the share of such judges that pass both tests with so many, and
        ``agreement`` the share that pass non-inferiority.
    items_needed, agreement_items
        Items that would give ``wanted`` of them; None where a million are not enough.
    in_words
        The power of both, as a sentence without its full stop.
    """

    items: int
    power: float
    wanted: float
    items_needed: int | None
    agreement: float
    agreement_items: int | None
    method: str
    in_words: str


@dataclass(frozen=True)
class Variation:
    """How the statistics of a judge as good as a person vary from item to item.

    Attributes
    ----------
    wins, together
        Variance of d = W^h − W^f, and its correlation between people.
    gap, kept
        Standard deviations of an item's influence on kappa of judge minus person, and on kappa of
        the judge minus a third of a person's.
    expected_kept
        Expected kappa of the judge minus a third of a person's.
    wins_gap, wins_kept, gap_kept
        Correlations of d with either influence, and of both influences.
    """

    wins: float
    together: float
    gap: float
    kept: float
    expected_kept: float
    wins_gap: float
    wins_kept: float
    gap_kept: float


def power_for(
    shares: Sequence[float],
    alpha: float | None,
    counts: Floats,
    *,
    items: int,
    others: int,
    epsilon: float,
    q: float,
    margin: float = MARGIN,
    effect: float = 1.0,
    gap_effect: float = 1.0,
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
    epsilon, q, margin
        Of the two tests.
    effect, gap_effect, degrees
        Where items share tasks: how many times larger the variance of a mean of d, and of the
        difference of kappas, is for it; and the degrees of freedom of the t tests.

    Notes
    -----
    Scores are made by `sample_size.planned_scores` for ``others`` people and one judge more, from
    which comes their `Variation`; the mean of d and of the difference of kappas is 0. The t
    statistics of n items are then normal: for a person −ε√n/τ with correlation ρ·n_jk/√(n_j n_k)
    between people, read against t with the fewest degrees of freedom, where at least half have to
    be clear after Benjamini & Yekutieli; for both differences of kappas margin·√n/σ. For more items
    all n grow by one factor, which is found by halving, with the same random numbers throughout. It
    takes people as exchangeable, a judge among them, and p-values as adjusted over the people of
    this test.
    """
    varies = _variation(tuple(round(share, 4) for share in shares), alpha, others)
    own = np.diag(counts)
    if varies is None:
        return _stated(items, 0.0, None, 0.0, None, epsilon, margin)
    size = own.size
    correlation = np.eye(size + 2)
    correlation[:size, :size] = varies.together * counts / np.sqrt(np.outer(own, own))
    np.fill_diagonal(correlation, 1.0)
    part = np.sqrt(np.minimum(own / items, 1.0))
    for place, value in ((size, varies.wins_gap), (size + 1, varies.wins_kept)):
        correlation[:size, place] = correlation[place, :size] = value * part
    correlation[size, size + 1] = correlation[size + 1, size] = varies.gap_kept
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    drawn = np.random.default_rng(SEED).standard_normal((TESTS, size + 2)) @ root.T

    rank = np.arange(1, size + 1)
    lines = q * rank / (size * (1 / rank).sum())
    lags = np.array([margin / varies.gap, varies.expected_kept / varies.kept])

    def passing(factor: float) -> tuple[float, float]:
        from scipy.special import stdtrit  # slow to import

        free = (float(own.min()) - 1 if degrees is None else degrees) * factor
        t = drawn[:, :size] - epsilon * np.sqrt(own * factor / effect / varies.wins)
        clear = np.sort(t, axis=1) <= stdtrit(max(free, 1.0), lines)
        won = (clear * rank).max(axis=1) >= size / 2
        most = (items - 1 if degrees is None else degrees) * factor
        ends = drawn[:, size:] + lags * np.sqrt(items * factor / gap_effect)
        agrees = (ends > stdtrit(max(most, 1.0), (1 + LEVEL) / 2)).all(axis=1)
        return float((won & agrees).mean()), float(agrees.mean())

    both, agrees = passing(1.0)
    return _stated(
        items, both, _items_needed(lambda factor: passing(factor)[0], items),
        agrees, _items_needed(lambda factor: passing(factor)[1], items), epsilon, margin,
    )  # fmt: skip


def _items_needed(power: Callable[[float], float], items: int) -> int | None:
    low, high = 0.0, 1.0
    while power(high) < WANTED:
        low, high = high, 2 * high
        if high * items > MOST_ITEMS:
            return None
    while (high - low) * items > max(1.0, 0.005 * high * items):
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= WANTED else (middle, high)
    return ceil(high * items)


def _stated(
    items: int,
    power: float,
    needed: int | None,
    agreement: float,
    agreement_items: int | None,
    epsilon: float,
    margin: float,
) -> Power:
    more = (
        f"{MOST_ITEMS:,} would not give {WANTED:.0%}"
        if needed is None
        else f"{needed:,} would give {WANTED:.0%}"
    )
    words = (
        f"with {items:,} items, margin −{margin:g} and ε = {epsilon:g} a judge as good as a person "
        f"passes both tests {power:.0%} of the time; {more}"
    )
    method = METHOD.format(tests=TESTS, seed=SEED)
    return Power(items, power, WANTED, needed, agreement, agreement_items, method, words)


def _variation(shares: tuple[float, ...], alpha: float | None, others: int) -> Variation | None:
    """Return how statistics vary; rounded, so that judges of one criterion share one simulation."""
    if alpha is None or sum(share > 0 for share in shares) < 2:
        return None
    return _simulated(shares, min(max(round(alpha, 2), 0.0), 0.99), others)


@lru_cache(maxsize=256)
def _simulated(shares: tuple[float, ...], alpha: float, others: int) -> Variation | None:
    scores = planned_scores(alpha, shares, raters=others + 1, seed=SEED, items=ITEMS)
    people, own = scores[:, :-1], scores[:, -1]
    person, judge, compared = compared_wins(people, own)
    d = person - judge
    tau = float((d**2).mean())
    kappas = paired_kappas(people, own, compared, range(others))
    if tau <= 0 or kappas is None:
        return None
    products = d.sum(axis=1) ** 2 - (d**2).sum(axis=1)
    rho = float(products.mean()) / (others * (others - 1)) / tau
    gap = kappas.judge_influence - kappas.people_influence
    kept = kappas.judge_influence - RETAINED * kappas.people_influence
    mean = d.mean(axis=1)
    spread = np.sqrt(tau)

    def with_wins(influence: Floats) -> float:
        return float((mean * influence).mean() / (spread * influence.std()))

    return Variation(
        tau,
        min(max(rho, 0.0), 1.0),
        float(gap.std()) * ITEMS,
        float(kept.std()) * ITEMS,
        # A judge like people has their kappa; the simulated judge's own is one draw of it.
        (1 - RETAINED) * kappas.people,
        with_wins(gap),
        with_wins(kept),
        float(np.corrcoef(gap, kept)[0, 1]),
    )


# The lowest alpha from which tentative conclusions may be drawn: Krippendorff 2004, Content
# Analysis, 2nd ed., p. 241.
LOW_ALPHA = 0.667
ENOUGH_POWER = 0.8

ALPHA_LOW = "people agree little with each other: ordinal alpha {alpha}, below 0.667"
ALPHA_UNDEFINED = "ordinal alpha of people is undefined, so nobody knows how far they agree"


@dataclass(frozen=True)
class StandInVerdict:
    """The conclusion about a judge.

    Attributes
    ----------
    answer
        ``passes``: the judge may stand in for a person, by both tests. ``worse``: one of them shows
        that it is worse by more than the margin, or than ε. ``undecided``: neither.
        ``not_available``: there is no test.
    why, text
        The reason, and a whole sentence.
    agreement
        Non-inferiority; None where there is no test.
    alternative
        What the alternative annotator test says in the same words.
    items_to_decide
        Where it is undecided: items with which a judge as good as a person passes 80 % of the time,
        or, where there are so many already, with which this judge is decided if its differences
        stay as they are; None where a million would not.
    people_alpha
        Ordinal alpha of people on the items tested; None where it is undefined.
    power
        How often a judge as good as a person would pass.
    cautions
        What to keep in mind with the verdict.
    """

    answer: Answer
    why: str
    text: str
    agreement: NonInferiority | None
    alternative: Answer
    items_to_decide: int | None
    people_alpha: float | None
    power: Power | None
    cautions: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Return whether the judge may stand in for a person."""
        return self.answer == "passes"


def not_available(why: str) -> StandInVerdict:
    """Return the verdict where there is no test."""
    return StandInVerdict(
        "not_available", why, f"Not testable: {why}.", None, "not_available", None, None, None, ()
    )


def basis(agreement: NonInferiority, *, people_alpha: float | None, power: Power) -> StandInVerdict:
    """Return what a verdict rests on; `decided` says what it is."""
    cautions = []
    if people_alpha is None:
        cautions.append(ALPHA_UNDEFINED)
    elif people_alpha < LOW_ALPHA:
        cautions.append(ALPHA_LOW.format(alpha=f"{people_alpha:.2f}".replace("-", "−")))
    if power.power < ENOUGH_POWER:
        cautions.append(power.in_words)
    return StandInVerdict(
        "undecided", "", "", agreement, "undecided", None, people_alpha, power, tuple(cautions)
    )


def decided(
    verdict: StandInVerdict,
    alternative: Answer,
    *,
    winning_rate: float,
    items_to_decide: int | None,
) -> StandInVerdict:
    """Decide a verdict from non-inferiority and the outcome of the alternative annotator test.

    Parameters
    ----------
    alternative, winning_rate
        The outcome of the test.
    items_to_decide
        Items with which the test would be decided if the judge stays as it is.

    Notes
    -----
    A judge passes by both tests or not at all; either one shows alone that it is worse.
    """
    agreement, power = verdict.agreement, verdict.power
    if agreement is None or power is None:
        return verdict
    needed = None
    answers = (agreement.answer, alternative)
    answer: Answer = "undecided"
    if answers == ("passes", "passes"):
        answer = "passes"
    elif "worse" in answers:
        answer = "worse"
    else:
        needed = power.items_needed
        if needed is None or needed <= power.items:
            own = [
                items
                for reply, items in zip(
                    answers, (agreement.items_to_decide(power.items), items_to_decide), strict=True
                )
                if reply == "undecided"
            ]
            known = [items for items in own if items is not None]
            needed = max(known) if len(known) == len(own) else None
    why = _reason(agreement, alternative, winning_rate)
    text = {
        "passes": "May stand in for a person",
        "worse": "Shown worse than a person",
        "undecided": "Undecided",
    }[answer]
    return replace(
        verdict,
        answer=answer,
        alternative=alternative,
        why=why,
        text=f"{text}: {why}" + ("." if answer != "undecided" else f"; {_more(needed)}."),
        items_to_decide=needed,
    )


def _more(needed: int | None) -> str:
    if needed is None:
        return f"{MOST_ITEMS:,} items would not decide it"
    return f"about {needed:,} items would decide it"


def _reason(agreement: NonInferiority, alternative: Answer, winning_rate: float) -> str:
    difference, interval = agreement.difference.value, agreement.difference.interval
    if difference is None:
        return agreement.difference.undefined
    ends = "" if interval is None else f" ({_signed(interval.low)} to {_signed(interval.high)})"
    parts = [
        f"kappa with people minus people's own is {_signed(difference)}{ends}, margin "
        f"−{agreement.margin:g}"
    ]
    if agreement.constant is not None:
        parts.insert(0, f"it always answers {agreement.constant:g}")
    elif agreement.answer != "passes" and _within_margin(agreement):
        parts.append("it is not shown to keep a third of people's kappa")
    words = {"passes": "passes", "worse": "fails", "undecided": "is undecided"}
    if alternative in words:
        parts.append(
            f"the alternative annotator test {words[alternative]} (winning rate {winning_rate:.2f})"
        )
    return "; ".join(parts)


def _within_margin(agreement: NonInferiority) -> bool:
    interval = agreement.difference.interval
    return interval is not None and interval.low > -agreement.margin


def _signed(value: float) -> str:
    return f"{round(value, 2) + 0:+.2f}".replace("-", "−")
