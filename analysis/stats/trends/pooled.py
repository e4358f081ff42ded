"""One change per turn of several agents together, and each agent's own, shrunken towards it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Codes, check_length_of, check_level, encode
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate, Interval
from analysis.stats.trends.mixed_models import (
    ENOUGH,
    FEW,
    NO_PROFILE,
    NONE_LEFT,
    ON_LINES,
    ONE_TRAJECTORY,
    TOO_FEW_SCORES,
    UNCONVERGED,
    within_lines,
)
from analysis.stats.trends.reml import (
    LineFit,
    RandomParts,
    Scaling,
    fit_lines,
    line_sums,
    profile_error,
)
from analysis.stats.trends.turn_series import NO_SLOPE, TurnSeries

AgentEffect = Literal["random", "fixed", "none"]

# Two agents say next to nothing about how much agents differ, so their variance is not estimated.
FEWEST_AGENTS = 3
FEWEST_TASKS = 3
ONE_AGENT = "one agent only: the slope is this agent's"
TWO_AGENTS = (
    "two agents have fixed effects, and the slope is the mean of theirs: a variance between two "
    "agents cannot be estimated, so nothing follows for other agents"
)
NO_VARIANCE = "the variance of {parts} is estimated as 0"
PARTS = {
    "agent": ("agents' levels", "agents' slopes"),
    "task": ("tasks' levels", "tasks' slopes"),
    "own": ("trajectories' levels", "trajectories' slopes"),
}


@dataclass(frozen=True)
class PooledSlope:
    """The mean change per turn over agents, tasks and trajectories.

    Attributes
    ----------
    slope
        Points of the scale per turn; ``n`` counts trajectories.
    error, df, p_value
        Standard error, degrees of freedom and two-sided p of slope = 0, as the interval has them.
    agents
        Each agent's own change per turn, shrunken towards ``slope``, with an interval of the
        prediction; empty where agents have no random effects.
    effect
        What agents are in the model: ``"random"`` from three on, ``"fixed"`` where there are two.
    tasks
        Whether tasks have random effects.
    zero
        The random parts whose variance is estimated as 0, in words.
    sd_agents, sd_tasks, sd_trajectories
        Standard deviations of slopes (points per turn); None where the model has no such part.
    scores
        Scores behind it.
    converged
        None where nothing could be fitted.
    """

    slope: Estimate
    error: float | None = None
    df: float | None = None
    p_value: float | None = None
    agents: Mapping[str, Estimate] | None = None
    effect: AgentEffect = "none"
    tasks: bool = False
    zero: tuple[str, ...] = ()
    sd_agents: float | None = None
    sd_tasks: float | None = None
    sd_trajectories: float | None = None
    scores: int = 0
    converged: bool | None = None


def pooled_slope(
    agents: Sequence[str],
    tasks: Sequence[Hashable],
    trajectories: Sequence[Hashable],
    turns: Any,
    scores: Any,
    *,
    level: float = 0.95,
) -> PooledSlope:
    """Fit score = a + b·turn + random effects of agent, task and trajectory + error.

    Parameters
    ----------
    agents, tasks, trajectories, turns, scores
        Columns of equal length, one row per trajectory and turn; None and NaN are no scores. A
        trajectory has one agent and one task; the same identifier under two agents means two.
    level
        Confidence level of the intervals.

    Raises
    ------
    ValueError
        If lengths differ, a trajectory has two rows for one turn, or two tasks.

    Notes
    -----
    Trajectories have correlated intercepts and slopes; agents and tasks have intercepts and slopes
    that do not correlate, with turns counted from their mean (a correlation of a few agents cannot
    be estimated). With slopes of agents and tasks the question is whether agents like these fall on
    tasks like these, and a single agent or task that does cannot answer it alone (Barr, Levy,
    Scheepers & Tily 2013, J. Mem. Lang. 68:255). Fitted by `reml.fit_lines`.

    Interval b ± t(df)·SE, SE being the larger of σ²(X'V⁻¹X)⁻¹ and `reml.profile_error`, which
    allows for endings that depend on scores. df are Satterthwaite's, from the curvature of the
    restricted likelihood (Giesbrecht & Burns 1985, Biometrics 41:477), at least the smallest number
    of agents, tasks and trajectories that are random, minus 1, and at most the number of
    trajectories with two scored turns, minus 1; where agents' slopes vary they are near the number
    of agents.

    Agents: b + the predicted deviation of each, with the t interval of the prediction
    (`reml.fit_lines`), its df being the agent's trajectories minus 1. Shrunken: the less an agent's
    scores tell, the nearer it lies to b.

    From three agents on their effects are random; two are fixed and b is the mean of both; with one
    there is none. Tasks have effects where there are three or more and a task has several
    trajectories: else a task is its trajectory. Trajectories have random intercepts alone where
    none has three scored turns. Undefined where no trajectory has two scored turns, with one
    trajectory, or as many trajectories as scores; no interval where all lie on parallel lines.
    """
    check_level(level)
    for name, column in (("agents", agents), ("tasks", tasks)):
        check_length_of(column, len(trajectories), name)
    series = TurnSeries.of(list(zip(agents, trajectories, strict=True)), turns, scores)
    agent_names, agent = _owners(series, agents)
    task = encode(series.clusters(tasks).tolist())[1]
    why = ""
    if not series.repeated:
        why = NO_SLOPE
    elif series.groups == 1:
        why = ONE_TRAJECTORY
    elif series.score.size <= series.groups + 1:
        why = TOO_FEW_SCORES
    if why:
        nothing = Estimate.without_value(why, n=series.groups, excluded=series.excluded)
        return PooledSlope(nothing, scores=int(series.score.size))
    within, parallel, own_lines = within_lines(series)
    if parallel:
        line = Estimate(within, series.groups, no_interval=ON_LINES, excluded=series.excluded)
        return PooledSlope(line, scores=int(series.score.size))
    several = int(task.max()) + 1
    effect: AgentEffect = "none"
    if len(agent_names) >= FEWEST_AGENTS:
        effect = "random"
    elif len(agent_names) == 2 and all(_has_slope(series, agent == side) for side in (0, 1)):
        effect = "fixed"
    parts = RandomParts(
        slopes=int(np.bincount(series.code).max()) > 2 and not own_lines,
        tasks=FEWEST_TASKS <= several < series.groups,
        agents=effect == "random",
    )
    scaling = Scaling.of(series)
    sums = line_sums(
        series,
        scaling,
        agents=None if effect == "none" else agent,
        tasks=task if parts.tasks else None,
        fixed=effect == "fixed",
    )
    fit = fit_lines(sums, parts)
    curved = profile_error(sums, parts, fit, column=1) if fit.converged else None
    return _in_points(
        fit, curved, series, scaling, parts, effect, agent_names, agent, several, level
    )


def _owners(series: TurnSeries, agents: Sequence[str]) -> tuple[tuple[str, ...], Codes]:
    """Return the agents that have a score, and the agent of each trajectory."""
    names, rows = encode(agent for agent, keep in zip(agents, series.kept, strict=True) if keep)
    owner = np.zeros(series.groups, dtype=np.int64)
    owner[series.code] = rows
    return names, owner


def _has_slope(series: TurnSeries, mine: Any) -> bool:
    """Return whether these trajectories have scores at two turns of one of them."""
    return bool((np.bincount(series.code)[mine] > 1).any())


def _in_points(
    fit: LineFit,
    curved: float | None,
    series: TurnSeries,
    scaling: Scaling,
    parts: RandomParts,
    effect: AgentEffect,
    names: tuple[str, ...],
    owner: Codes,
    tasks: int,
    level: float,
) -> PooledSlope:
    """Undo the standardisation, and draw the intervals."""
    from scipy.special import stdtr  # slow to import, and not every page needs it

    unit = scaling.slope
    slope = float(fit.beta[1]) * unit
    error = max(sqrt(float(fit.covariance[1, 1])), curved or 0.0) * unit
    # Satterthwaite's df lie between the smallest of the parts' df and their sum; where a variance
    # is near 0 the curvature is too flat to say, and would give less.
    levels = [series.repeated]
    levels += [len(names)] if parts.agents else []
    levels += [tasks] if parts.tasks else []
    df = min(max(1.0, min(levels) - 1.0, fit.df), max(1.0, series.repeated - 1.0))
    warnings: tuple[str, ...] = () if fit.converged else (UNCONVERGED,)
    if fit.converged and curved is None:
        warnings = (*warnings, NO_PROFILE)
    if series.groups < ENOUGH:
        warnings = (*warnings, FEW.format(n=series.groups))
    if effect == "fixed":
        warnings = (*warnings, TWO_AGENTS)
    elif effect == "none" and len(names) == 1:
        warnings = (*warnings, ONE_AGENT)

    def interval(value: float, error: float, df: float, method: str) -> Interval:
        half = t_quantile(df, level) * error
        details = {"clusters": series.groups, "df": round(df)}
        return Interval(value - half, value + half, level, method, details)

    agents = {
        name: Estimate(
            float(own) * unit,
            int(size),
            interval(
                float(own) * unit, float(spread) * unit, max(1.0, size - 1.0), "t, prediction"
            ),
        )
        for name, own, spread, size in zip(
            names, fit.agents, fit.agent_errors, np.bincount(owner), strict=False
        )
    }

    def sd(covariance: Any) -> float:
        return sqrt(max(0.0, fit.variance * float(covariance[1, 1]))) * unit

    estimate = Estimate(
        slope,
        series.groups,
        interval(slope, error, df, "t, curvature of the likelihood, Satterthwaite's df"),
        excluded=series.excluded,
        warnings=warnings,
        method=_method(parts, effect),
    )
    return PooledSlope(
        estimate,
        error,
        df,
        float(2 * stdtr(df, -abs(slope) / error)),
        agents if effect == "random" else None,
        effect,
        parts.tasks,
        _zero(fit, parts),
        sd(fit.agent) if parts.agents else None,
        sd(fit.task) if parts.tasks else None,
        sd(fit.own) if parts.slopes else None,
        int(series.score.size),
        fit.converged,
    )


def _method(parts: RandomParts, effect: AgentEffect) -> str:
    crossed = [name for name, there in (("agents", parts.agents), ("tasks", parts.tasks)) if there]
    own = "intercepts and slopes" if parts.slopes else "intercepts"
    words = [f"random intercepts and slopes of {' and '.join(crossed)}"] if crossed else []
    if effect == "fixed":
        words.append("fixed intercepts and slopes of two agents")
    return f"linear mixed model, {', '.join([*words, f'random {own} of trajectories'])}, REML"


def _zero(fit: LineFit, parts: RandomParts) -> tuple[str, ...]:
    """Return the random parts without variance, as lme4's isSingular counts them."""
    there = (
        ("agent", fit.agent, parts.agents, parts.agents),
        ("task", fit.task, parts.tasks, parts.tasks),
        ("own", fit.own, True, parts.slopes),
    )
    zeros: list[str] = []
    for key, covariance, levels, slopes in there:
        for place, asked in enumerate((levels, slopes)):
            if asked and covariance[place, place] < NONE_LEFT**2:
                zeros.append(PARTS[key][place])
    return tuple(zeros)
