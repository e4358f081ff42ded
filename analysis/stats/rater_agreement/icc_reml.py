"""Intraclass correlations by restricted maximum likelihood, whatever cells are missing."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import compress
from math import atanh, log, pi, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.columns import Codes, Floats, as_floats, check_length_of, check_level, encode
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.rater_agreement.icc import (
    FEW_ANSWERED,
    FORMS,
    NO_VARIATION,
    ONE_RATER,
    UNANSWERED,
    Form,
)
from analysis.stats.resampling import repeated
from analysis.stats.results import Estimate, Interval, few_clusters

GROUPS = 20
# Under this a variance counts as 0: the fit ends near it, not on it.
NO_VARIANCE = 1e-4
SINGLE: tuple[Form, ...] = ("ICC1", "ICC2", "ICC3")
METHOD = "{form}: {words}, REML, all answers"
NO_RESIDUAL = "items and raters explain every score: no residual variation to compare with"
FEW_OVERLAPS = (
    "too few items were scored by several of the raters to tell items, raters and error apart"
)
UNSETTLED = "the fit did not converge"
NO_RATER_INTERVAL = (
    "no interval: it would rest on the few raters too, and none that is sound is known for "
    "missing cells"
)
JACKKNIFE = "{unit} jackknife, {groups} groups, t on Fisher's z"
AT_END = "a group of items decides whether items differ at all: no interval"


class _IccSums(NamedTuple):
    """Sums of products of 1, raters and scores: in all, and of items' sums by number of answers.

    ``sizes`` are the numbers of answers that items have, ``items`` how many items have each, and
    ``outer`` Σ s s' over these items, s an item's sums of the columns (1, one per rater, score).
    """

    products: Floats
    sizes: Floats
    items: Floats
    outer: Floats

    @property
    def answers(self) -> float:
        return float(self.products[0, 0])

    def without(self, other: "_IccSums") -> "_IccSums":
        return _IccSums(
            self.products - other.products, self.sizes, self.items - other.items,
            self.outer - other.outer,
        )  # fmt: skip


class _IccFit(NamedTuple):
    """Variances of items and raters over the residual one, and whether the fit converged."""

    item: float
    rater: float
    converged: bool

    def value(self, form: Form) -> float:
        """Return the correlation of two answers to one item."""
        return self.item / (self.item + 1 + (self.rater if form == "ICC2" else 0.0))


def intraclass_reml(
    scores: Any,
    *,
    clusters: Sequence[Hashable] | None = None,
    unit: str = "task",
    level: float = 0.95,
) -> Mapping[Form, Estimate]:
    """Compute the three intraclass correlations of a single rater from all answers.

    Parameters
    ----------
    scores
        n rows of k numbers, one row per item and one column per rater; None or NaN for no score.
        Form 1 does not ask who gave a score, forms 2 and 3 do.
    clusters, unit
        What each item belongs to. Where one occurs twice the interval leaves out clusters, else
        items.

    Returns
    -------
    Mapping
        ``ICC1``, ``ICC2``, ``ICC3``; ``n`` is the number of items with an answer.

    Raises
    ------
    ValueError
        If it is no table, or ``clusters`` has another length.

    Notes
    -----
    y_ij = μ + item_i + rater_j + e_ij, all normal and independent; ICC2 = σ²_item/(σ²_item +
    σ²_rater + σ²_e), ICC3 = σ²_item/(σ²_item + σ²_e), ICC1 the same without raters in the model.
    Variances by restricted maximum likelihood (Patterson & Thompson 1971, Biometrika 58:545), as
    lme4 has them (Bates, Mächler, Bolker & Walker 2015, J. Stat. Softw. 67:1): items are eliminated
    by sums over those with equally many answers, then the k raters by a k × k system. Missing
    answers are taken as missing at random; complete and balanced data with positive variances give
    the values of the mean squares (`icc.intraclass`). Variances are not negative, so no value is.

    Interval of ICC1 and ICC3: items (or clusters) are put in turn into at most 20 groups, each is
    left out once, and the values are read as in `coefficient_estimate`. It says nothing
    about other raters, so ICC2, whose raters are a sample, has none. Undefined for one rater, where
    no item has two answers, where all scores are equal, and where nothing is left to the residual.
    """
    check_level(level)
    table = as_floats(scores)
    if table.ndim != 2:
        raise ValueError(f"items by raters expected, got an array of {table.ndim} dimensions")
    if clusters is not None:
        check_length_of(clusters, len(table), "clusters")
    there = ~np.isnan(table)
    kept = np.asarray(there.any(axis=1))
    table = table[kept][:, there.any(axis=0)]
    there = ~np.isnan(table)
    gone = int((~kept).sum())
    excluded = {UNANSWERED: gone} if gone else {}
    n, k = table.shape
    methods = {form: METHOD.format(form=form, words=FORMS[form]) for form in SINGLE}

    def nothing(reason: str) -> dict[Form, Estimate]:
        return {
            form: Estimate.without_value(reason, n=n, excluded=excluded, method=methods[form])
            for form in SINGLE
        }

    if k < 2:
        return nothing(ONE_RATER if k else FEW_ANSWERED)
    if n < 2 or there.sum() <= n:
        return nothing(FEW_ANSWERED)
    if np.ptp(table[there]) == 0:
        return nothing(NO_VARIATION)
    repeats = None if clusters is None else repeated(list(compress(clusters, kept)))
    names, codes = encode(range(n) if repeats is None else repeats)
    groups = min(len(names), GROUPS)
    by_group = _sums_by_group(table, there, codes % groups, groups)
    whole = _IccSums(
        np.sum([one.products for one in by_group], axis=0),
        by_group[0].sizes,
        np.sum([one.items for one in by_group], axis=0),
        np.sum([one.outer for one in by_group], axis=0),
    )
    by_form: dict[Form, Estimate] = {}
    models: tuple[tuple[tuple[Form, ...], bool], ...] = (
        (SINGLE[:1], False),
        (SINGLE[1:], True),
    )
    for forms, crossed in models:
        reason = _why_not(whole, crossed)
        fit = None if reason else _fit(whole, crossed)
        if fit is None or not fit.converged:
            empty = nothing(reason or UNSETTLED)
            by_form.update({form: empty[form] for form in forms})
            continue
        others = (
            [_fit(whole.without(one), crossed, start=fit) for one in by_group] if groups > 1 else []
        )
        for form in forms:
            value = fit.value(form)
            interval: Interval | str
            if form == "ICC2":
                interval = NO_RATER_INTERVAL
            else:
                drawn = "item" if repeats is None else unit
                interval = _interval(
                    value, [o.value(form) for o in others], drawn, len(names), level
                )
            why = interval if isinstance(interval, str) else ""
            by_form[form] = Estimate(
                value, n, None if isinstance(interval, str) else interval, no_interval=why,
                excluded=excluded, method=methods[form],
                warnings=() if why or repeats is None else few_clusters(len(names), unit),
            )  # fmt: skip
    return by_form


def _sums_by_group(table: Floats, there: Any, group: Codes, groups: int) -> list[_IccSums]:
    """Return what each group of items adds; scores are centred, to keep digits."""
    filled = np.where(there, table - table[there].mean(), 0.0)
    filled /= max(float(np.abs(filled).max()), 1e-300)
    counts = there.sum(axis=1)
    sizes = np.unique(counts)
    sums = np.column_stack([counts, there, filled.sum(axis=1)]).astype(np.float64)
    width = sums.shape[1]
    by_group = []
    for g in range(groups):
        own = group == g
        products = np.zeros((width, width))
        presence, scores = there[own], filled[own]
        by_rater = presence.sum(axis=0)
        products[0, 0] = presence.sum()
        products[0, 1:-1] = products[1:-1, 0] = by_rater
        products[1:-1, 1:-1] = np.diag(by_rater)
        products[1:-1, -1] = products[-1, 1:-1] = scores.sum(axis=0)
        products[0, -1] = products[-1, 0] = scores.sum()
        products[-1, -1] = (scores**2).sum()
        rows = [sums[own & (counts == size)] for size in sizes]
        by_group.append(
            _IccSums(
                products,
                sizes.astype(np.float64),
                np.array([len(row) for row in rows], dtype=np.float64),
                np.stack([row.T @ row for row in rows]),
            )
        )
    return by_group


def _eliminated(sums: _IccSums, weights: Floats) -> Floats:
    """Return products after items were taken out with these weights."""
    left: Floats = sums.products - np.tensordot(weights, sums.outer, axes=1)
    return left


def _why_not(sums: _IccSums, crossed: bool) -> str:
    """Say why nothing can be fitted; empty where it can."""
    # Weights 1/m take out items as fixed effects: what is left is variation within them.
    left = _eliminated(sums, 1 / sums.sizes)
    total = float(sums.products[-1, -1])
    rest = float(left[-1, -1])
    free = sums.answers - float(sums.items.sum())
    if crossed:
        raters = left[1:-1, 1:-1]
        values, vectors = np.linalg.eigh(raters)
        known = values > 1e-9 * max(float(values.max()), 1e-300)
        along = vectors[:, known].T @ left[1:-1, -1]
        rest -= float((along**2 / values[known]).sum())
        free -= float(known.sum())
    if free < 1:
        return FEW_OVERLAPS
    return NO_RESIDUAL if rest <= 1e-10 * total else ""


def _fit(sums: _IccSums, crossed: bool, *, start: _IccFit | None = None) -> _IccFit:
    """Find the lowest restricted deviance; a variance of 0 is an ordinary minimum."""
    from scipy.optimize import minimize  # slow to import, and not every page needs it

    starts = [[1.0, 0.3][: 1 + crossed], [0.3, 0.05][: 1 + crossed]]
    if start is not None:
        # A touch above 0, from where the deviance has a slope.
        starts.insert(0, [max(sqrt(v), 0.02) for v in (start.item, start.rater)][: 1 + crossed])
    best = None
    for first in starts:
        optimum = minimize(
            _deviance, first, args=(sums,), method="BFGS", jac=None if start else "3-point",
            options={"gtol": 1e-3 if start else 1e-6},
        )  # fmt: skip
        if best is None or optimum.fun < best.fun - 1e-9:
            best = optimum
        # Rounding may end the search a little before the wanted gradient.
        if float(np.abs(optimum.jac).max()) < 1e-2:
            break
    assert best is not None
    rater = float(best.x[1]) ** 2 if crossed else 0.0
    converged = float(np.abs(best.jac).max()) < 1e-2
    return _IccFit(float(best.x[0]) ** 2, rater, converged)


def _deviance(theta: Floats, sums: _IccSums) -> float:
    item = float(theta[0]) ** 2
    grown = 1 + item * sums.sizes
    left = _eliminated(sums, item / grown)
    deviance = float(sums.items @ np.log(grown))
    fixed = left[np.ix_((0, -1), (0, -1))]
    if theta.size > 1:
        rater = float(theta[1]) ** 2
        inner = np.eye(left.shape[0] - 2) + rater * left[1:-1, 1:-1]
        across = left[1:-1][:, (0, -1)]
        fixed = fixed - rater * across.T @ np.linalg.solve(inner, across)
        deviance += float(np.linalg.slogdet(inner)[1])
    information = max(float(fixed[0, 0]), 1e-300)
    free = sums.answers - 1
    rest = max(float(fixed[1, 1] - fixed[0, 1] ** 2 / information), 1e-300)
    return deviance + log(information) + free * (1 + log(2 * pi * rest / free))


def _interval(
    value: float, others: Sequence[float], unit: str, clusters: int, level: float
) -> Interval | str:
    """Compute the interval from the values without each group, or say why there is none."""
    size = len(others)
    if size < 3 or min(value, *others) < NO_VARIANCE:
        return AT_END
    moved = np.array([atanh(other) for other in others])
    error = sqrt((size - 1) / size * float(((moved - moved.mean()) ** 2).sum()))
    far = t_quantile(size - 1, level) * error
    name = JACKKNIFE.format(unit=unit, groups=size)
    details = {"df": size - 1, "clusters": clusters}
    low, high = tanh(atanh(value) - far), tanh(atanh(value) + far)
    return Interval(low, high, level, name, details, unit)
