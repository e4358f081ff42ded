"""Non-inferiority of a judge: whether it agrees with people about as well as people do.

Kappa of the judge with people is compared with kappa of each person with the same other people, on
the same items, against a margin that was chosen beforehand.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Codes, Floats, check_level, encode
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate, Interval

Answer = Literal["passes", "worse", "undecided", "not_available"]

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
JUDGE = "linear kappa with people, mean over people left out"
PERSON = "linear kappa of a person with the other people, mean over people"


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
        Mean over people of kappa with the *other* people: of the judge, and of the person.
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
    beside that of the judge. κ = 1 − mean |x − h_r|/Σ p_a q_b |a − b| over these pairs, with p and
    q the shares of answers of either side (Cohen 1968, Psychol. Bull. 70:213, with linear weights);
    then the mean over j. The influence of a pair is −{(|x − h| − d_o) − (1 − κ)(d_q(x) + d_p(h) −
    2 d_e)}/(d_e N) with d_q(x) = Σ q_b |x − b|: the first-order term of κ in the shares.
    """
    items = len(scores)
    kappas = np.zeros(2)
    influence = np.zeros((2, items))
    for j in tested:
        rows = np.flatnonzero(compared[:, j])
        block = scores[rows]
        block[:, j] = np.nan
        places, columns = np.nonzero(~np.isnan(block))
        others = block[places, columns]
        for side, column in enumerate((own, scores[:, j])):
            result = _kappa(column[rows][places], others)
            if result is None:
                return None
            kappas[side] += result[0] / len(tested)
            moved = np.bincount(rows[places], weights=result[1], minlength=items)
            influence[side] += moved / len(tested)
    return PairedKappas(float(kappas[0]), float(kappas[1]), influence[0], influence[1])


def _kappa(first: Floats, second: Floats) -> tuple[float, Floats] | None:
    """Return linearly weighted kappa of pairs of scores, and the influence of each pair."""
    n = first.size
    values, codes = np.unique(first, return_inverse=True)
    other_values, other_codes = np.unique(second, return_inverse=True)
    p = np.bincount(codes, minlength=values.size) / n
    q = np.bincount(other_codes, minlength=other_values.size) / n
    apart = np.abs(np.subtract.outer(values, other_values))
    to_second, to_first = apart @ q, p @ apart
    expected = float(p @ to_second)
    if expected <= 1e-12:
        return None
    distances = np.abs(first - second)
    seen = float(distances.mean())
    kappa = 1 - seen / expected
    pull = to_second[codes] + to_first[other_codes] - 2 * expected
    return kappa, -((distances - seen) - (1 - kappa) * pull) / (expected * n)


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
