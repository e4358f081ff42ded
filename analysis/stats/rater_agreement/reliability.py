"""Agreement of several people on the same items: scores or categories."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, compress
from statistics import fmean
from typing import Any, TypeVar

import numpy as np

from analysis.stats.columns import (
    Floats,
    check_length_of,
    check_level,
    cluster_of,
    encode,
    is_missing,
)
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.rater_agreement.alpha import ONE_SCORE, Metric, alphas, coincidences
from analysis.stats.rater_agreement.answers import (
    NO_PAIRS,
    Answers,
    answers_of_counts,
    answers_of_scores,
)
from analysis.stats.rater_agreement.coefficient_intervals import MOST_UNITS, coefficient_estimate
from analysis.stats.rater_agreement.marked_sets import jaccard_index
from analysis.stats.resampling import (
    RESAMPLES,
    estimate_from_draws,
    resampled,
    units_to_draw,
)
from analysis.stats.results import Estimate

NO_ORDER = "categories have no order: there is no distance of one point"


@dataclass(frozen=True)
class Reliability:
    """Agreement of people with each other on one question.

    Attributes
    ----------
    alpha
        Krippendorff's alpha by ``metric``; ``n`` is the number of items with two answers or more.
    equal, within_one
        Shares of pairs of answers to one item that are equal, or at most one point apart, each
        item with the same weight. Categories have no ``within_one``.
    items, answers
        Items with two answers or more, and their answers.
    single
        Items with one answer, which say nothing about agreement.
    """

    alpha: Estimate
    equal: Estimate
    within_one: Estimate
    items: int
    answers: int
    single: int
    metric: Metric


def reliability(
    scores: Any,
    *,
    scale: tuple[int, int] = (1, 5),
    clusters: Sequence[Hashable] | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    unit: str = "task",
) -> Reliability:
    """Compute ordinal alpha and pairwise agreement of the answers to one question.

    Parameters
    ----------
    scores
        n rows of k integer scores, one row per item and one column per person; None or NaN where
        a person did not answer.
    scale
        Lowest and highest score.
    clusters
        What each item belongs to (its task): intervals draw clusters, because items of one task
        are not independent. Without it items are drawn.
    seed, resamples
        Of the bootstrap.
    unit
        What a cluster is called in warnings.

    Notes
    -----
    Items with one answer are counted and left out. Alpha, its interval and where it is undefined:
    `alpha.krippendorff_alpha`. It is low where nearly all scores are equal, however often people
    agree: read it beside the share of equal pairs, which for an item is the share of its pairs.
    The shares are means over items; all three intervals come from the same
    resamples, but that of alpha with up to 100 items or clusters is a jackknife.
    """
    return _reliability(
        answers_of_scores(scores, scale=scale), "ordinal", clusters, unit, seed, resamples, level
    )


def reliability_of_counts(
    counts: Any,
    *,
    metric: Metric = "ordinal",
    clusters: Sequence[Hashable] | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    unit: str = "task",
) -> Reliability:
    """Compute alpha and pairwise agreement from how often each answer was given to each item.

    Parameters
    ----------
    counts
        n rows, one per item, with a column for each answer that could be given (for scores in
        their order, the whole scale; for categories in any order).
    metric
        ``"ordinal"`` as in `reliability`; ``"nominal"`` for categories: δ²_ck = 1 for c ≠ k.
    clusters, seed, resamples, level, unit
        As in `reliability`.

    Notes
    -----
    Nominal alpha of two answers by two people each is close to Scott's pi; with few keeps (or few
    removals) it is low however often people agree, as the ordinal one. All else as in
    `reliability`; the share within one point is undefined for categories.
    """
    if metric not in ("ordinal", "nominal"):
        raise ValueError(f"unknown metric {metric!r}")
    return _reliability(answers_of_counts(counts), metric, clusters, unit, seed, resamples, level)


def _reliability(
    answers: Answers,
    metric: Metric,
    clusters: Sequence[Hashable] | None,
    unit: str,
    seed: int,
    resamples: int,
    level: float,
) -> Reliability:
    check_level(level)
    if clusters is not None:
        check_length_of(clusters, answers.items, "clusters")
    paired, kept = answers.with_at_least(2)
    single = int((answers.sizes == 1)[answers.kinds].sum())
    if not paired.items:
        nothing = Estimate.without_value(NO_PAIRS)
        return Reliability(nothing, nothing, nothing, 0, 0, single, metric)
    groups = None if clusters is None else list(compress(clusters, kept))
    counts = paired.counts
    parts = np.hstack([coincidences(counts), _pair_shares(counts), np.ones((len(counts), 1))])
    units = units_to_draw(paired.kinds, parts, clusters=groups, unit=unit)

    def measure(totals: Floats) -> Floats:
        coefficients = alphas(totals[:, :-3], paired.values, metric)
        return np.column_stack([coefficients, totals[:, -3:-1] / totals[:, -1:]])

    values = measure(units.totals)[0]
    drawn = resampled(units, measure, seed=seed, resamples=resamples)
    alpha, equal, within_one = (
        Estimate.without_value(ONE_SCORE, n=paired.items)
        if np.isnan(value)
        else estimate_from_draws(float(value), paired.items, column, units, level=level, seed=seed)
        for value, column in zip(values, drawn.T, strict=True)
    )
    if alpha.value is not None and units.size <= MOST_UNITS:
        alpha = coefficient_estimate(
            alpha.value, paired.items, units, lambda totals: measure(totals)[:, 0],
            level=level, seed=seed, resamples=resamples,
        )  # fmt: skip
    if metric == "nominal":
        within_one = Estimate.without_value(NO_ORDER, n=paired.items)
    answered = int(paired.sizes @ paired.often)
    return Reliability(alpha, equal, within_one, paired.items, answered, single, metric)


def _pair_shares(counts: Floats) -> Floats:
    """Return the shares of equal pairs and of pairs within one point, item by item."""
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    beside = 2 * (counts[:, :-1] * counts[:, 1:]).sum(axis=1)
    return np.stack([equal / pairs, (equal + beside) / pairs], axis=1)


Value = TypeVar("Value")


@dataclass(frozen=True)
class SetAgreement:
    """Agreement of people's sets with each other.

    Attributes
    ----------
    jaccard, equal
        Mean Jaccard index of two people's sets of one item, and share of such pairs that are
        equal; each item has the same weight, as in `reliability.Reliability`.
    items, answers, single
        Items with two sets or more, their sets, and items with one set.
    """

    jaccard: Estimate
    equal: Estimate
    items: int
    answers: int
    single: int


def score_agreement(
    ratings: Iterable[tuple[Hashable, Hashable, float | None]],
    *,
    scale: tuple[int, int] = (1, 5),
    clusters: Mapping[Hashable, Hashable] | None = None,
    unit: str = "task",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Reliability:
    """Compute ordinal alpha and pairwise agreement from (rater, item, score).

    Parameters
    ----------
    ratings
        One row per rater and item; None and NaN for no score. Whole numbers on the scale.
    clusters
        What each item belongs to; without it items are drawn.
    unit, seed, resamples, level
        As in `reliability.reliability`, which holds formulas and degenerate cases.

    Raises
    ------
    ValueError
        If a score is not on the scale, a rater scores an item twice, or an item has no cluster.

    Notes
    -----
    Items with one answer so far count as ``single`` and do not enter. While a study runs, the
    items with two answers are those dealt first: that they are like the rest is an assumption.
    """
    low, high = scale
    rows = list(_by_item(ratings).items())
    counts = np.zeros((len(rows), high - low + 1))
    for row, (_, scores) in enumerate(rows):
        for score in scores:
            if score != int(score) or not low <= score <= high:
                raise ValueError(f"scores are whole numbers from {low} to {high}, not {score}")
            counts[row, int(score) - low] += 1
    return _from_counts(
        counts, rows, "ordinal", clusters, unit=unit, seed=seed, resamples=resamples, level=level
    )


def category_agreement(
    ratings: Iterable[tuple[Hashable, Hashable, Hashable | None]],
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    unit: str = "task",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Reliability:
    """Compute nominal alpha and the share of equal pairs from (rater, item, category).

    A category is anything hashable (keep and remove); the rest as in `score_agreement`. Nominal
    alpha and its degenerate cases as in `reliability.reliability_of_counts`; the share of pairs
    within one point is undefined, because categories have no order.
    """
    rows = list(_by_item(ratings).items())
    names, codes = encode(answer for _, answers in rows for answer in answers)
    counts = np.zeros((len(rows), len(names)))
    owners = np.repeat(np.arange(len(rows)), [len(answers) for _, answers in rows])
    np.add.at(counts, (owners, codes), 1)
    return _from_counts(
        counts, rows, "nominal", clusters, unit=unit, seed=seed, resamples=resamples, level=level
    )


def set_agreement(
    ratings: Iterable[tuple[Hashable, Hashable, Collection[Hashable] | None]],
    *,
    clusters: Mapping[Hashable, Hashable] | None = None,
    unit: str = "trajectory",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> SetAgreement:
    """Compute the mean pairwise Jaccard index and the share of equal pairs of people's sets.

    Parameters
    ----------
    ratings
        (rater, item, set), one row per rater and item; an empty set is an answer, None is none.
    clusters, unit, seed, resamples, level
        As in `score_agreement`.

    Notes
    -----
    Of an item with m sets, the mean of |A ∩ B|/|A ∪ B| over its m(m − 1)/2 pairs (1 for two empty
    sets); then the mean over items, each with the same weight, with an interval by cluster
    (`means.mean_by_cluster`). Not corrected for chance: sets drawn from few elements agree by luck,
    and turns without any violation are easy to agree on. Undefined where no item has two sets.
    """
    rows = {item: [frozenset(s) for s in sets] for item, sets in _by_item(ratings).items()}
    kept = {item: sets for item, sets in rows.items() if len(sets) >= 2}
    single = sum(len(sets) == 1 for sets in rows.values())
    if not kept:
        nothing = Estimate.without_value(NO_PAIRS)
        return SetAgreement(nothing, nothing, 0, 0, single)
    likeness, equal = [], []
    for sets in kept.values():
        pairs = list(combinations(sets, 2))
        likeness.append(fmean(jaccard_index(a, b) for a, b in pairs))
        equal.append(fmean(a == b for a, b in pairs))
    drawing: dict[str, Any] = {
        "clusters": _clusters(kept, clusters, unit),
        "unit": unit if clusters is not None else "item",
        "level": level,
        "scale": (0, 1),
    }
    return SetAgreement(
        mean_by_cluster(likeness, **drawing),
        mean_by_cluster(equal, **drawing),
        len(kept),
        sum(len(sets) for sets in kept.values()),
        single,
    )


def _by_item(
    ratings: Iterable[tuple[Hashable, Hashable, Value | None]],
) -> dict[Hashable, list[Value]]:
    """Gather the answers to each item; an item whose answers are all missing has none."""
    by_item: dict[Hashable, list[Value]] = {}
    seen: set[tuple[Hashable, Hashable]] = set()
    for rater, item, value in ratings:
        if (rater, item) in seen:
            raise ValueError(f"{rater!r} answers {item!r} twice: give one row per rater and item")
        seen.add((rater, item))
        answers = by_item.setdefault(item, [])
        if value is not None and not is_missing(value):
            answers.append(value)
    return by_item


def _clusters(
    items: Iterable[Hashable], clusters: Mapping[Hashable, Hashable] | None, unit: str
) -> list[Hashable]:
    if clusters is None:
        return list(items)
    return [cluster_of(item, clusters, unit) for item in items]


def _from_counts(
    counts: Any,
    rows: list[tuple[Hashable, list[Any]]],
    metric: Metric,
    clusters: Mapping[Hashable, Hashable] | None,
    **drawing: Any,
) -> Reliability:
    groups = None
    if clusters is not None:
        groups = _clusters((item for item, _ in rows), clusters, drawing["unit"])
    return reliability_of_counts(counts, metric=metric, clusters=groups, **drawing)
