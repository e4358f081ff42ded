"""A yes-or-no decision maker (a checker, a judge) against the majority of people."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, cluster_of, encode, is_missing
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.descriptive.rates import Rate, rate
from analysis.stats.rater_agreement.coefficient_intervals import coefficient_estimate
from analysis.stats.rater_agreement.majority import MajorityVerdict
from analysis.stats.resampling import units_to_draw
from analysis.stats.results import Estimate
from annotation.ratings.voting import VoteOutcome

NO_VOTES = "nobody voted on it"
PEOPLE_UNSURE = "people cannot tell"
NO_DECISION = "no decision to compare"
NOTHING_TO_COMPARE = "no item has both a decision and a majority"
NOTHING_DECIDED = "nothing was decided"
NONE_DECIDED = "nothing was decided to be {positive}: there is nothing to be right about"
NONE_IN_MAJORITY = "no majority says {value}"
NO_POSITIVE = "neither side says positive: there is nothing to find"
ONE_SIDED = "one side gives every item the same value: no correlation"
F1 = "F1, harmonic mean of precision and recall"
MCC = "Matthews' correlation coefficient"


@dataclass(frozen=True)
class Confusion:
    """Counts of compared items: decision and majority positive, negative, or one of each."""

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int


@dataclass(frozen=True)
class DecisionQuality:
    """The quality of a decision maker's decisions against the majority of people.

    Attributes
    ----------
    positive, negative
        The two decisions; every rate depends on which is called positive.
    confusion
        Counts over the items that have both a decision and a majority.
    precision, recall, false_negative_rate, false_positive_rate, accuracy
        Over the compared items, each with its own denominator (see `compare_decisions`).
    f1, mcc
        F1 and Matthews' correlation over the compared items, which rest on all of them at once.
    decided_positive
        Share of all decisions that are positive, compared or not (the share filtered out).
    majority_positive
        Share of compared items on which the majority says positive.
    mean_share
        Mean over clusters of each one's share of positive decisions: "filtered on average".
    n, clusters
        Compared items, and the clusters they belong to.
    excluded
        Items that could not be compared, by reason (ties among them).
    """

    positive: Hashable
    negative: Hashable
    confusion: Confusion
    precision: Rate
    recall: Rate
    false_negative_rate: Rate
    false_positive_rate: Rate
    accuracy: Rate
    f1: Estimate
    mcc: Estimate
    decided_positive: Rate
    majority_positive: Rate
    mean_share: Estimate
    n: int
    clusters: int
    excluded: Mapping[str, int]


def compare_decisions(
    decisions: Mapping[Hashable, Hashable | None],
    verdicts: Iterable[MajorityVerdict],
    *,
    positive: Hashable,
    negative: Hashable,
    unsure: Hashable = None,
    clusters: Mapping[Hashable, Hashable],
    unit: str = "instance",
    seed: int,
    resamples: int = 2000,
    level: float = 0.95,
) -> DecisionQuality:
    """Compare yes-or-no decisions with the majority vote on the same items.

    Parameters
    ----------
    decisions
        Decision by item; None (and NaN) where there is none.
    verdicts
        From `majority.majority_vote`, over the same items.
    positive, negative
        The value that is called positive, and the other one. Nothing else is accepted.
    unsure
        The vote of people who cannot tell, where they may say so; None where they may not.
    clusters
        What each item belongs to (its instance): decisions of one instance are not independent.
    unit
        What a cluster is called.
    seed, resamples
        Of the bootstrap of F1 and MCC.

    Raises
    ------
    ValueError
        If a value is neither positive nor negative, or an item has no cluster.

    Notes
    -----
    With TP, FP, FN, TN counted over the items that have both (first letter: whether decision and
    majority agree; second: the decision):

    - precision TP/(TP + FP), recall TP/(TP + FN), accuracy (TP + TN)/n;
    - FNR = FN/(TP + FN) = 1 − recall, FPR = FP/(FP + TN);
    - F1 = 2TP/(2TP + FP + FN), the harmonic mean of precision and recall, which does not count TN
      (van Rijsbergen 1979, Information Retrieval, ch. 7);
    - MCC = (TP·TN − FP·FN)/sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN)), the correlation of both
      columns, 0 by chance (Matthews 1975, Biochim. Biophys. Acta 405:442).

    Each has a Wilson interval, which takes items as independent, and one by cluster
    (`rates.rate`); read the second. A rate whose denominator is empty is undefined, with the
    reason. F1 and MCC have one interval, by clusters (`coefficient_estimate`); F1 is
    undefined where neither side says positive, MCC where either side says one thing only.
    Items on which people tie, have no majority, cannot tell or too few votes, and items without a
    decision or a vote are left out and counted, under the first of the reasons that holds. The
    majority is taken as the truth; that people err too makes the rates a comparison with people.

    *For the filter check* (is the checker right to remove a candidate constraint?) call ``remove``
    positive. FNR is then the share of what people would remove that the checker let through (bad
    constraints that stay in the benchmark), FPR the share of what people would keep that it removed
    (good constraints that are lost), and ``decided_positive`` the share filtered. With ``keep``
    positive FNR and FPR change places. The denominators are what *people* removed or kept, so
    neither is a share of what the checker removed: that one is 1 − precision. AdaPlanBench,
    appendix C.2, prints 42.18 % filtered "on average", FNR 2.31 % and FPR 3.72 % over 30 instances,
    names neither the positive class nor counts, and gives no intervals.
    """
    words = {positive, negative}
    if len(words) != 2:
        raise ValueError("positive and negative are the same value")
    decided = {item: value for item, value in decisions.items() if not is_missing(value)}
    majorities = {verdict.item: verdict for verdict in verdicts}
    _check_values(decided, majorities, words, unsure)
    excluded: dict[str, int] = {}
    pairs: list[tuple[bool, bool]] = []
    groups: list[Hashable] = []
    for item in dict.fromkeys([*majorities, *decisions]):
        verdict = majorities.get(item)
        reason = _why_not(item in decided, verdict, unsure)
        if reason:
            excluded[reason] = excluded.get(reason, 0) + 1
        elif verdict is not None:
            pairs.append((decided[item] == positive, verdict.value == positive))
            groups.append(cluster_of(item, clusters, unit))

    def rate_of(hits: list[bool | None], empty: str) -> Rate:
        return rate(
            hits,
            groups,
            empty=empty if pairs else NOTHING_TO_COMPARE,
            unit=unit,
            level=level,
            excluded=excluded,
        )

    drawing = {"unit": unit, "seed": seed, "resamples": resamples, "level": level}
    missed = NONE_IN_MAJORITY.format(value=positive)
    all_decided = [value == positive for value in decided.values()]
    decided_groups = [cluster_of(item, clusters, unit) for item in decided]
    return DecisionQuality(
        positive=positive,
        negative=negative,
        confusion=Confusion(
            true_positive=pairs.count((True, True)),
            false_positive=pairs.count((True, False)),
            false_negative=pairs.count((False, True)),
            true_negative=pairs.count((False, False)),
        ),
        precision=rate_of(
            [m if d else None for d, m in pairs], NONE_DECIDED.format(positive=positive)
        ),
        recall=rate_of([d if m else None for d, m in pairs], missed),
        false_negative_rate=rate_of([not d if m else None for d, m in pairs], missed),
        false_positive_rate=rate_of(
            [None if m else d for d, m in pairs], NONE_IN_MAJORITY.format(value=negative)
        ),
        accuracy=rate_of([d == m for d, m in pairs], NOTHING_TO_COMPARE),
        majority_positive=rate_of([m for _, m in pairs], NOTHING_TO_COMPARE),
        f1=_coefficient(pairs, groups, _f1, 0.0, F1, NO_POSITIVE, drawing, excluded),
        mcc=_coefficient(pairs, groups, _mcc, -1.0, MCC, ONE_SIDED, drawing, excluded),
        decided_positive=rate(
            all_decided,
            decided_groups,
            empty=NOTHING_DECIDED,
            unit=unit,
            level=level,
        ),
        mean_share=_mean_share(all_decided, decided_groups, unit, level),
        n=len(pairs),
        clusters=len(set(groups)),
        excluded=excluded,
    )


def _check_values(
    decided: Mapping[Hashable, Hashable | None],
    majorities: Mapping[Hashable, MajorityVerdict],
    words: set[Hashable],
    unsure: Hashable,
) -> None:
    voted = {value for verdict in majorities.values() for value in verdict.counts} - {unsure}
    unknown = (set(decided.values()) | voted) - words
    if unknown:
        known = " or ".join(sorted(repr(word) for word in words))
        raise ValueError(f"a decision is {known}, not {min(unknown, key=repr)!r}")


def _why_not(has_decision: bool, verdict: MajorityVerdict | None, unsure: Hashable) -> str:
    """Return why an item cannot be compared; empty if it can."""
    if not has_decision:
        return NO_DECISION
    if verdict is None:
        return NO_VOTES
    if unsure is not None and verdict.value == unsure:
        return PEOPLE_UNSURE
    return (
        ""
        if verdict.state in (VoteOutcome.UNANIMOUS, VoteOutcome.MAJORITY)
        else verdict.state.value
    )


def _coefficient(
    pairs: list[tuple[bool, bool]],
    groups: list[Hashable],
    statistic: Callable[[Floats], Floats],
    lowest: float,
    method: str,
    empty: str,
    drawing: dict[str, Any],
    excluded: Mapping[str, int],
) -> Estimate:
    """Give a coefficient of the four counts an interval that draws clusters."""
    if not pairs:
        return Estimate.without_value(NOTHING_TO_COMPARE, excluded=excluded, method=method)
    # 0 both positive, 1 the decision alone, 2 the majority alone, 3 neither.
    codes = np.array([2 * (not decision) + (not majority) for decision, majority in pairs])
    units = units_to_draw(codes, np.eye(4), clusters=groups, unit=drawing["unit"])
    value = float(statistic(units.totals)[0])
    n = len(pairs)
    if np.isnan(value):
        return Estimate.without_value(empty, n=n, excluded=excluded, method=method)
    options = {key: drawing[key] for key in ("seed", "resamples", "level")}
    return coefficient_estimate(
        value, n, units, statistic, lowest=lowest, excluded=excluded, method=method, **options
    )


def _f1(totals: Floats) -> Floats:
    both, decision, majority, _ = totals.T
    below = 2 * both + decision + majority
    result: Floats = np.divide(2 * both, below, out=np.full(len(totals), np.nan), where=below > 0)
    return result


def _mcc(totals: Floats) -> Floats:
    both, decision, majority, neither = totals.T
    # Roots first: the product of four counts of a million is more than a float can tell apart.
    below = np.sqrt((both + decision) * (both + majority)) * np.sqrt(
        (neither + decision) * (neither + majority)
    )
    above = both * neither - decision * majority
    result: Floats = np.divide(above, below, out=np.full(len(totals), np.nan), where=below > 0)
    return np.clip(result, -1, 1)


def _mean_share(
    decided: list[bool],
    groups: list[Hashable],
    unit: str,
    level: float,
) -> Estimate:
    """Return the mean over clusters of the share decided positive, with equal weights."""
    names, codes = encode(groups)
    if not names:
        return Estimate.without_value(NOTHING_DECIDED)
    sums, sizes = [0] * len(names), [0] * len(names)
    for code, hit in zip(codes.tolist(), decided, strict=True):
        sums[code] += hit
        sizes[code] += 1
    shares = [x / n for x, n in zip(sums, sizes, strict=True)]
    return mean_by_cluster(shares, names, level=level, unit=unit, scale=(0, 1))
