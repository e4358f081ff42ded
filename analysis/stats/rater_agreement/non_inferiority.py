"""Non-inferiority of a judge: whether it agrees with people about as well as people do.

Kappa of the judge with people is compared with kappa of each person with the same other people, on
the same items, against a margin that was chosen beforehand.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Codes, Floats, check_level, encode
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate, Interval

Answer = Literal["passes", "worse", "undecided", "not_available"]
ANSWERS: Mapping[Answer, str] = {
    "passes": "passes",
    "worse": "shown worse",
    "undecided": "undecided",
    "not_available": "not available",
}

MARGIN = 0.15
# Where people agree little, a judge that ignores the items would lie within any fixed margin. A
# third costs no power from an alpha of 0.4 on (docs/agreement.md).
RETAINED = 1 / 3
MOST_ITEMS = 1_000_000
ALL_ALIKE = "all answers are equal: agreement beyond chance is undefined"
ONE_UNIT = "everything belongs to one {unit}: no interval"
NO_WIDTH = "the standard error is 0: no interval"
LINEARISED = "{unit} linearisation, t"
GAP = "linear kappa with people: judge minus person, the same other people on the same items"
KEPT = "linear kappa with people: judge minus a third of a person's"
JUDGE = "linear kappa with people other than each one"
PERSON = "linear kappa of each person with the others"


@dataclass(frozen=True)
class NonInferiority:
    """The comparison of a judge's agreement with people's own.

    Attributes
    ----------
    answer
        ``passes``: the judge is shown not to be worse by the margin or more. ``worse``: it is shown
        to be worse by more than the margin. ``undecided``: neither.
    margin
        How far the judge's kappa may lie below people's.
    judge, people
        Kappa with the people other than each one: of the judge, and of that person.
    difference
        ``judge`` − ``people``, paired by item or task.
    retained
        ``judge`` − ``people``/3: the judge has to keep a third of people's agreement, too.
    constant
        The judge's only score, where it gives one alone.
    design_effect
        How many times larger the variance of ``difference`` is because items share tasks.
    """

    answer: Answer
    margin: float
    judge: Estimate
    people: Estimate
    difference: Estimate
    retained: Estimate
    constant: float | None = None
    design_effect: float = 1.0

    def items_to_decide(self, items: int) -> int | None:
        """Return how many items would decide it if both differences stay as they are."""
        worst = 1.0
        for estimate, line in ((self.difference, -self.margin), (self.retained, 0.0)):
            if estimate.value is None or estimate.interval is None:
                return None
            half = (estimate.interval.high - estimate.interval.low) / 2
            away = estimate.value - line
            if away <= 0:
                # One difference below its line decides alone: the judge is worse.
                worst = (half / max(-away, 1e-9)) ** 2
                break
            worst = max(worst, (half / max(away, 1e-9)) ** 2)
        needed = ceil(items * worst)
        return needed if needed <= MOST_ITEMS else None


@dataclass(frozen=True, eq=False)
class PairedKappas:
    """Kappas of judge and people, and how much each item moves them (influence; the sum is 0)."""

    judge: float
    people: float
    judge_influence: Floats
    people_influence: Floats


def paired_kappas(
    scores: Floats, own: Floats, compared: Any, tested: Sequence[int] | Codes
) -> PairedKappas | None:
    """Compute linearly weighted kappa of the judge, and of people, with the same other people.

    Parameters
    ----------
    scores
        n rows of people's scores, one column per person; NaN for no score.
    own
        The judge's scores.
    compared
        Where a person is compared with the judge: both and another person scored the item.
    tested
        Columns of the people who are compared.

    Returns
    -------
    PairedKappas or None
        None where all answers are equal, so that some kappa is undefined.

    Notes
    -----
    For person j, on the items of ``compared``: each score of another person r beside that of j, and
    beside that of the judge. Over these pairs, d_o is the mean of |x − h_r|, and d_e = Σ p_a q_b
    |a − b| what chance would give, with p and q the shares of answers of either side. κ = 1 − Σ_j
    d_o/Σ_j d_e (Cohen 1968, Psychol. Bull. 70:213, with linear weights): a ratio of sums, so that a
    person beside whom all answers are alike leaves it defined. The influence is the first-order
    term in the shares: −{ψ_o − (1 − κ) ψ_e}/Σ d_e, where a pair moves d_o by (|x − h| − d_o)/N and
    d_e by (Σ q_b |x − b| + Σ p_a |a − h| − 2 d_e)/N.
    """
    items = len(scores)
    seen, expected = np.zeros(2), np.zeros(2)
    seen_moved, expected_moved = np.zeros((2, items)), np.zeros((2, items))
    for j in tested:
        rows = np.flatnonzero(compared[:, j])
        block = scores[rows]
        block[:, j] = np.nan
        places, columns = np.nonzero(~np.isnan(block))
        others = block[places, columns]
        for side, column in enumerate((own, scores[:, j])):
            distances, chance, pull = _distances(column[rows][places], others)
            seen[side] += distances.mean()
            expected[side] += chance
            for moved, values in (
                (seen_moved, distances - distances.mean()),
                (expected_moved, pull),
            ):
                moved[side] += np.bincount(
                    rows[places], weights=values / values.size, minlength=items
                )
    if (expected <= 1e-12).any():
        return None
    kappas = 1 - seen / expected
    influence = -(seen_moved - (1 - kappas)[:, None] * expected_moved) / expected[:, None]
    return PairedKappas(float(kappas[0]), float(kappas[1]), influence[0], influence[1])


def _distances(first: Floats, second: Floats) -> tuple[Floats, float, Floats]:
    """Return distances of pairs of scores, the distance by chance, and how each pair moves it."""
    n = first.size
    values, codes = np.unique(first, return_inverse=True)
    other_values, other_codes = np.unique(second, return_inverse=True)
    p = np.bincount(codes, minlength=values.size) / n
    q = np.bincount(other_codes, minlength=other_values.size) / n
    apart = np.abs(np.subtract.outer(values, other_values))
    to_second, to_first = apart @ q, p @ apart
    expected = float(p @ to_second)
    pull: Floats = to_second[codes] + to_first[other_codes] - 2 * expected
    return np.abs(first - second), expected, pull


def non_inferiority(
    scores: Floats,
    own: Floats,
    compared: Any,
    tested: Sequence[int] | Codes,
    *,
    margin: float = MARGIN,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    level: float = 0.95,
) -> NonInferiority:
    """Test whether a judge's agreement with people is at most a margin below people's own.

    Parameters
    ----------
    scores, own, compared, tested
        As in `paired_kappas`.
    margin
        How far the judge's kappa may lie below people's; choose it before looking.
    clusters, unit
        What each item belongs to, where items are not independent.
    level
        Of the intervals; both tests are one-sided at (1 − level)/2.

    Raises
    ------
    ValueError
        If the margin lies outside 0 to 1.

    Notes
    -----
    The interval is D ± t(G − 1)·SE with SE² = G/(G − 1) Σ_g (Σ_{i∈g} ψ_i)² over the G items or
    clusters, ψ the influence of an item on D. It passes where the lower ends of D + margin and of
    κ_judge − κ_people/3 lie above 0, and is shown worse where an upper end lies below. The second
    condition keeps a judge that ignores the items from passing where people's own kappa hardly
    exceeds the margin: an effect has to be preserved in part (ICH E10, 2000; FDA 2016,
    Non-Inferiority Clinical Trials to Establish Effectiveness).

    Where the influence is 0 everywhere there is no interval, and the value decides.
    """
    check_level(level)
    if not 0 < margin < 1:
        raise ValueError(f"the margin is a fraction between 0 and 1, such as 0.15, not {margin}")
    used = compared[:, tested].any(axis=1)
    n = int(used.sum())
    mine = own[used]
    constant = float(mine[0]) if n and np.ptp(mine) <= 1e-9 else None
    kappas = paired_kappas(scores, own, compared, tested)
    if kappas is None:
        nothing = Estimate.without_value(ALL_ALIKE, n=n)
        return NonInferiority("undecided", margin, nothing, nothing, nothing, nothing, constant)
    names, codes = encode(np.flatnonzero(used) if clusters is None else _kept(clusters, used))
    name = "item" if clusters is None else unit

    def by_unit(influence: Floats) -> Floats:
        sums = np.bincount(codes, weights=influence[used], minlength=len(names))
        return np.asarray(sums, dtype=np.float64)

    def estimate(value: float, influence: Floats, method: str) -> Estimate:
        return _estimate(value, n, by_unit(influence), level=level, unit=name, method=method)

    judge, people = kappas.judge_influence, kappas.people_influence
    difference = estimate(kappas.judge - kappas.people, judge - people, GAP)
    retained = estimate(kappas.judge - RETAINED * kappas.people, judge - RETAINED * people, KEPT)
    single = float(((judge - people) ** 2).sum())
    sums = by_unit(judge - people)
    return NonInferiority(
        _answer(difference, retained, margin),
        margin,
        estimate(kappas.judge, judge, JUDGE),
        estimate(kappas.people, people, PERSON),
        difference,
        retained,
        constant,
        max(1.0, float(sums @ sums) / single) if single > 0 else 1.0,
    )


def _kept(clusters: Sequence[Hashable], used: Any) -> list[Hashable]:
    return [cluster for cluster, there in zip(clusters, used, strict=True) if there]


def _estimate(
    value: float, n: int, sums: Floats, *, level: float, unit: str, method: str
) -> Estimate:
    groups = sums.size
    if groups < 2:
        return Estimate(value, n, no_interval=ONE_UNIT.format(unit=unit), method=method)
    error = sqrt(groups / (groups - 1) * float(sums @ sums))
    if error <= 1e-12:
        return Estimate(value, n, no_interval=NO_WIDTH, method=method)
    half = t_quantile(groups - 1, level) * error
    details = {"df": groups - 1, "clusters": groups}
    interval = Interval(
        value - half, value + half, level, LINEARISED.format(unit=unit), details, unit
    )
    return Estimate(value, n, interval, method=method)


def _answer(difference: Estimate, retained: Estimate, margin: float) -> Answer:
    ends = []
    for estimate, line in ((difference, -margin), (retained, 0.0)):
        interval, value = estimate.interval, estimate.value
        if value is None or (interval is None and estimate.no_interval != NO_WIDTH):
            return "undecided"
        low, high = (value, value) if interval is None else (interval.low, interval.high)
        ends.append((low - line, high - line))
    if all(low > 0 for low, _ in ends):
        return "passes"
    return "worse" if any(high < 0 for _, high in ends) else "undecided"
