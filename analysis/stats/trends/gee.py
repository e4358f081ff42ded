"""The slope over turns by generalised estimating equations, with sandwich errors."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np

from analysis.stats.columns import Codes, Floats, check_level
from analysis.stats.results import Estimate, Interval
from analysis.stats.trends.turn_series import NO_SLOPE, TurnSeries

Structure = Literal["exchangeable", "independence"]

ONE_UNIT = "one {unit} only: no interval"
NO_SCATTER = "the scores lie exactly on the fitted line: no interval"
SAME_SLOPE = "every {unit} agrees with the line exactly as the others do: no interval"
NOT_CONVERGED = "the exchangeable fit did not converge: independence with robust errors was fitted"
OUT_OF_RANGE = (
    "the exchangeable correlation left its range: independence with robust errors was fitted"
)
FEW = "only {n} {unit}: sandwich errors are too small below about 40"
# Mancl & DeRouen 2001, Biometrics 57:126: the bias that they correct is felt below about 40.
ENOUGH = 40
ROUNDS = 100
# A correlation this near the ends of its range gives one trajectory all the weight.
MOST_CORRELATED = 0.99


@dataclass(frozen=True)
class GeeSlope:
    """A fitted line over turns.

    Attributes
    ----------
    slope
        Change per turn, in points of the scale; ``n`` counts trajectories, ``method`` is in words.
    intercept
        Fitted score at turn 0, one before the first.
    error
        Standard error of the slope (sandwich).
    correlation
        Working correlation of two scores of one trajectory; None under independence.
    structure
        The working correlation of the fit that is given: ``"independence"`` also where the
        exchangeable one could not be fitted, with a warning on the slope.
    scores
        Scores behind it.
    converged
        Whether the equations with the structure asked for were solved; None where nothing could
        be fitted.
    """

    slope: Estimate
    intercept: float | None
    error: float | None
    correlation: float | None
    structure: Structure
    scores: int
    converged: bool | None


class _Sums(NamedTuple):
    """Sums over the scored turns of each trajectory; turns are counted from their mean."""

    code: Codes
    turn: Floats
    score: Floats
    n: Floats
    t: Floats
    tt: Floats
    y: Floats
    ty: Floats


def gee_slope(
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
    *,
    structure: Structure = "exchangeable",
    tasks: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> GeeSlope:
    """Fit a straight line over turns, with errors that allow for dependence.

    Parameters
    ----------
    trajectories, turns, scores
        Columns of equal length, one row per trajectory and turn; None and NaN are no scores.
    structure
        ``"exchangeable"``: any two scores of a trajectory are equally correlated.
        ``"independence"``: least squares, with the same errors. It lets trajectories that last
        pull the line up where good ones last longer; it is here to be compared with.
    tasks
        Task of each row, where several trajectories share one: errors are then clustered by task.
    level
        Confidence level of the Wald interval.

    Returns
    -------
    GeeSlope
        Slopes in points of the scale per turn.

    Raises
    ------
    ValueError
        If lengths differ, a trajectory has two rows for one turn, or two tasks.

    Notes
    -----
    β solves Σ_i X_i'R_i⁻¹(y_i − X_iβ) = 0 with rows (1, t) in X_i and the working correlation
    R_i = (1 − α)I + αJ; α is the mean product of two residuals of one trajectory, over all pairs,
    divided by the mean square φ of all residuals. Both are solved in turn until β stands still.
    Sandwich covariance B⁻¹MB⁻¹, B = Σ X_i'R_i⁻¹X_i, M = Σ u u' with u = X_i'R_i⁻¹(y_i − X_iβ)
    summed over each trajectory (or task), without a correction for small samples; interval
    b ± z·SE. Liang & Zeger 1986, Biometrika 73:13; Halekoh, Højsgaard & Yan 2006, J. Stat. Softw.
    15:2 (geepack, whose values these are).

    An exchangeable correlation is possible between −1/(n − 1), n being the most scores of one
    trajectory, and 1. Where α would leave that range, or comes within 1 % of its ends, the
    trajectory with most scores would decide the line alone (1 + (n − 1)α divides its weight).
    The line is then fitted under independence with the same errors, and a warning says so; the
    same where the equations do not converge.

    The errors hold even if the working correlation is wrong. The slope holds if trajectories end
    completely at random; with the exchangeable structure endings that depend on earlier scores
    bias it little, under independence much. Undefined where no trajectory has two scored turns; no
    interval from one trajectory (or task), nor where nothing scatters. A warning below 40
    trajectories (or tasks), where sandwich errors are too small.
    """
    check_level(level)
    if structure not in ("exchangeable", "independence"):
        raise ValueError(f"unknown working correlation {structure!r}")
    series = TurnSeries.of(trajectories, turns, scores)
    unit = "trajectory" if tasks is None else "task"
    cluster = series.clusters(tasks)
    middle = float(series.turn.mean()) if series.repeated else 0.0
    sums = _sums(series, middle)
    converged: bool | None = None
    warnings: tuple[str, ...] = ()
    if series.repeated:
        beta, alpha, why = _solve(sums, structure)
        converged = why != NOT_CONVERGED
        if why:
            structure, warnings = "independence", (why,)
            beta, alpha, _ = _solve(sums, structure)
    method = f"GEE, {structure} working correlation, errors clustered by {unit}, Wald z"

    def result(slope: Estimate, *rest: Any) -> GeeSlope:
        intercept, error, alpha = rest or (None,) * 3
        return GeeSlope(
            slope, intercept, error, alpha, structure, int(series.score.size), converged
        )

    if not series.repeated:
        nothing = Estimate.without_value(
            NO_SLOPE, n=series.groups, excluded=series.excluded, method=method
        )
        return result(nothing)
    spread, size = float(np.ptp(series.score)), float(np.abs(series.score).max())
    if spread == 0:
        beta = np.array([series.score[0], 0.0])  # exactly, not but for a rounding error
    slope, intercept = float(beta[1]), float(beta[0] - beta[1] * middle)
    bread, scored = _equations(sums, beta, alpha)
    units = int(cluster.max()) + 1
    parts = np.column_stack([np.bincount(cluster, weights=column) for column in scored.T])
    inverse = np.linalg.inv(bread)
    error = sqrt(max(0.0, float((inverse @ (parts.T @ parts) @ inverse)[1, 1])))
    shown = alpha if structure == "exchangeable" else None
    why = ""
    if units == 1:
        why = ONE_UNIT.format(unit=unit)
    elif error <= 1e-12 * max(size, spread):
        off = np.abs(series.score - intercept - slope * series.turn).max()
        flat = off <= 1e-12 * max(size, spread)
        why = NO_SCATTER if flat else SAME_SLOPE.format(unit=unit)
    if why:
        estimate = Estimate(
            slope,
            series.groups,
            no_interval=why,
            excluded=series.excluded,
            warnings=warnings,
            method=method,
        )
        return result(estimate, intercept, None, shown)
    if units < ENOUGH:
        plural = "trajectories" if tasks is None else "tasks"
        warnings = (*warnings, FEW.format(n=units, unit=plural))
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    interval = Interval(
        slope - half, slope + half, level, f"Wald z, clustered by {unit}", {"clusters": units}
    )
    estimate = Estimate(
        slope, series.groups, interval, excluded=series.excluded, warnings=warnings, method=method
    )
    return result(estimate, intercept, error, shown)


def _sums(series: TurnSeries, middle: float) -> _Sums:
    code, turn, score = series.code, series.turn - middle, series.score

    def total(weights: Floats | None) -> Floats:
        sums: Floats = np.bincount(code, weights=weights, minlength=series.groups).astype(float)
        return sums

    return _Sums(
        code, turn, score, total(None), total(turn), total(turn * turn), total(score),
        total(turn * score),
    )  # fmt: skip


def _equations(sums: _Sums, beta: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Return B, and u of every trajectory; both times 1 − α, which cancels."""
    shared = alpha / (1 + (sums.n - 1) * alpha)
    count = sums.n - shared * sums.n**2
    cross = sums.t - shared * sums.n * sums.t
    square = sums.tt - shared * sums.t**2
    first = sums.y - shared * sums.n * sums.y
    second = sums.ty - shared * sums.t * sums.y
    scored = np.column_stack(
        [
            first - count * beta[0] - cross * beta[1],
            second - cross * beta[0] - square * beta[1],
        ]
    )
    bread = np.array([[count.sum(), cross.sum()], [cross.sum(), square.sum()]])
    return bread, scored


