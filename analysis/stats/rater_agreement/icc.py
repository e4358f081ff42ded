"""Intraclass correlations: how much of the variation of scores lies between items."""

from collections.abc import Hashable, Sequence
from itertools import compress
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from analysis.stats.columns import Floats, as_floats, check_length_of, check_level
from analysis.stats.rater_agreement.answers import Answers
from analysis.stats.rater_agreement.coefficient_intervals import coefficient_estimate
from analysis.stats.resampling import (
    RESAMPLES,
    repeated,
    units_to_draw,
)
from analysis.stats.results import Estimate, Interval

Form = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
FORMS: dict[Form, str] = {
    "ICC1": "one-way random, single rater",
    "ICC2": "two-way random, absolute agreement, single rater",
    "ICC3": "two-way mixed, consistency, single rater",
    "ICC1k": "one-way random, average of k raters",
    "ICC2k": "two-way random, absolute agreement, average of k raters",
    "ICC3k": "two-way mixed, consistency, average of k raters",
}

ONE_RATER = "one rater only: nothing to compare"
FEW_ITEMS = "fewer than two items were scored by all {k} raters"
FEW_ANSWERED = "fewer than two items, or no item with two answers"
NO_VARIATION = "all scores are equal: there is no variation to divide"
NO_DIFFERENCE = "items do not differ: there is no variation between them"
NO_ERROR = "raters never differ but by a constant: no interval"
NO_DEGREES = "Satterthwaite's approximation leaves no degrees of freedom: no interval"
TOO_LOW = "a single rater's interval reaches below −1/(k − 1): none for the average"
INCOMPLETE = "items not scored by all raters"
UNANSWERED = "items without an answer"
PARTIAL = "complete items only ({n} of {of})"
UNBALANCED = "one-way random, {which}, unbalanced"


