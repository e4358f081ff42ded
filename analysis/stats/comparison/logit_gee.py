"""Odds ratios of a binary outcome by generalised estimating equations with a logit link."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import MISSING, Codes, Floats, as_column, check_length_of, check_level
from analysis.stats.columns import encode as encode_column
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate, Interval

Structure = Literal["exchangeable", "independence"]

NO_OUTCOME = "no outcome under this condition"
ALL_SAME = "every outcome under {name} is the same: the odds ratio has no bound"
ONE_CONDITION = "one condition only: nothing to compare"
FEW_TASKS = "{tasks} tasks for {columns} coefficients: too few to estimate errors"
NOT_CONVERGED = "the estimating equations did not converge"
OUT_OF_RANGE = (
    "the exchangeable correlation left its range: independence with robust errors was fitted"
)
NO_SCATTER = "tasks agree with the fit exactly: no interval"
NO_VARIANCE = 1e-16
ROUNDS = 60
MOST_CORRELATED = 0.99


@dataclass(frozen=True)
class OddsRatios:
    """Odds of success under each condition over those under the first.

    Attributes
    ----------
    ratios
        By condition, without the first; ``n`` counts tasks.
    correlation
        Working correlation of two outcomes on one task; None under independence.
    structure
        The working correlation of the fit; None where nothing could be fitted.
    rows
        Outcomes behind it.
    """

    ratios: Mapping[str, Estimate]
    correlation: float | None
    structure: Structure | None
    rows: int


@dataclass(frozen=True)
class LogitFit:
    """Coefficients, their covariance, and the working correlation."""

    beta: Floats
    covariance: Floats
    alpha: float


def odds_ratios(
    outcomes: Any,
    conditions: Sequence[str],
    models: Sequence[str],
    tasks: Sequence[Hashable],
    *,
    order: Sequence[str],
    structure: Structure = "exchangeable",
    level: float = 0.95,
) -> OddsRatios:
    """Fit the odds of success by condition, over all models, with tasks as clusters.

    Parameters
    ----------
    outcomes
        0 or 1; None and NaN are excluded and counted.
    conditions, models, tasks
        Of each outcome.
    order
        The conditions, the first the base.
    structure
        ``"exchangeable"``: any two outcomes on a task are equally correlated. ``"independence"``:
        ordinary logistic regression with the same errors.
    level
        Confidence level of the intervals.

    Raises
    ------
    ValueError
        If lengths differ, an outcome is neither 0 nor 1, or a condition is not in the order.

    Notes
    -----
    logit P(success) = model + condition, solved as Σ D'V⁻¹(y − μ) = 0 with V = A^½ R A^½,
    A = diag(μ(1 − μ)), R exchangeable with α = Σ_{pairs} r r' / (φ(P − p)) over the P pairs of one
    task, r the Pearson residuals, φ = Σ r²/(N − p), p columns (Liang & Zeger 1986, Biometrika
    73:13; as statsmodels computes them). Covariance by Mancl & DeRouen (2001, Biometrics 57:126):
    each task's residuals are multiplied by (I − H)⁻¹, which corrects errors that are too small
    with few tasks. Interval exp(b ± t(T − p)·SE), T tasks.

    An odds ratio is of the population: over tasks and models as they are, not of one task. It
    assumes that outcomes are missing completely at random and that conditions move all models'
    odds alike. Where the correlation leaves its range, independence with the same errors is fitted,
    with a warning. Undefined with one condition, where all outcomes of a condition (or all of the
    first) are the same, with no more tasks than coefficients, or where the fit does not converge;
    no interval where every task agrees with the fit. A
    model whose outcomes are all the same says nothing about conditions: left out and counted.
    """
    check_level(level)
    column = as_column(outcomes)
    for name, labels in (("conditions", conditions), ("models", models), ("tasks", tasks)):
        check_length_of(labels, column.size, name)
    unknown = set(conditions) - set(order)
    if unknown:
        raise ValueError(f"{min(unknown)!r} is not among the conditions {', '.join(order)}")
    kept = ~np.isnan(column)
    if not np.isin(column[kept], (0, 1)).all():
        raise ValueError("outcomes are 0 or 1")
    excluded = {MISSING: int((~kept).sum())} if not kept.all() else {}
    same = [
        model
        for model in dict.fromkeys(models)
        if np.ptp(column[kept & (np.array(models, dtype=object) == model)]) == 0
        if (kept & (np.array(models, dtype=object) == model)).any()
    ]
    if same:
        gone = kept & np.isin(np.array(models, dtype=object), same)
        kept &= ~gone
        excluded["of a model whose outcomes are all the same"] = int(gone.sum())
    y = column[kept]
    there = [value for value, keep in zip(conditions, kept, strict=True) if keep]
    who = [value for value, keep in zip(models, kept, strict=True) if keep]
    names, cluster = encode_column(task for task, keep in zip(tasks, kept, strict=True) if keep)
    undefined = _undefined(y, there, order)
    known = [name for name in order if name not in undefined]
    usable = np.array([value in known for value in there], dtype=bool)
    why = ""
    if len(order) < 2:
        why = ONE_CONDITION
    elif order[0] in undefined:
        why = undefined[order[0]]
    fit: LogitFit | None = None
    warnings: tuple[str, ...] = ()
    used = structure
    if not why and len(known) > 1:
        y, cluster = y[usable], encode_column(cluster[usable].tolist())[1]
        x = _design(
            [value for value, keep in zip(there, usable, strict=True) if keep],
            [value for value, keep in zip(who, usable, strict=True) if keep],
            known,
        )
        count = int(cluster.max()) + 1
        if count <= x.shape[1]:
            why = FEW_TASKS.format(tasks=count, columns=x.shape[1])
        else:
            fit, used, warnings = fit_logit(x, y, cluster, structure)
            if fit is None:
                why = NOT_CONVERGED
    ratios = {}
    for name in order[1:]:
        reason = why or undefined.get(name, "")
        if reason or fit is None:
            ratios[name] = Estimate.without_value(reason, n=len(names), excluded=excluded)
            continue
        place = known.index(name)
        b, variance = float(fit.beta[place]), float(fit.covariance[place, place])
        method = f"logit GEE, {used} working correlation"
        if not variance > NO_VARIANCE:
            ratios[name] = Estimate(
                exp(b), int(cluster.max()) + 1, no_interval=NO_SCATTER, excluded=excluded,
                warnings=warnings, method=method,
            )  # fmt: skip
            continue
        error = sqrt(variance)
        df = int(cluster.max()) + 1 - fit.beta.size
        half = t_quantile(df, level) * error
        interval = Interval(
            exp(b - half), exp(b + half), level, "t, Mancl & DeRouen, clustered by task", {"df": df}
        )
        ratios[name] = Estimate(
            exp(b),
            int(cluster.max()) + 1,
            interval,
            excluded=excluded,
            warnings=warnings,
            method=method,
        )
    correlation = fit.alpha if fit is not None and used == "exchangeable" else None
    return OddsRatios(ratios, correlation, used if fit is not None else None, int(y.size))


def _undefined(y: Floats, conditions: Sequence[str], order: Sequence[str]) -> dict[str, str]:
    """Return why conditions have no odds."""
    reasons = {}
    labels = np.array(conditions, dtype=object)
    for name in order:
        mine = y[labels == name]
        if not mine.size:
            reasons[name] = NO_OUTCOME
        elif np.ptp(mine) == 0:
            reasons[name] = ALL_SAME.format(name=name)
    return reasons


def _design(conditions: Sequence[str], models: Sequence[str], order: Sequence[str]) -> Floats:
    """Return the design's columns: ones, then each condition and each model but the first."""
    labels, who = np.array(conditions, dtype=object), np.array(models, dtype=object)
    columns = [np.ones(labels.size), *((labels == name).astype(float) for name in order[1:])]
    columns += [(who == name).astype(float) for name in list(dict.fromkeys(models))[1:]]
    return np.column_stack(columns)