def _solve(sums: _Sums, structure: Structure) -> tuple[Floats, float, str]:
    """Solve for β and α; the last is why the exchangeable fit must not be used, or empty."""
    beta, alpha = np.zeros(2), 0.0
    lowest = -1 / (sums.n.max() - 1) if sums.n.max() > 1 else 0.0
    pairs = float((sums.n * (sums.n - 1)).sum()) / 2
    for _ in range(ROUNDS):
        bread, scored = _equations(sums, beta, alpha)
        step = np.linalg.solve(bread, scored.sum(axis=0))
        beta = beta + step
        if structure == "independence":
            return beta, 0.0, ""
        residual = sums.score - beta[0] - beta[1] * sums.turn
        squares = residual * residual
        scale = float(squares.mean())
        if scale <= 1e-24 * max(1.0, float((sums.score**2).max())):
            return beta, 0.0, ""
        within = np.bincount(sums.code, weights=residual) ** 2
        estimate = float((within.sum() - squares.sum()) / 2 / pairs / scale)
        before, alpha = alpha, min(MOST_CORRELATED, max(MOST_CORRELATED * lowest, estimate))
        settled = np.abs(step).max() <= 1e-10 * max(1.0, float(np.abs(beta).max()))
        if settled and abs(alpha - before) <= 1e-10:
            return beta, alpha, OUT_OF_RANGE if alpha != estimate else ""
    return beta, alpha, NOT_CONVERGED