def intraclass(
    scores: Any,
    *,
    form: Form,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """Compute an intraclass correlation of the items that all raters scored.

    Parameters
    ----------
    scores
        n rows of k numbers, one row per item and one column per rater, the same k raters
        throughout (forms 2 and 3 need to know who gave which score); None or NaN for no score.
    form
        ``ICC1``, ``ICC2``, ``ICC3`` for one rater, with ``k`` for the mean of k raters, which says
        nothing about a single one. Form 1: every item has its own raters. Form 2: the raters are a
        sample, and their severity counts as disagreement. Form 3: these raters only, severity does
        not count.
    clusters, unit, seed, resamples
        What each item belongs to. Where one occurs twice the interval draws clusters, else it is
        the one of the F distribution and needs no seed.

    Returns
    -------
    Estimate
        ``n`` is the number of complete items; a warning says "complete items only (n of N)" where
        some are not.

    Raises
    ------
    ValueError
        If the form is unknown, or it is no table.

    Notes
    -----
    With mean squares between items B, between raters J, residual E and within items W:
    ICC1 = (B − W)/(B + (k − 1)W); ICC2 = (B − E)/(B + (k − 1)E + k(J − E)/n);
    ICC3 = (B − E)/(B + (k − 1)E); ICC1k = (B − W)/B; ICC2k = (B − E)/(B + (J − E)/n);
    ICC3k = (B − E)/B. Shrout & Fleiss 1979, Psychol. Bull. 86:420; McGraw & Wong 1996, Psychol.
    Methods 1:30. Intervals of ICC2 by Satterthwaite's degrees of freedom; those of ICC2k are the
    Spearman-Brown values of its ends (Shrout & Fleiss), not McGraw and Wong's own. They assume
    normal effects and independent items. Undefined for one rater, under two complete items, and
    where all scores are equal, averages also where all items have the same mean. Negative values
    are possible: raters agree less than by chance.
    """
    check_level(level)
    if form not in FORMS:
        raise ValueError(f"unknown form {form!r}: {', '.join(FORMS)}")
    table = as_floats(scores)
    if table.size == 0:
        table = table.reshape(table.shape[0] if table.ndim == 2 else 0, 0)
    if table.ndim != 2:
        raise ValueError(f"items by raters expected, got an array of {table.ndim} dimensions")
    if clusters is not None:
        check_length_of(clusters, len(table), "clusters")
    complete: npt.NDArray[np.bool_] = np.isnan(table).sum(axis=1) == 0
    block = table[complete]
    n, k = block.shape
    excluded = {INCOMPLETE: len(table) - n} if n < len(table) else {}
    warnings = (PARTIAL.format(n=n, of=len(table)),) if excluded else ()
    method = f"{form}: {FORMS[form]} (k = {k})"
    if k < 2 or n < 2:
        reason = ONE_RATER if k == 1 else FEW_ITEMS.format(k=k)
        return Estimate.without_value(
            reason, n=n if k else 0, excluded=excluded, warnings=warnings, method=method
        )
    parts = _moments(block)
    value = float(_intraclass(parts.sum(axis=0)[None, :], form)[0])
    if np.isnan(value):
        reason = NO_VARIATION if np.ptp(block) == 0 else NO_DIFFERENCE
        return Estimate.without_value(
            reason, n=n, excluded=excluded, warnings=warnings, method=method
        )
    groups = None if clusters is None else repeated(list(compress(clusters, complete)))
    if groups is not None:
        units = units_to_draw(np.arange(n), parts, clusters=groups, unit=unit)
        estimate = coefficient_estimate(
            value, n, units, lambda totals: _intraclass(totals, form),
            lowest=-inf if form.endswith("k") else -1,
            level=level, seed=seed, resamples=resamples, excluded=excluded, method=method,
        )  # fmt: skip
        return Estimate(
            value, n, estimate.interval, no_interval=estimate.no_interval, excluded=excluded,
            warnings=(*warnings, *estimate.warnings), method=method,
        )  # fmt: skip
    found_or_why = _f_interval(parts.sum(axis=0), n, k, form, level)
    interval, why = (None, found_or_why) if isinstance(found_or_why, str) else (found_or_why, "")
    return Estimate(
        value,
        n,
        interval,
        no_interval=why,
        excluded=excluded,
        warnings=warnings,
        method=method,
    )


def intraclass_one_way(
    answers: Answers,
    *,
    average: bool = False,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """Compute the one-way intraclass correlation of items with different numbers of answers.

    Parameters
    ----------
    answers
        Counts of scores by item; who gave them does not matter.
    average
        Of the mean of m₀ raters, instead of a single one.
    clusters, unit, seed, resamples
        As in `intraclass`.

    Returns
    -------
    Estimate
        ``n`` is the number of items with an answer.

    Notes
    -----
    (B − W)/(B + (m₀ − 1)W) with the mean squares between and within items of an unbalanced one-way
    analysis of variance and m₀ = (N − Σ m_i²/N)/(n − 1), N answers to n items (Donner 1986, Int.
    Stat. Rev. 54:67). The average, its Spearman-Brown value at m₀, is (B − W)/B. Interval by the
    quantiles of F with n − 1 and N − n degrees of freedom, which is exact only where all m_i are
    equal, or by drawing clusters. Undefined under two items, without a second answer to any, and
    where all scores are equal; the average also where all items have the same mean.
    """
    check_level(level)
    if clusters is not None:
        check_length_of(clusters, answers.items, "clusters")
    answered, kept = answers.with_at_least(1)
    gone = answers.items - answered.items
    excluded = {UNANSWERED: gone} if gone else {}
    method = UNBALANCED.format(which="average" if average else "single rater")
    sizes, often, n = answered.sizes, answered.often, answered.items
    total = float(often @ sizes)
    if n < 2 or total <= n:
        return Estimate.without_value(FEW_ANSWERED, n=n, excluded=excluded, method=method)
    centred = answered.values - float(often @ answered.counts @ answered.values) / total
    sums = answered.counts @ centred
    parts = np.column_stack(
        [answered.counts @ centred**2, sums**2 / sizes, sums, sizes, sizes**2, np.ones(len(sizes))]
    )
    whole: Floats = np.asarray(often @ parts, dtype=np.float64)[None, :]
    value = float(_one_way(whole, average)[0])
    if np.isnan(value):
        reason = NO_DIFFERENCE if whole[0, 0] > 1e-12 * total else NO_VARIATION
        return Estimate.without_value(reason, n=n, excluded=excluded, method=method)
    groups = None if clusters is None else repeated(list(compress(clusters, kept)))
    if groups is not None:
        units = units_to_draw(answered.kinds, parts, clusters=groups, unit=unit)
        return coefficient_estimate(
            value, n, units, lambda totals: _one_way(totals, average),
            lowest=-inf if average else -1,
            level=level, seed=seed, resamples=resamples, excluded=excluded, method=method,
        )  # fmt: skip
    between, within, size = (float(part[0]) for part in _one_way_squares(whole))
    if _nothing(within, between):
        return Estimate(value, n, no_interval=NO_ERROR, excluded=excluded, method=method)
    above, below = _f_quantiles(n - 1, total - n, level)
    ends = [
        1 - 1 / ratio if average else (ratio - 1) / (ratio + size - 1)
        for ratio in (between / within / above, between / within * below)
    ]
    details = {"df1": n - 1, "df2": int(total) - n}
    interval = Interval(ends[0], ends[1], level, "F", details)
    return Estimate(value, n, interval, excluded=excluded, method=method)


def _one_way_squares(totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Return B, W and m₀ of totals of Σ x², (Σ x)²/m, Σ x, m, m² and 1 over items."""
    squares, of_items, sums, answers, sizes, n = totals.T
    items = np.maximum(n - 1, 1)
    between = np.maximum(of_items - sums**2 / answers, 0) / items
    within = np.maximum(squares - of_items, 0) / np.maximum(answers - n, 1)
    return between, within, (answers - sizes / answers) / items


def _one_way(totals: Floats, average: bool) -> Floats:
    """Compute the correlation of totals of `_one_way_squares`; NaN where it is undefined."""
    between, within, size = _one_way_squares(totals)
    below = between if average else between + (size - 1) * within
    scale = totals[:, 0] / totals[:, 3]
    result: Floats = np.full(len(totals), np.nan)
    there = (below > 1e-12 * scale) & (totals[:, 3] > totals[:, 5]) & (totals[:, 5] > 1)
    result[there] = (between - within)[there] / below[there]
    return result


def _moments(block: Floats) -> Floats:
    """Return what an item adds: Σ x², (Σ x)²/k, its scores, and 1; centred, to keep digits."""
    centred = block - block.mean()
    sums = centred.sum(axis=1)
    return np.column_stack(
        [(centred**2).sum(axis=1), sums**2 / block.shape[1], centred, np.ones(len(block))]
    )


def _mean_squares(totals: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats, int]:
    """Compute B, J, E, W, n and k of totals of `_moments`, one row each."""
    squares, of_items, by_rater, n = totals[:, 0], totals[:, 1], totals[:, 2:-1], totals[:, -1]
    k = by_rater.shape[1]
    grand = by_rater.sum(axis=1) ** 2 / (n * k)
    between = np.maximum(of_items - grand, 0)
    raters = np.maximum((by_rater**2).sum(axis=1) / n - grand, 0)
    inside = np.maximum(squares - of_items, 0)
    rest = np.maximum(inside - raters, 0)
    degrees = np.maximum(n - 1, 1)
    return (
        between / degrees, raters / (k - 1), rest / (degrees * (k - 1)), inside / (n * (k - 1)),
        n, k,
    )  # fmt: skip


def _intraclass(totals: Floats, form: Form) -> Floats:
    """Compute the correlation of totals of `_moments`, one per row; NaN where it is undefined."""
    b, j, e, w, n, k = _mean_squares(totals)
    wrong = w if form.startswith("ICC1") else e
    below = b + (k - 1) * wrong
    if form.endswith("k"):
        below = b
    if form.startswith("ICC2"):
        below = below + (k if form == "ICC2" else 1) * (j - e) / n
    scale = totals[:, 0] / totals[:, -1]
    result: Floats = np.full(len(totals), np.nan)
    there = (below > 1e-12 * scale) & (n > 1)
    result[there] = (b - wrong)[there] / below[there]
    return result


def _f_interval(totals: Floats, n: int, k: int, form: Form, level: float) -> Interval | str:
    """Compute the interval by F quantiles, or say why there is none."""
    b, j, e, w = (float(part[0]) for part in _mean_squares(totals[None, :])[:4])
    wrong = w if form.startswith("ICC1") else e
    if _nothing(wrong, b):
        return NO_ERROR
    if not form.startswith("ICC2"):
        df = n * (k - 1) if form.startswith("ICC1") else (n - 1) * (k - 1)
        above, below = _f_quantiles(n - 1, df, level)
        low, high = b / wrong / above, b / wrong * below
        if form.endswith("k"):
            return Interval(1 - 1 / low, 1 - 1 / high, level, "F", {"df1": n - 1, "df2": df})
        ends = [(ratio - 1) / (ratio + k - 1) for ratio in (low, high)]
        return Interval(ends[0], ends[1], level, "F", {"df1": n - 1, "df2": df})
    single = float(_intraclass(totals[None, :], "ICC2")[0])
    rest = n * (1 + (k - 1) * single) - k * single
    above = (k * single * j / e + rest) ** 2 * (k - 1) * (n - 1)
    df_error = above / ((n - 1) * (k * single * j / e) ** 2 + rest**2)
    if not df_error > 1e-6:
        return NO_DEGREES
    upper, lower = _f_quantiles(n - 1, df_error, level)
    common = k * j + (n * k - k - n) * e
    ends = [
        n * (b - upper * e) / (upper * common + n * b),
        n * (lower * b - e) / (common + n * lower * b),
    ]
    if form == "ICC2k":
        if ends[0] <= -1 / (k - 1):
            return TOO_LOW
        ends = [_spearman_brown(end, k) for end in ends]
    return Interval(ends[0], ends[1], level, "F, Satterthwaite")


def _f_quantiles(df1: float, df2: float, level: float) -> tuple[float, float]:
    """Return the upper quantiles of F with these degrees of freedom, and with them exchanged."""
    from scipy.special import fdtri  # slow to import, and not every page needs it

    at = (1 + level) / 2
    return float(fdtri(df1, df2, at)), float(fdtri(df2, df1, at))


def _spearman_brown(single: float, k: float) -> float:
    return k * single / (1 + (k - 1) * single)


def _nothing(part: float, whole: float) -> bool:
    """Return whether a part is 0 but for rounding errors."""
    return part <= 1e-12 * whole
