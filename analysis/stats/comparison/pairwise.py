"""Strengths of agents from comparisons of two at a time: Bradley–Terry with ties, by Davidson."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.stats import t

from analysis.stats.columns import Codes, Floats, check_length_of, check_level, encode
from analysis.stats.results import Estimate, Interval

METHOD = "Bradley–Terry with ties (Davidson), jackknife by cluster"
# Outcomes of a comparison.
FIRST, TIE, SECOND = 0, 1, 2
SEPARATED = "some agents never lost to the others, so no finite strength is the most likely one"
UNLINKED = "some agents were not compared with the others, not even by way of third ones"
ALL_TIES = "every comparison is a tie"
ONE_CLUSTER = "one cluster only: no interval"
ONE_LINK = "agents are linked by one cluster alone: no interval"
_STEPS, _CLOSE = 100, 1e-10


@dataclass(frozen=True)
class StrengthDifference:
    """The difference of two log-strengths, with the p-value of no difference."""

    estimate: Estimate
    p_value: float | None


@dataclass(frozen=True)
class PairwiseStrengths:
    """Log-strengths by agent, their mean 0, and their differences (first minus second).

    ``preferred`` is the probability of being preferred to an agent of mean strength where there is
    no tie, 1/(1 + exp(−strength)). ``tie`` is the probability of a tie between agents of equal
    strength. ``undefined`` is why there is nothing else.
    """

    agents: tuple[Hashable, ...]
    strengths: Mapping[Hashable, Estimate]
    preferred: Mapping[Hashable, Estimate]
    differences: Mapping[tuple[Hashable, Hashable], StrengthDifference]
    tie: Estimate
    comparisons: int
    clusters: int
    undefined: str = ""


def bradley_terry(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    outcomes: Sequence[int],
    clusters: Sequence[Hashable],
    *,
    unit: str = "task",
    level: float = 0.95,
) -> PairwiseStrengths:
    """Estimate strengths from comparisons.

    Parameters
    ----------
    first, second
        The two agents of each comparison.
    outcomes
        0 if the first was preferred, 1 for a tie, 2 if the second was.
    clusters
        What is taken as independent, such as the task of each comparison. Comparisons of one task
        by several people are not independent of each other.
    unit
        What a cluster is, in a word.
    level
        The level of the intervals.

    Notes
    -----
    P(i preferred), P(j preferred) and P(tie) are as exp(θᵢ), exp(θⱼ) and ν·exp((θᵢ + θⱼ)/2). A tie
    is an outcome of its own, so it moves two agents together as far as it is informative; counting
    it as half a win for each gives the same order in a balanced design, and has no likelihood.
    Without ties it is Bradley and Terry's model. Fitted by Newton's method, the θ summing to 0.
    Undefined where a linear program finds that the likelihood has no finite top, as where an agent
    never lost, or where agents were never compared (Albert and Anderson 1984, Biometrika 71:1).

    Intervals and tests: covariance by a jackknife over clusters of one Newton step each, and t with
    clusters − 1 degrees of freedom. Davidson 1970, J. Am. Stat. Assoc. 65:317; Bradley and Terry
    1952, Biometrika 39:324; Bell and McCaffrey 2002, Surv. Methodol. 28:169 (the jackknife).
    """
    check_level(level)
    for name, column in (("second", second), ("outcomes", outcomes), ("clusters", clusters)):
        check_length_of(column, len(first), name)
    result = np.asarray(outcomes, dtype=np.int64)
    if not np.isin(result, (FIRST, TIE, SECOND)).all():
        raise ValueError("an outcome is 0 (first), 1 (tie) or 2 (second)")
    agents, codes = encode([*first, *second])
    one, two = codes[: len(first)], codes[len(first) :]
    if (one == two).any():
        raise ValueError("an agent is compared with itself")
    names, group = encode(clusters)
    features = _features(len(agents), one, two, ties=bool((result == TIE).any()))
    picked = result if features.shape[1] == 3 else result // 2
    reason = "no comparison" * (not len(first)) or ALL_TIES * bool((result == TIE).all())
    reason = reason or _without_top(features, picked)
    if reason:
        nothing = Estimate.without_value(reason, n=len(first), method=METHOD)
        return PairwiseStrengths(
            agents, dict.fromkeys(agents, nothing), dict.fromkeys(agents, nothing), {}, nothing,
            len(first), len(names), reason,
        )  # fmt: skip
    chosen = features[np.arange(len(result)), picked]
    fitted = _fit(features, chosen, len(agents))
    covariance, why = _covariance(features, chosen, fitted, group, len(names), len(agents))
    counts = np.bincount(codes, minlength=len(agents))
    spread = _Spread(fitted, covariance, why, len(names), unit, level)
    weights = np.eye(len(fitted))
    strengths = {
        agent: spread.estimate(weights[place], int(counts[place]))
        for place, agent in enumerate(agents)
    }
    differences = {
        (agents[i], agents[j]): spread.difference(
            weights[i] - weights[j], int(((one == i) & (two == j) | (one == j) & (two == i)).sum())
        )
        for i in range(len(agents))
        for j in range(len(agents))
        if i < j
    }
    if features.shape[1] == 2:
        tie = Estimate(0.0, len(first), no_interval="no tie", method=METHOD)
    else:
        tie = _mapped(spread.estimate(weights[-1], len(first)), _tie_share)
    return PairwiseStrengths(
        agents, strengths, {agent: _mapped(row, _logistic) for agent, row in strengths.items()},
        differences, tie, len(first), len(names),
    )  # fmt: skip


def _without_top(features: Floats, chosen: Codes) -> str:
    """Return why the likelihood has no single finite top; empty where it has one.

    It is flat where groups of agents were never compared. It has no finite top if some direction
    of the parameters favours, in every comparison, its own outcome at least as much as each other
    one, and somewhere more: found by linear programming.
    """
    own = features[np.arange(len(chosen)), chosen]
    gains = np.unique((own[:, None, :] - features).reshape(-1, features.shape[2]), axis=0)
    rows, size = gains.shape
    if np.linalg.matrix_rank(gains) < size - 1:
        return UNLINKED
    # Unknowns: a direction, and for each row how much of its gain counts, at most 1.
    solved = linprog(
        np.r_[np.zeros(size), -np.ones(rows)],
        A_ub=np.hstack([-gains, np.eye(rows)]),
        b_ub=np.zeros(rows),
        bounds=[(None, None)] * size + [(0, 1)] * rows,
    )
    return SEPARATED if solved.fun is None or solved.fun < -1e-6 else ""


def _features(agents: int, one: Codes, two: Codes, *, ties: bool) -> Floats:
    """Return comparison × outcome × parameter: how often each parameter is in an outcome's logit.

    Parameters are the strengths, and last the logarithm of ν where there are ties.
    """
    rows = np.arange(len(one))
    features = np.zeros((len(one), 2 + ties, agents + ties))
    features[rows, 0, one] = 1.0
    features[rows, -1, two] = 1.0
    if ties:
        features[rows, 1, one] = features[rows, 1, two] = 0.5
        features[:, 1, -1] = 1.0
    return features


def _fit(features: Floats, chosen: Floats, agents: int) -> Floats:
    fitted = np.zeros(features.shape[2])
    for _ in range(_STEPS):
        gradient, hessian = _derivatives(features, chosen, fitted)
        step = np.linalg.solve(_anchored(hessian.sum(axis=0), agents), gradient.sum(axis=0))
        # The likelihood is concave; a long first step may pass over its top.
        fitted = fitted + step / max(1.0, float(np.abs(step).max()) / 2.0)
        if float(np.abs(step).max()) < _CLOSE:
            break
    fitted[:agents] -= fitted[:agents].mean()
    return fitted


def _derivatives(features: Floats, chosen: Floats, fitted: Floats) -> tuple[Floats, Floats]:
    """Return the gradient and the information of each comparison."""
    logits = features @ fitted
    logits -= logits.max(axis=1, keepdims=True)
    chances = np.exp(logits)
    chances /= chances.sum(axis=1, keepdims=True)
    mean = np.einsum("ro,rop->rp", chances, features)
    apart = features - mean[:, None, :]
    return chosen - mean, np.einsum("ro,rop,roq->rpq", chances, apart, apart)


def _anchored(information: Floats, agents: int) -> Floats:
    """Return an information matrix that keeps the sum of the strengths where it is."""
    fixed = information.copy()
    fixed[..., :agents, :agents] += 1.0
    return fixed


def _covariance(
    features: Floats, chosen: Floats, fitted: Floats, group: Codes, clusters: int, agents: int
) -> tuple[Floats | None, str]:
    """Return the covariance of the parameters by leaving each cluster out, or why there is none."""
    if clusters < 2:
        return None, ONE_CLUSTER
    gradient, hessian = _derivatives(features, chosen, fitted)
    size = len(fitted)
    scores, information = np.zeros((clusters, size)), np.zeros((clusters, size, size))
    np.add.at(scores, group, gradient)
    np.add.at(information, group, hessian)
    without = _anchored(information.sum(axis=0) - information, agents)
    if (np.linalg.cond(without) > 1e10).any():
        return None, ONE_LINK
    moved = np.linalg.solve(without, scores[:, :, None])[:, :, 0]
    moved -= moved.mean(axis=0)
    return (clusters - 1) / clusters * moved.T @ moved, ""


@dataclass(frozen=True)
class _Spread:
    """Estimates of linear combinations of the parameters, with their intervals."""

    fitted: Floats
    covariance: Floats | None
    why: str
    clusters: int
    unit: str
    level: float

    def estimate(self, weights: Floats, n: int) -> Estimate:
        value, error = float(weights @ self.fitted), self._error(weights)
        if error is None:
            return Estimate(value, n, no_interval=self.why or "all clusters alike", method=METHOD)
        reach = float(t.ppf((1 + self.level) / 2, self.clusters - 1)) * error
        details = {"clusters": self.clusters, "df": self.clusters - 1}
        interval = Interval(value - reach, value + reach, self.level, METHOD, details, self.unit)
        return Estimate(value, n, interval, method=METHOD)

    def difference(self, weights: Floats, n: int) -> StrengthDifference:
        row, error = self.estimate(weights, n), self._error(weights)
        if error is None or row.value is None:
            return StrengthDifference(row, None)
        return StrengthDifference(row, float(2 * t.sf(abs(row.value) / error, self.clusters - 1)))

    def _error(self, weights: Floats) -> float | None:
        if self.covariance is None:
            return None
        variance = float(weights @ self.covariance @ weights)
        return float(np.sqrt(variance)) if variance > 1e-20 else None


def _mapped(row: Estimate, function: Any) -> Estimate:
    """Return an estimate on another scale, by an increasing function of its value and ends."""
    assert row.value is not None
    interval = row.interval and replace(
        row.interval, low=function(row.interval.low), high=function(row.interval.high)
    )
    return replace(row, value=function(row.value), interval=interval)


def _logistic(strength: float) -> float:
    return float(1 / (1 + np.exp(-strength)))


def _tie_share(log_nu: float) -> float:
    """Return the probability of a tie between equals, ν/(2 + ν)."""
    return float(1 / (1 + 2 * np.exp(-log_nu)))
