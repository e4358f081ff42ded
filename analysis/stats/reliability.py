"""How far several people agree with each other on the same items: scores or categories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from analysis.stats.bootstrap import few_clusters, percentile_interval
from analysis.stats.columns import Floats, as_floats, check_length_of, check_level, encode
from analysis.stats.means import mean_by_cluster
from analysis.stats.results import Estimate

Metric = Literal["ordinal", "nominal"]

NO_PAIRS = "no item was answered by two people"
NO_ORDER = "categories have no order: there is no distance of one point"
ONE_SCORE = "all answers are equal: agreement beyond chance is undefined"
ONE_ITEM = "all answers are on items of one {unit}: no interval"
SAME_RESAMPLES = "all resamples give the same value: no interval"
DROPPED = "{n} of {of} resamples had one score only and were dropped"
RESAMPLES = 1000
DRAWS_AT_ONCE = 500_000


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
    Items with one answer are counted and left out. For the rest, with m answers to an item, every
    ordered pair of answers by different people counts 1/(m − 1) into the coincidence matrix o;
    n_c = Σ_k o_ck, n = Σ n_c. Alpha = 1 − D_o/D_e with D_o = Σ o_ck δ²_ck/n and
    D_e = Σ n_c n_k δ²_ck/(n(n − 1)) (c ≠ k by δ² = 0 on the diagonal), and the ordinal metric
    δ_ck = Σ_{g=c..k} n_g − (n_c + n_k)/2. Krippendorff 2011, Computing Krippendorff's
    Alpha-Reliability. Undefined without a pair, and where all answers are equal (D_e = 0): then
    there is nothing by which agreement could be told from chance. Missing answers are missing at
    random.

    The interval is a percentile bootstrap that draws items (or clusters) with replacement and
    computes alpha anew, D_e included (Zapf et al. 2016, BMC Med. Res. Methodol. 16:93); resamples
    in which alpha is undefined are dropped and counted. Alpha is low where nearly all scores are
    equal, however often people agree: read it beside the share of equal pairs, which for an item
    is the share of its pairs; the mean over items has a bootstrap interval over clusters.
    """
    table = as_floats(scores)
    if table.size == 0:
        table = table.reshape(0, 0)
    if table.ndim != 2:
        raise ValueError(f"items by people expected, got an array of {table.ndim} dimensions")
    given = table[~np.isnan(table)]
    if ((given != np.floor(given)) | (given < scale[0]) | (given > scale[1])).any():
        raise ValueError(f"scores are whole numbers from {scale[0]} to {scale[1]}")
    return reliability_of_counts(
        _counts(table, scale),
        clusters=clusters,
        seed=seed,
        resamples=resamples,
        level=level,
        unit=unit,
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
    check_level(level)
    if metric not in ("ordinal", "nominal"):
        raise ValueError(f"unknown metric {metric!r}")
    table = as_floats(counts)
    if table.size == 0:
        table = table.reshape(0, 0)
    if table.ndim != 2 or not (table >= 0).all():
        raise ValueError("counts are 0 or more, one row per item and one column per answer")
    names = list(range(table.shape[0])) if clusters is None else list(clusters)
    check_length_of(names, table.shape[0], "clusters")
    unit = "item" if clusters is None else unit
    sizes = table.sum(axis=1)
    kept = sizes >= 2
    single = int((sizes == 1).sum())
    table = table[kept]
    groups = [name for name, keep in zip(names, kept, strict=True) if keep]
    if not groups:
        nothing = Estimate.without_value(NO_PAIRS)
        return Reliability(nothing, nothing, nothing, 0, 0, single, metric)
    equal, within_one = (
        mean_by_cluster(column, groups, seed=seed, level=level, unit=unit)
        for column in _pair_shares(table).T
    )
    if metric == "nominal":
        within_one = Estimate.without_value(NO_ORDER, n=len(groups))
    return Reliability(
        _alpha_estimate(table, metric, groups, seed, resamples, level, unit),
        equal,
        within_one,
        len(groups),
        int(table.sum()),
        single,
        metric,
    )


def _counts(table: Floats, scale: tuple[int, int]) -> Floats:
    """How often each score was given to each item."""
    points = np.arange(scale[0], scale[1] + 1)
    return np.stack([(table == point).sum(axis=1) for point in points], axis=1).astype(np.float64)


def _pair_shares(counts: Floats) -> Floats:
    """Of each item the share of pairs that are equal, and that are at most one point apart."""
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    beside = 2 * (counts[:, :-1] * counts[:, 1:]).sum(axis=1)
    return np.stack([equal / pairs, (equal + beside) / pairs], axis=1)


def _coincidences(counts: Floats) -> Floats:
    """Each item's part of the coincidence matrix, flattened."""
    m = counts.sum(axis=1)
    outer = counts[:, :, None] * counts[:, None, :]
    size = counts.shape[1]
    outer[:, range(size), range(size)] -= counts
    parts: Floats = (outer / (m - 1)[:, None, None]).reshape(len(counts), size * size)
    return parts


def _alphas(matrices: Floats, size: int, metric: Metric) -> Floats:
    """Alpha of coincidence matrices, one per row; NaN where it is undefined."""
    o = matrices.reshape(-1, size, size)
    totals = o.sum(axis=2)
    n = totals.sum(axis=1)
    squares = np.triu(np.ones((size, size)), 1)
    if metric == "ordinal":
        upto = np.cumsum(totals, axis=1)
        # Σ of n_g from c to k, less half of both ends, for c <= k; symmetric.
        between = upto[:, None, :] - upto[:, :, None] + totals[:, :, None]
        squares = squares * (between - (totals[:, :, None] + totals[:, None, :]) / 2) ** 2
    observed = 2 * (o * squares).sum(axis=(1, 2)) / n
    expected = 2 * (totals[:, :, None] * totals[:, None, :] * squares).sum(axis=(1, 2))
    expected /= n * (n - 1)
    result: npt.NDArray[np.float64] = np.full(len(o), np.nan)
    there = expected > 0
    result[there] = 1 - observed[there] / expected[there]
    return result


def _alpha_estimate(
    counts: Floats,
    metric: Metric,
    groups: Sequence[Hashable],
    seed: int,
    resamples: int,
    level: float,
    unit: str,
) -> Estimate:
    size = counts.shape[1]
    parts = _coincidences(counts)
    value = float(_alphas(parts.sum(axis=0)[None, :], size, metric)[0])
    items = len(counts)
    if np.isnan(value):
        return Estimate.without_value(ONE_SCORE, n=items)
    names, codes = encode(groups)
    if len(names) == 1:
        return Estimate(value, items, no_interval=ONE_ITEM.format(unit=unit))
    by_group = np.zeros((len(names), size * size))
    np.add.at(by_group, codes, parts)
    # Clusters with the same part are interchangeable: drawing kinds of them is the same law as
    # drawing clusters, and there are few kinds.
    kinds, often = np.unique(by_group, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // len(kinds))
    drawn = []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        weights = rng.multinomial(len(names), often / len(names), size=rows).astype(np.float64)
        drawn.append(_alphas(weights @ kinds, size, metric))
    found = np.concatenate(drawn)
    known = found[~np.isnan(found)]
    warnings = []
    if len(known) < resamples:
        warnings.append(DROPPED.format(n=resamples - len(known), of=resamples))
    warnings += few_clusters(len(names), unit)
    if not len(known) or np.ptp(known) <= 1e-12:
        return Estimate(value, items, no_interval=SAME_RESAMPLES, warnings=tuple(warnings))
    interval = percentile_interval(
        known, level=level, unit=unit, seed=seed, resamples=resamples, clusters=len(names)
    )
    return Estimate(value, items, interval, warnings=tuple(warnings))