def fit_logit(
    x: Floats, y: Floats, cluster: Codes, structure: Structure
) -> tuple[LogitFit | None, Structure, tuple[str, ...]]:
    """Fit logit P(y = 1) = xβ by generalised estimating equations, as `odds_ratios` describes.

    ``cluster`` numbers the clusters from 0. Returns the fit, or None where it does not converge;
    the working correlation that was used in the end; and a warning where another was asked for.
    """
    fit, in_range = _solve(x, y, cluster, structure)
    if structure == "exchangeable" and (fit is None or not in_range):
        return _solve(x, y, cluster, "independence")[0], "independence", (OUT_OF_RANGE,)
    return fit, structure, ()


def _solve(
    x: Floats, y: Floats, cluster: Codes, structure: Structure
) -> tuple[LogitFit | None, bool]:
    """Solve for β and α; whether α stayed within its range."""
    n = np.bincount(cluster).astype(float)
    pairs = float((n * (n - 1)).sum()) / 2
    lowest = MOST_CORRELATED * (-1 / (n.max() - 1) if n.max() > 1 else 0.0)
    beta, alpha = np.zeros(x.shape[1]), 0.0
    beta[0] = np.log(y.mean() / (1 - y.mean()))
    for _ in range(ROUNDS):
        mean = 1 / (1 + np.exp(-(x @ beta)))
        root = np.sqrt(mean * (1 - mean))
        scaled, residual = x * root[:, None], (y - mean) / root
        bread, scores = _sums(scaled, residual, cluster, n, alpha)
        try:
            step = np.linalg.solve(bread, scores.sum(axis=0))
        except np.linalg.LinAlgError:
            return None, True
        beta = beta + step
        if not np.isfinite(beta).all() or np.abs(beta).max() > 30:
            return None, True
        before, correlation = alpha, 0.0
        if structure == "exchangeable" and pairs > x.shape[1]:
            mean = 1 / (1 + np.exp(-(x @ beta)))
            residual = (y - mean) / np.sqrt(mean * (1 - mean))
            squares = float((residual**2).sum())
            scale = squares / (y.size - x.shape[1])
            within = float((np.bincount(cluster, weights=residual) ** 2).sum() - squares) / 2
            correlation = within / scale / (pairs - x.shape[1])
            alpha = min(MOST_CORRELATED, max(lowest, correlation))
        if np.abs(step).max() <= 1e-9 and abs(alpha - before) <= 1e-9:
            return LogitFit(
                beta, _covariance(x, y, cluster, beta, alpha), alpha
            ), alpha == correlation
    return None, True


