"""Krippendorff's alpha, with missing answers, and its bootstrap interval."""

from collections.abc import Hashable, Sequence
from itertools import compress
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.stats.columns import Floats, check_length_of, check_level
from analysis.stats.rater_agreement.answers import NO_PAIRS, UNPAIRED, Answers
from analysis.stats.rater_agreement.coefficient_intervals import coefficient_estimate
from analysis.stats.resampling import RESAMPLES, units_to_draw
from analysis.stats.results import Estimate

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval", "ratio")

ONE_SCORE = "all answers are equal: agreement beyond chance is undefined"
METHOD = "Krippendorff's alpha, {metric} metric"


def krippendorff_alpha(
    answers: Answers,
    *,
    metric: Metric = "ordinal",
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """Compute alpha with an interval by items or clusters.

    Parameters
    ----------
    answers
        Counts of answers by item; items with fewer than two are left out and counted.
    metric
        ``nominal`` for categories; ``ordinal``, ``interval``, ``ratio`` for scores.
    clusters
        What each item belongs to (its task). Where one occurs twice, clusters are drawn.
    unit
        What a cluster is called.
    seed, resamples, level
        Of the interval.

    Returns
    -------
    Estimate
        ``n`` is the number of items with two answers or more.

    Raises
    ------
    ValueError
        If the metric is unknown, or ``clusters`` has another length than the items.

    Notes
    -----
    Every ordered pair of an item's m answers by different people counts 1/(m − 1) into the
    coincidence matrix o; n_c = Σ_k o_ck, n = Σ n_c. Alpha = 1 − D_o/D_e with
    D_o = Σ o_ck δ²_ck/n and D_e = Σ n_c n_k δ²_ck/(n(n − 1)). Squared distances δ²_ck: nominal 1
    for c ≠ k; ordinal (Σ_{g=c..k} n_g − (n_c + n_k)/2)²; interval (c − k)²; ratio
    ((c − k)/(c + k))². Krippendorff 2011, Computing Krippendorff's Alpha-Reliability. Undefined
    without a pair, and where all answers are equal (D_e = 0): then there is nothing by which
    agreement could be told from chance. Missing answers are taken as missing at random.

    The interval draws items (or clusters) and computes alpha anew, D_e included (Zapf, Castell,
    Morawietz & Karch 2016, BMC Med. Res. Methodol. 16:93); resamples in which alpha is undefined
    are dropped and counted. The bootstrap of Hayes & Krippendorff 2007, which keeps D_e, is too
    narrow and is not used. With up to 100 items (or clusters) that bootstrap is too narrow
    too, and the interval is a jackknife on Fisher's z (`coefficient_estimate`; Hughes
    2022, arXiv 2210.13265, has a jackknife for alpha). Neither leaves −1 to 1.
    """
    check_level(level)
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}")
    if clusters is not None:
        check_length_of(clusters, answers.items, "clusters")
    method = METHOD.format(metric=metric)
    paired, kept = answers.with_at_least(2)
    gone = answers.items - paired.items
    excluded = {UNPAIRED: gone} if gone else {}
    if not paired.items:
        return Estimate.without_value(NO_PAIRS, excluded=excluded, method=method)
    groups = None if clusters is None else list(compress(clusters, kept))
    units = units_to_draw(paired.kinds, coincidences(paired.counts), clusters=groups, unit=unit)
    value = float(alphas(units.totals, paired.values, metric)[0])
    if np.isnan(value):
        return Estimate.without_value(ONE_SCORE, n=paired.items, excluded=excluded, method=method)
    return coefficient_estimate(
        value, paired.items, units, lambda totals: alphas(totals, paired.values, metric),
        level=level, seed=seed, resamples=resamples, excluded=excluded, method=method,
    )  # fmt: skip


def coincidences(counts: Floats) -> Floats:
    """Return each item's part of the coincidence matrix as one row; 0 for a single answer."""
    m = counts.sum(axis=1)
    outer = counts[:, :, None] * counts[:, None, :]
    size = counts.shape[1]
    outer[:, range(size), range(size)] -= counts
    parts: Floats = (outer / np.maximum(m - 1, 1)[:, None, None]).reshape(len(counts), size * size)
    return parts


def alphas(matrices: Floats, values: Floats, metric: Metric) -> Floats:
    """Compute alpha of coincidence matrices, one per row; NaN where it is undefined.

    ``values`` are the scores that rows and columns of a matrix stand for.
    """
    size = values.size
    o = matrices.reshape(-1, size, size)
    totals = o.sum(axis=2)
    n = totals.sum(axis=1)
    squares = _squares(totals, values, metric)
    observed = 2 * (o * squares).sum(axis=(1, 2))
    expected = 2 * (totals[:, :, None] * totals[:, None, :] * squares).sum(axis=(1, 2))
    result: npt.NDArray[np.float64] = np.full(len(o), np.nan)
    there = expected > 0
    result[there] = 1 - (n[there] - 1) * observed[there] / expected[there]
    return result


def _squares(totals: Floats, values: Floats, metric: Metric) -> Floats:
    """Return squared distances above the diagonal, as they are symmetric."""
    upper: Floats = np.triu(np.ones((values.size, values.size)), 1)
    if metric == "interval":
        return upper * (values[:, None] - values[None, :]) ** 2
    if metric == "ratio":
        sums = values[:, None] + values[None, :]
        gaps = values[:, None] - values[None, :]
        shares: Floats = np.divide(gaps, sums, out=np.zeros_like(sums), where=sums != 0)
        return upper * shares**2
    if metric == "ordinal":
        upto = np.cumsum(totals, axis=1)
        # Σ of n_g from c to k, less half of both ends, for c <= k.
        between = upto[:, None, :] - upto[:, :, None] + totals[:, :, None]
        ordinal: Floats = upper * (between - (totals[:, :, None] + totals[:, None, :]) / 2) ** 2
        return ordinal
    return upper
