"""How far several people agree with each other on the same items: scores or categories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, check_length_of, check_level
from analysis.stats.jackknife import MOST_UNITS, coefficient_estimate
from analysis.stats.rater_agreement.alpha import ONE_SCORE, Metric, alphas, coincidences
from analysis.stats.rater_agreement.answers import (
    NO_PAIRS,
    Answers,
    answers_of_counts,
    answers_of_scores,
)
from analysis.stats.resampling import RESAMPLES as RESAMPLES
from analysis.stats.resampling import (
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
        found = alphas(totals[:, :-3], paired.values, metric)
        return np.column_stack([found, totals[:, -3:-1] / totals[:, -1:]])

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
    """Of each item the share of pairs that are equal, and that are at most one point apart."""
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    beside = 2 * (counts[:, :-1] * counts[:, 1:]).sum(axis=1)
    return np.stack([equal / pairs, (equal + beside) / pairs], axis=1)