def _sums(
    scaled: Floats, residual: Floats, cluster: Codes, n: Floats, alpha: float
) -> tuple[Floats, Floats]:
    """Compute D'V⁻¹D, and D'V⁻¹(y − μ) of every cluster, from R⁻¹ = (I − cJ)/(1 − α)."""
    shared = alpha / (1 + (n - 1) * alpha)
    totals = np.column_stack([np.bincount(cluster, weights=column) for column in scaled.T])
    left = np.bincount(cluster, weights=residual)
    bread = scaled.T @ scaled - (totals * shared[:, None]).T @ totals
    own = np.column_stack([np.bincount(cluster, weights=column * residual) for column in scaled.T])
    scores = own - totals * (shared * left)[:, None]
    return bread / (1 - alpha), scores / (1 - alpha)


def _covariance(x: Floats, y: Floats, cluster: Codes, beta: Floats, alpha: float) -> Floats:
    """Compute the sandwich of Mancl & DeRouen."""
    mean = 1 / (1 + np.exp(-(x @ beta)))
    root = np.sqrt(mean * (1 - mean))
    scaled, residual = x * root[:, None], (y - mean) / root
    n = np.bincount(cluster).astype(float)
    bread, _ = _sums(scaled, residual, cluster, n, alpha)
    inverse = np.linalg.inv(bread)
    order = np.argsort(cluster, kind="stable")
    meat = np.zeros_like(bread)
    for rows in np.split(order, np.cumsum(n.astype(int))[:-1]):
        d, r = scaled[rows], residual[rows]
        size = rows.size
        across = (np.eye(size) - alpha / (1 + (size - 1) * alpha)) / (1 - alpha)
        # In units of the residuals H is D B⁻¹ D'R⁻¹, with D scaled by the root of the variance.
        hat = d @ inverse @ d.T @ across
        u = d.T @ across @ np.linalg.solve(np.eye(size) - hat, r)
        meat += np.outer(u, u)
    covariance: Floats = inverse @ meat @ inverse
    return covariance
