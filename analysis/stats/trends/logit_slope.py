"""The change per turn of a yes-or-no outcome: odds ratio per turn by logit GEE."""

from collections.abc import Hashable, Sequence
from math import exp, sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import check_length_of, check_level, encode
from analysis.stats.comparison.logit_gee import (
    FEW_TASKS,
    NO_SCATTER,
    NO_VARIANCE,
    NOT_CONVERGED,
    Structure,
    fit_logit,
)
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate, Interval
from analysis.stats.trends.turn_series import NO_SLOPE, TurnSeries

ALL_SAME = "every outcome is the same: odds have no bound"


def logit_slope(
    agents: Sequence[str],
    tasks: Sequence[Hashable],
    trajectories: Sequence[Hashable],
    turns: Any,
    outcomes: Any,
    *,
    structure: Structure = "exchangeable",
    level: float = 0.95,
) -> Estimate:
    """Fit by which factor the odds of success change from one turn to the next.

    Parameters
    ----------
    agents, tasks, trajectories, turns
        Columns of equal length, one row per trajectory and turn.
    outcomes
        0 or 1; None and NaN are excluded and counted.
    structure
        ``"exchangeable"``: any two outcomes on a task are equally correlated. ``"independence"``:
        ordinary logistic regression with the same errors.
    level
        Confidence level of the interval.

    Returns
    -------
    Estimate
        Odds ratio per turn; ``n`` counts trajectories.

    Raises
    ------
    ValueError
        If lengths differ, an outcome is neither 0 nor 1, a trajectory has two rows for one turn, or
        two tasks.

    Notes
    -----
    logit P(success) = agent + b·turn, by `logit_gee.fit_logit` with tasks as clusters, Mancl &
    DeRouen's errors, and the interval exp(b ± t(T − p)·SE), T tasks and p columns. The ratio is of
    the population: over agents, tasks and trajectories as they are. It takes endings as completely
    at random, or as depending on what came before by the working correlation alone; where low
    scores end trajectories a mixed model of the scores themselves is to be read (`pooled`).
    Undefined where no trajectory has two turns, all outcomes are the same, there are no more tasks
    than columns, or the fit does not converge (an agent whose outcomes are all the same is left out
    and counted); no interval where every task agrees with the fit.
    """
    check_level(level)
    check_length_of(agents, len(trajectories), "agents")
    series = TurnSeries.of(list(zip(agents, trajectories, strict=True)), turns, outcomes)
    if not np.isin(series.score, (0, 1)).all():
        raise ValueError("outcomes are 0 or 1")
    names, rows = encode(agent for agent, keep in zip(agents, series.kept, strict=True) if keep)
    task = series.clusters(tasks)[series.code] if series.groups else series.code
    excluded = dict(series.excluded)
    varied = [place for place in range(len(names)) if np.ptp(series.score[rows == place])]
    kept = np.isin(rows, varied)
    if varied and not kept.all():
        excluded["of an agent whose outcomes are all the same"] = int((~kept).sum())
    n = int(np.unique(series.code[kept]).size)

    def nothing(reason: str) -> Estimate:
        return Estimate.without_value(reason, n=n, excluded=excluded)

    if not series.repeated:
        return nothing(NO_SLOPE)
    if not varied:
        return nothing(ALL_SAME)
    turn, cluster = series.turn[kept], encode(task[kept].tolist())[1]
    dummies = [(rows[kept] == place).astype(float) for place in varied[1:]]
    x = np.column_stack([np.ones_like(turn), turn - turn.mean(), *dummies])
    count = int(cluster.max()) + 1
    if count <= x.shape[1] or not np.ptp(turn):
        return nothing(FEW_TASKS.format(tasks=count, columns=x.shape[1]))
    fit, used, warnings = fit_logit(x, series.score[kept], cluster, structure)
    if fit is None:
        return nothing(NOT_CONVERGED)
    b, variance = float(fit.beta[1]), float(fit.covariance[1, 1])
    method = f"logit GEE, {used} working correlation"
    if not variance > NO_VARIANCE:
        return Estimate(exp(b), n, no_interval=NO_SCATTER, excluded=excluded, method=method)
    df = count - x.shape[1]
    half = t_quantile(df, level) * sqrt(variance)
    name = "t, Mancl & DeRouen, clustered by task"
    interval = Interval(exp(b - half), exp(b + half), level, name, {"df": df, "clusters": count})
    return Estimate(exp(b), n, interval, excluded=excluded, warnings=warnings, method=method)
