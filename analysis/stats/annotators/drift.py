"""Drift of a person's scores during a study: their early third against their late third."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.stats.annotators.rater_quality import Sheets, read_sheets
from analysis.stats.columns import Codes, Floats, as_column, check_level
from analysis.stats.descriptive.means import t_quantile
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
    sheets: Iterable[ScoreSheet] | Sheets,
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
    read = read_sheets(sheets, does="scores")
    scores, (place, first) = as_column(read.answers), _places(read)
    against_people = _differences(read, scores, _others(scores, place))
    by_judges = _judges(read.items, first, judges or {})
    against_judges = _differences(read, scores, by_judges[place])
    rows = {}
    for code, rater in enumerate(read.raters):
        own = read.of(code)
        rows[rater] = _compared(against_people[own], against_judges[own], minimum)
    p_values = _p_values(rows, minimum, seed, permutations)
    return {
        rater: _drift(row, p_values.get(rater), minimum, seed, permutations, level)
        for rater, row in rows.items()
    }


class _Row(NamedTuple):
    """A rater's differences from the reference in the order judged; NaN where there is none."""

    values: Floats
    third: Codes
    reference: Reference

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.values)

    def part(self, third: int) -> Floats:
        values: Floats = self.values[self.known & (self.third == third)]
        return values

    @property
    def smaller(self) -> int:
        """The number of comparable items in the first or the last third, whichever is smaller."""
        return min(self.part(EARLY).size, self.part(LATE).size)


def _compared(people: Floats, judges: Floats, minimum: int) -> _Row:
    """Compare with the other raters, or with the judges where the others are too few."""
    third = _thirds(people.size)
    row, other = _Row(people, third, "other people"), _Row(judges, third, "judges")
    return other if row.smaller < minimum and other.smaller > row.smaller else row


def _places(read: Sheets) -> tuple[Codes, Codes]:
    """Return the place (question and item) of each score, counted over all items.

    The second value holds the first place of each item; one more than the last comes at the end.
    """
    sizes = np.zeros(len(read.items), dtype=np.int64)
    sizes[read.item[::-1]] = read.sizes[::-1]  # the first sheet of an item says how many
    unequal = np.flatnonzero(sizes[read.item] != read.sizes)
    if unequal.size:
        sheet = unequal[0]
        item = read.item[sheet]
        raise ValueError(f"{read.items[item]!r}: {read.sizes[sheet]} scores and {sizes[item]}")
    first = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(len(read.answers)) - np.repeat(read.starts, read.sizes)
    return np.repeat(first[read.item], read.sizes) + within, first


def _others(scores: Floats, place: Codes) -> Floats:
    """Return the mean of the other raters of the same question and item; NaN without any."""
    there = ~np.isnan(scores)
    own = np.where(there, scores, 0)
    sums, counts = np.bincount(place, weights=own), np.bincount(place, weights=there)
    rest = counts[place] - there
    means = np.full(scores.size, np.nan)
    np.divide(sums[place] - own, rest, out=means, where=rest > 0)
    return means


def _judges(
    items: Sequence[Hashable], first: Codes, judges: Mapping[Hashable, Sequence[float | None]]
) -> Floats:
    """Place the judges' mean of each question of each item; NaN without one."""
    known = [(code, judges[item]) for code, item in enumerate(items) if item in judges]
    for code, means in known:
        asked = first[code + 1] - first[code]
        if len(means) != asked:
            raise ValueError(
                f"{items[code]!r}: {asked} scores and {len(means)} means of the judges"
            )
    means_of_judges = np.full(int(first[-1]), np.nan)
    there = np.zeros(len(items), dtype=bool)
    there[[code for code, _ in known]] = True
    means_of_judges[np.repeat(there, np.diff(first))] = as_column(
        [m for _, means in known for m in means]
    )
    return means_of_judges


def _differences(read: Sheets, scores: Floats, reference: Floats) -> Floats:
    """Return the mean difference of each sheet; NaN where nothing can be compared."""
    gaps = scores - reference
    known = ~np.isnan(gaps)
    owner = read.owner[known]
    sums = np.bincount(owner, weights=gaps[known], minlength=read.sizes.size)
    counts = np.bincount(owner, minlength=read.sizes.size)
    means = np.full(read.sizes.size, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _thirds(n: int) -> Codes:
    """Return which third each of n places belongs to."""
    third = np.full(n, MIDDLE)
    third[: n // 3] = EARLY
    third[n - n // 3 :] = LATE
    return third


def _drift(
    row: _Row, p_value: float | None, minimum: int, seed: int, permutations: int, level: float
) -> Drift:
    early, late = row.part(EARLY), row.part(LATE)
    n = early.size + late.size
    gone = int((~row.known & (row.third != MIDDLE)).sum())
    excluded = {NO_REFERENCE[row.reference]: gone} if gone else {}
    if p_value is None:
        reason = TOO_SHORT.format(minimum=minimum, early=early.size, late=late.size)
        nothing = Estimate.without_value(reason, n=n, excluded=excluded)
        return Drift(nothing, None, None, early.size, late.size, seed, permutations)
    return Drift(
        difference=_welch(early, late, level, excluded),
        p_value=p_value,
        reference=row.reference,
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


def _p_values(
    rows: Mapping[Hashable, _Row], minimum: int, seed: int, permutations: int
) -> dict[Hashable, float]:
    """Compute the p-value of each rater with enough items in both thirds.

    Raters with as many items are dealt out anew together: the order of the places is drawn, and
    what it comes to is computed for all of them.
    """
    alike: dict[bytes, list[Hashable]] = {}
    for rater, row in rows.items():
        if row.smaller >= minimum:
            alike.setdefault(row.third[row.known].tobytes(), []).append(rater)
    by_rater: dict[Hashable, float] = {}
    for raters in alike.values():
        row = rows[raters[0]]
        values = np.stack([rows[rater].values[rows[rater].known] for rater in raters], axis=1)
        p_values = _permutation_p(values, row.third[row.known], seed, permutations)
        by_rater |= zip(raters, p_values.tolist(), strict=True)
    return by_rater


def _permutation_p(values: Floats, third: Codes, seed: int, permutations: int) -> Floats:
    """Compute the p-value of each column."""
    early, late = third == EARLY, third == LATE
    weights = late / late.sum() - early / early.sum()
    seen = np.abs(weights @ values)
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // weights.size)
    as_far = np.zeros(seen.size)
    for start in range(0, permutations, step):
        rows = min(step, permutations - start)
        dealt = rng.permuted(np.tile(weights, (rows, 1)), axis=1)
        # Sums of the same numbers in another order differ by rounding errors.
        as_far += (np.abs(dealt @ values) >= seen - 1e-9).sum(axis=0)
    p_values: Floats = (1 + as_far) / (1 + permutations)
    return p_values
