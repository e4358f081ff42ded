"""Agreement corrected for chance: Cohen's and Fleiss' kappa, Gwet's AC1 and AC2, with weights."""

from collections.abc import Callable, Hashable, Sequence
from itertools import compress
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, check_level
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.rater_agreement.answers import NO_PAIRS, Answers, answers_of_scores
from analysis.stats.rater_agreement.coefficient_intervals import coefficient_estimate
from analysis.stats.resampling import RESAMPLES, Units, repeated, units_to_draw
from analysis.stats.results import FEW_CLUSTERS, Estimate, Interval

Weights = Literal["none", "linear", "quadratic", "ordinal"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic", "ordinal")


def agreement_weights(values: Any, weights: Weights) -> Floats:
    """Return how much of an agreement each pair of scores is, from 0 to 1.

    Parameters
    ----------
    values
        The q scores of the whole scale in ascending order, given or not: weights depend on it.
    weights
        ``none`` 1 for equal scores only; ``linear`` 1 − |a − b|/R; ``quadratic`` 1 − (a − b)²/R²
        with R the range; ``ordinal`` 1 − C(d + 1, 2)/C(q, 2) with d the distance in places.

    Returns
    -------
    array of q × q

    Raises
    ------
    ValueError
        If there are fewer than two scores, or the weights are unknown.

    Notes
    -----
    Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., ch. 3. His ordinal weights are not
    Krippendorff's ordinal metric.
    """
    points = as_column(values)
    if points.size < 2:
        raise ValueError("agreement needs a scale of two scores or more")
    if weights not in WEIGHTS:
        raise ValueError(f"unknown weights {weights!r}")
    if weights == "none":
        return np.eye(points.size)
    if weights == "ordinal":
        places = np.abs(np.subtract.outer(np.arange(points.size), np.arange(points.size)))
        ordinal: Floats = 1 - places * (places + 1) / (points.size * (points.size - 1))
        return ordinal
    apart = np.abs(np.subtract.outer(points, points)) / (points.max() - points.min())
    graded: Floats = 1 - (apart if weights == "linear" else apart**2)
    return graded


def weights_in_words(weights: Weights) -> str:
    """Return what stands beside a number: "unweighted", "linear weights"."""
    return "unweighted" if weights == "none" else f"{weights} weights"


INCOMPLETE = "scored by one of the two only"
NEITHER = "scored by neither"
NO_COMMON = "no item was scored by both"
CHANCE_IS_FULL = "all answers are equal: chance alone would agree fully"
NO_WIDTH = "the standard error is 0: no interval"
ONE_ITEM = "one item only: no interval"
COHEN = "Cohen's kappa, {weights}, over all scores from {low:g} to {high:g}"
FLEISS = "Fleiss' kappa, {weights}"
GWET = "Gwet's {name}, {weights}"


def cohen_kappa(
    first: Any,
    second: Any,
    *,
    scale: tuple[int, int] = (1, 5),
    weights: Weights = "none",
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """Compute Cohen's kappa of two raters.

    Parameters
    ----------
    first, second
        Two columns of whole numbers on the scale, one row per item; None or NaN for no score.
    scale
        Lowest and highest score. Linear and quadratic weights depend on it, not on the scores
        that happen to occur.
    weights
        As in `kappas.agreement_weights`.
    clusters, unit, seed, resamples
        What each item belongs to. Where one occurs twice the interval draws clusters, else it is
        asymptotic and needs no seed. With fewer than 40 items, and with up to 100 clusters, it is a
        jackknife.

    Returns
    -------
    Estimate
        ``n`` is the number of items that both scored.

    Raises
    ------
    ValueError
        If a score is not on the scale, or columns differ in length.

    Notes
    -----
    κ = (p_o − p_e)/(1 − p_e), p_o = Σ w_ab p_ab, p_e = Σ w_ab p_a· p_·b (Cohen 1960, Educ. Psychol.
    Meas. 20:37; 1968, Psychol. Bull. 70:213). Interval κ ± z·SE with
    SE² = {Σ p_ab [w_ab − (w̄_a· + w̄_·b)(1 − κ)]² − [κ − p_e(1 − κ)]²}/(n(1 − p_e)²), w̄_a· = Σ_b
    w_ab p_·b (Fleiss, Cohen & Everitt 1969, Psychol. Bull. 72:323), cut at 1: it assumes
    independent items. With fewer than 40 it holds the truth too rarely, and the interval is a
    jackknife on Fisher's z (`coefficient_estimate`). Undefined without a common item and
    where p_e = 1 (both gave one and the same score to everything); no interval where SE = 0. Kappa
    is low where nearly all scores are equal, however often the two agree (Feinstein & Cicchetti
    1990, J. Clin. Epidemiol. 43:543).
    """
    check_level(level)
    a, b = as_column(first), as_column(second)
    check_length_of(b, a.size, "second")
    if clusters is not None:
        check_length_of(clusters, a.size, "clusters")
    points = np.arange(scale[0], scale[1] + 1, dtype=np.float64)
    matrix = agreement_weights(points, weights)
    method = COHEN.format(weights=weights_in_words(weights), low=scale[0], high=scale[1])
    both = ~(np.isnan(a) | np.isnan(b))
    neither = np.isnan(a) & np.isnan(b)
    excluded = _counted({INCOMPLETE: int((~both & ~neither).sum()), NEITHER: int(neither.sum())})
    answers_of_scores(np.column_stack([a, b]), scale=scale)  # refuses what is not on the scale
    size = points.size
    cells = ((a[both] - scale[0]) * size + b[both] - scale[0]).astype(np.int64)
    n = int(cells.size)
    if n == 0:
        return Estimate.without_value(NO_COMMON, excluded=excluded, method=method)
    table = np.bincount(cells, minlength=size * size).astype(np.float64)
    value = float(_cohen(table[None, :], matrix)[0])
    if np.isnan(value):
        return Estimate.without_value(CHANCE_IS_FULL, n=n, excluded=excluded, method=method)
    groups = None if clusters is None else repeated(list(compress(clusters, both)))
    if groups is not None or 1 < n < FEW_CLUSTERS:
        occupied, codes = np.unique(cells, return_inverse=True)
        parts = np.zeros((occupied.size, size * size))
        parts[np.arange(occupied.size), occupied] = 1
        return coefficient_estimate(
            value, n, units_to_draw(codes, parts, clusters=groups, unit=unit),
            lambda totals: _cohen(totals, matrix),
            level=level, seed=seed, resamples=resamples, excluded=excluded, method=method,
        )  # fmt: skip
    p = table.reshape(size, size) / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    chance = float(rows @ matrix @ columns)
    pull = (matrix @ columns)[:, None] + (rows @ matrix)[None, :]
    spread = float((p * (matrix - pull * (1 - value)) ** 2).sum())
    spread -= (value - chance * (1 - value)) ** 2
    error = sqrt(max(spread, 0.0) / n) / (1 - chance)
    factor = NormalDist().inv_cdf((1 + level) / 2)
    return _symmetric(value, n, error, factor, level, "asymptotic normal", {}, excluded, method)


def fleiss_kappa(
    answers: Answers,
    *,
    weights: Weights = "none",
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """Compute Fleiss' kappa of several raters, who need not have scored every item.

    Parameters
    ----------
    answers
        Counts of answers by item.
    weights, clusters, unit, seed, resamples, level
        As in `cohen_kappa`.

    Notes
    -----
    κ = (p_a − p_e)/(1 − p_e), with p_a as in `gwet_ac` and p_e = Σ w_ck π_c π_k. Fleiss 1971,
    Psychol. Bull. 76:378, in the form that allows missing answers and weights, with its linearised
    variance: Gwet 2014, Handbook of Inter-Rater Reliability, ch. 2 to 5. Everything else as in
    `gwet_ac`. Undefined where all answers are equal (p_e = 1).
    """
    matrix = agreement_weights(answers.values, weights)

    def chance(pi: Floats) -> Floats:
        expected: Floats = np.einsum("bc,ck,bk->b", pi, matrix, pi)
        return expected

    method = FLEISS.format(weights=weights_in_words(weights))
    return _several(
        answers, matrix, chance, lambda pi: matrix @ pi, clusters, unit, seed, resamples, level,
        method,
    )  # fmt: skip


def gwet_ac(
    answers: Answers,
    *,
    weights: Weights = "none",
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Estimate:
    """Compute Gwet's AC1 (without weights) or AC2 (with them) of several raters.

    Parameters
    ----------
    answers
        Counts of answers by item.
    weights
        ``none`` for AC1, else AC2; as in `kappas.agreement_weights`.
    clusters, unit, seed, resamples
        What each item belongs to. Where one occurs twice the interval draws clusters, else it is a
        t interval and needs no seed.

    Returns
    -------
    Estimate
        ``n`` is the number of items with an answer; those with one count for how often each score
        is given, but not for agreement.

    Notes
    -----
    With r_ic of an item's r_i answers being c and r*_ic = Σ_k w_ck r_ik:
    p_a = mean over items with r_i ≥ 2 of Σ_c r_ic (r*_ic − 1)/(r_i(r_i − 1));
    π_c = mean over items of r_ic/r_i; p_e = Σ w_ck · Σ_c π_c(1 − π_c)/(q(q − 1));
    AC = (p_a − p_e)/(1 − p_e). Interval: t with n − 1 degrees of freedom on the linearised variance
    over items, cut at 1. Gwet 2008, Br. J. Math. Stat. Psychol. 61:29; 2014, Handbook of
    Inter-Rater Reliability, ch. 3 to 5. It assumes independent items. It hardly falls where nearly
    all answers are equal, and is 1, without an interval, where all are. Undefined without a pair.
    """
    matrix = agreement_weights(answers.values, weights)
    size = answers.values.size
    factor = float(matrix.sum()) / (size * (size - 1))

    def chance(pi: Floats) -> Floats:
        expected: Floats = factor * (pi * (1 - pi)).sum(axis=1)
        return expected

    method = GWET.format(
        name="AC1" if weights == "none" else "AC2", weights=weights_in_words(weights)
    )
    return _several(
        answers, matrix, chance, lambda pi: factor * (1 - pi), clusters, unit, seed, resamples,
        level, method,
    )  # fmt: skip


def _several(
    answers: Answers,
    matrix: Floats,
    chance: Callable[[Floats], Floats],
    pull: Callable[[Floats], Floats],
    clusters: Sequence[Hashable] | None,
    unit: str,
    seed: int,
    resamples: int,
    level: float,
    method: str,
) -> Estimate:
    """Return agreement of pairs against a chance that depends on how often each answer is given.

    ``pull`` is half the derivative of the chance by π: what one item's answers move it.
    """
    check_level(level)
    if clusters is not None:
        check_length_of(clusters, answers.items, "clusters")
    answered, kept = answers.with_at_least(1)
    sizes, often = answered.sizes, answered.often
    paired = (sizes >= 2).astype(np.float64)
    if not paired.any():
        return Estimate.without_value(NO_PAIRS, n=answered.items, method=method)
    shares = answered.counts / sizes[:, None]
    pairs = np.maximum(sizes * (sizes - 1), 1)
    agreed = (answered.counts * (answered.counts @ matrix - 1)).sum(axis=1) / pairs * paired
    parts = np.column_stack([shares, agreed, paired, np.ones(len(shares))])

    def corrected(totals: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = chance(totals[:, :-3] / totals[:, -1:])
            seen = totals[:, -3] / totals[:, -2]
            result: Floats = np.where(
                1 - expected > 1e-12, (seen - expected) / (1 - expected), np.nan
            )
        return result

    n = answered.items
    whole = Units(parts, often, "item")
    value = float(corrected(whole.totals)[0])
    if np.isnan(value):
        return Estimate.without_value(CHANCE_IS_FULL, n=n, method=method)
    groups = None if clusters is None else repeated(list(compress(clusters, kept)))
    if groups is not None:
        units = units_to_draw(answered.kinds, parts, clusters=groups, unit=unit)
        return coefficient_estimate(
            value, n, units, corrected, level=level, seed=seed, resamples=resamples, method=method
        )
    if n == 1:
        return Estimate(value, n, no_interval=ONE_ITEM, method=method)
    pi = (often @ shares) / n
    expected = float(chance(pi[None, :])[0])
    own = n / float(often @ paired) * (agreed - expected * paired) / (1 - expected)
    own -= 2 * (1 - value) * (shares @ pull(pi) - expected) / (1 - expected)
    error = sqrt(float(often @ (own - value) ** 2) / (n * (n - 1)))
    factor = t_quantile(n - 1, level)
    return _symmetric(value, n, error, factor, level, "t", {"df": n - 1}, {}, method)


def _symmetric(
    value: float,
    n: int,
    error: float,
    factor: float,
    level: float,
    name: str,
    details: dict[str, int],
    excluded: dict[str, int],
    method: str,
) -> Estimate:
    if error <= 1e-9:
        return Estimate(value, n, no_interval=NO_WIDTH, excluded=excluded, method=method)
    high = min(1.0, value + factor * error)
    interval = Interval(value - factor * error, high, level, name, details)
    return Estimate(value, n, interval, excluded=excluded, method=method)


def _cohen(tables: Floats, matrix: Floats) -> Floats:
    """Compute kappa of tables of counts, one per row; NaN where it is undefined."""
    size = len(matrix)
    counts = tables.reshape(-1, size, size)
    n = counts.sum(axis=(1, 2))
    with np.errstate(invalid="ignore", divide="ignore"):
        seen = (counts * matrix).sum(axis=(1, 2)) / n
        expected = np.einsum("bc,ck,bk->b", counts.sum(axis=2), matrix, counts.sum(axis=1)) / n**2
        result: Floats = np.where(1 - expected > 1e-12, (seen - expected) / (1 - expected), np.nan)
    return result


def _counted(excluded: dict[str, int]) -> dict[str, int]:
    return {reason: count for reason, count in excluded.items() if count}
