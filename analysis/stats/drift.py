"""Whether a person's scores move as they go on: the early third against the late third."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.stats.columns import Floats, as_column, check_level
from analysis.stats.means import t_quantile
from analysis.stats.results import Estimate, Interval

# One rater's scores of one item, in the order of its questions; None for a question left out.
ScoreSheet = tuple[Hashable, Hashable, Sequence[float | None]]
Reference = Literal["other people", "judges"]

TOO_SHORT = (
    "the first and the last third need {minimum} items each that others or the judges scored too; "
    "there are {early} and {late}"
)
THIRDS_EQUAL = "inside each third all differences are equal: they say nothing about the uncertainty"
NO_REFERENCE: dict[Reference, str] = {
    "other people": "scored by no other person",
    "judges": "not scored by the judges",
}
DRAWS_AT_ONCE = 2_000_000
EARLY, MIDDLE, LATE = 0, 1, 2


@dataclass(frozen=True)
class Drift:
    """Late minus early mean difference from the reference, in points; positive: became milder.

    Attributes
    ----------
    difference
        With a Welch interval; ``n`` counts the items of both thirds.
    p_value
        Of the permutation test, two-sided; None where undefined.
    reference
        What the scores are compared with; None where undefined.
    early, late
        Items in the two thirds.
    """

    difference: Estimate
    p_value: float | None
    reference: Reference | None
    early: int
    late: int
    seed: int
    permutations: int


def drift(
    sheets: Iterable[ScoreSheet],
    *,
    judges: Mapping[Hashable, Sequence[float | None]] | None = None,
    minimum: int = 5,
    seed: int,
    permutations: int = 2000,
    level: float = 0.95,
) -> dict[Hashable, Drift]:
    """Compare each rater's early scores with the late ones, set against others' of the same items.

    Parameters
    ----------
    sheets
        (rater, item, scores), each rater's items in the order judged.
    judges
        Mean scores of the judges by item, in the same order of questions, for raters whose items
        hardly anybody else scored.
    minimum
        Items with a reference that each of the two thirds needs.
    seed, permutations
        Of the permutation test.

    Raises
    ------
    ValueError
        If a rater scores an item twice, or the numbers of questions differ.

    Notes
    -----
    An item's difference is the mean over questions of (own score − reference). The reference is the
    mean of the *other* raters' scores of that question; where too few items of either third have
    one, it is the judges' mean for all of that rater's items: the two are never mixed, because
    people and judges may differ in level and an overlap that changes over time would look like
    drift. With n items in the order judged, the thirds are the first and the last ⌊n/3⌋; items
    without a reference keep their place and are left out and counted.

    Estimate: mean of the late third minus mean of the early third, with Welch's interval
    d ± t(ν)·sqrt(s₁²/n₁ + s₂²/n₂), Welch–Satterthwaite ν (Welch 1947, Biometrika 34:28). p-value:
    the differences of all items with a reference, those of the middle third too, are dealt out anew
    over the places; p = (1 + #{|d*| ≥ |d|})/(1 + B) (Phipson & Smyth 2010, Stat. Appl. Genet. Mol.
    Biol. 9:39). It assumes that without drift every order of the differences is equally likely,
    which a design gives that deals items in random order; where harder items come later, or the
    others drift along, it is not drift that is measured. One test per rater: correct for their
    number before calling anybody out.

    Undefined below ``minimum``; p = 1 where all differences are equal.
    """
    check_level(level)
    if minimum < 2 or permutations < 100:
        raise ValueError("drift needs 2 items in each third and 100 permutations at least")
    by_rater: dict[Hashable, dict[Hashable, Floats]] = {}
    for rater, item, scores in sheets:
        own = by_rater.setdefault(rater, {})
        if item in own:
            raise ValueError(f"{rater!r} scores {item!r} twice: give one row per rater and item")
        own[item] = as_column(scores)
    sums, counts = _totals(by_rater)
    judge_means = {item: as_column(means) for item, means in (judges or {}).items()}
    found = {}
    for rater, own in by_rater.items():
        against_people = _differences(own, _others(own, sums, counts))
        against_judges = _differences(own, judge_means)
        third = _thirds(len(own))
        overlap = _smaller_third(against_people, third)
        reference: Reference = "other people"
        values = against_people
        if overlap < minimum and _smaller_third(against_judges, third) > overlap:
            reference, values = "judges", against_judges
        found[rater] = _drift(values, third, reference, minimum, seed, permutations, level)
    return found


def _totals(
    by_rater: Mapping[Hashable, Mapping[Hashable, Floats]],
) -> tuple[dict[Hashable, Floats], dict[Hashable, Floats]]:
    """Sum and number of scores by item and question."""
    sums: dict[Hashable, Floats] = {}
    counts: dict[Hashable, Floats] = {}
    for own in by_rater.values():
        for item, scores in own.items():
            if item in sums and sums[item].size != scores.size:
                raise ValueError(f"{item!r}: {scores.size} scores and {sums[item].size}")
            there = ~np.isnan(scores)
            sums[item] = sums.get(item, np.zeros(scores.size)) + np.where(there, scores, 0)
            counts[item] = counts.get(item, np.zeros(scores.size)) + there
    return sums, counts


def _others(
    own: Mapping[Hashable, Floats],
    sums: Mapping[Hashable, Floats],
    counts: Mapping[Hashable, Floats],
) -> dict[Hashable, Floats]:
    """Mean of the other raters by item and question; NaN where there is none."""
    means = {}
    for item, scores in own.items():
        there = ~np.isnan(scores)
        rest = counts[item] - there
        mean = np.full(scores.size, np.nan)
        np.divide(sums[item] - np.where(there, scores, 0), rest, out=mean, where=rest > 0)
        means[item] = mean
    return means


def _differences(own: Mapping[Hashable, Floats], reference: Mapping[Hashable, Floats]) -> Floats:
    """Mean difference of each item in the order judged; NaN where nothing can be compared."""
    found = np.full(len(own), np.nan)
    for place, (item, scores) in enumerate(own.items()):
        means = reference.get(item)
        if means is None:
            continue
        if means.size != scores.size:
            raise ValueError(f"{item!r}: {scores.size} scores and {means.size} means of the judges")
        gaps = scores - means
        gaps = gaps[~np.isnan(gaps)]
        if gaps.size:
            found[place] = gaps.mean()
    return found


def _thirds(n: int) -> npt.NDArray[np.int64]:
    """Which third each of n places belongs to."""
    third = np.full(n, MIDDLE)
    third[: n // 3] = EARLY
    third[n - n // 3 :] = LATE
    return third


def _smaller_third(values: Floats, third: npt.NDArray[np.int64]) -> int:
    """How many items the first or the last third has that can be compared, whichever has fewer."""
    known = ~np.isnan(values)
    return min(int((known & (third == part)).sum()) for part in (EARLY, LATE))


def _drift(
    values: Floats,
    third: npt.NDArray[np.int64],
    reference: Reference,
    minimum: int,
    seed: int,
    permutations: int,
    level: float,
) -> Drift:
    known = ~np.isnan(values)
    early, late = (values[known & (third == part)] for part in (EARLY, LATE))
    n = early.size + late.size
    gone = int((~known & (third != MIDDLE)).sum())
    excluded = {NO_REFERENCE[reference]: gone} if gone else {}
    if min(early.size, late.size) < minimum:
        reason = TOO_SHORT.format(minimum=minimum, early=early.size, late=late.size)
        nothing = Estimate.without_value(reason, n=n, excluded=excluded)
        return Drift(nothing, None, None, early.size, late.size, seed, permutations)
    return Drift(
        difference=_welch(early, late, level, excluded),
        p_value=_permutation_p(values[known], third[known], seed, permutations),
        reference=reference,
        early=early.size,
        late=late.size,
        seed=seed,
        permutations=permutations,
    )


def _welch(early: Floats, late: Floats, level: float, excluded: dict[str, int]) -> Estimate:
    change, n = float(late.mean() - early.mean()), early.size + late.size
    parts = [float(third.var(ddof=1)) / third.size for third in (early, late)]
    if max(np.ptp(early), np.ptp(late)) <= 1e-12:
        return Estimate(change, n, no_interval=THIRDS_EQUAL, excluded=excluded)
    df = sum(parts) ** 2 / sum(
        part**2 / (third.size - 1) for part, third in zip(parts, (early, late), strict=True)
    )
    half = t_quantile(df, level) * sqrt(sum(parts))
    return Estimate(
        change, n, Interval(change - half, change + half, level, "Welch t"), excluded=excluded
    )


def _permutation_p(
    values: Floats, third: npt.NDArray[np.int64], seed: int, permutations: int
) -> float:
    early, late = third == EARLY, third == LATE
    weights = late / late.sum() - early / early.sum()
    seen = abs(float(values @ weights))
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // values.size)
    as_far = 0
    for start in range(0, permutations, step):
        rows = min(step, permutations - start)
        dealt = rng.permuted(np.tile(values, (rows, 1)), axis=1)
        # Sums of the same numbers in another order differ by rounding errors.
        as_far += int((np.abs(dealt @ weights) >= seen - 1e-9).sum())
    return (1 + as_far) / (1 + permutations)
