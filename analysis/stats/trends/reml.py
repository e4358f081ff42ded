"""Lines over turns with random effects of trajectories, tasks and agents, fitted by REML.

The cost of a fit does not grow with the scores. The likelihood depends on sums over a trajectory's
turns alone, and trajectories scored on the same turns have the same matrices: they are taken
together as a *pattern*. Trajectories are eliminated pattern by pattern, tasks by blocks of 2 × 2;
what is left is one small dense system of the agents and the fixed effects.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import log, pi, sqrt

import numpy as np

from analysis.stats.columns import Codes, Floats, as_floats
from analysis.stats.trends.turn_series import TurnSeries

# How far a profile is followed to each side, in standard errors.
STEP = 1.5
SMALL = 1e-300


@dataclass(frozen=True)
class LineSums:
    """Sums of products of B = (1, turn) and scores, by pattern of turns and by task and agent.

    Attributes
    ----------
    gram
        B'B of one trajectory of each pattern (P × 2 × 2).
    design
        T of each pattern: its trajectories have the fixed effects' columns X = B T (P × 2 × p).
    count, total, outer
        Of each pattern: trajectories (P), the sum of B'y over them (P × 2), and that of B'y y'B
        (P × 2 × 2).
    squares, scores
        Sum of squared scores, and how many scores there are.
    pattern, trajectories, sums
        Pattern, number of trajectories and sum of B'y of every entry: what one agent has of one
        pattern on one task. Entries are ordered by task, then by agent.
    agent, task
        Agent and task of every entry, from 0.
    agents, tasks
        Their numbers; 0 where agents, or tasks, have no random effects.
    """

    gram: Floats
    design: Floats
    count: Floats
    total: Floats
    outer: Floats
    squares: float
    scores: int
    pattern: Codes
    trajectories: Floats
    sums: Floats
    agent: Codes
    task: Codes
    agents: int = 0
    tasks: int = 0

    @cached_property
    def starts(self) -> Codes:
        """The first entry of every task and agent that occur together."""
        cell = self.task * max(1, self.agents) + self.agent
        return np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])

    def shifted(self, column: int, by: float) -> "LineSums":
        """Return the sums of y − by·x, where x is one of the fixed columns, which is left out.

        Sums are linear or quadratic in y, so no score is read again.
        """
        away = by * self.design[:, :, column]
        moved = np.einsum("pij,pj->pi", self.gram, away)
        cross = self.total[:, :, None] * moved[:, None, :]
        squares = self.squares - 2 * float(np.einsum("pi,pi->", self.total, away))
        squares += float(np.einsum("p,pi,pi->", self.count, away, moved))
        outer = self.outer - cross - np.swapaxes(cross, 1, 2)
        outer += self.count[:, None, None] * moved[:, :, None] * moved[:, None, :]
        return replace(
            self,
            design=np.delete(self.design, column, axis=2),
            total=self.total - self.count[:, None] * moved,
            outer=outer,
            squares=squares,
            sums=self.sums - self.trajectories[:, None] * moved[self.pattern],
        )


@dataclass(frozen=True)
class Scaling:
    """The standardisation of turns and scores."""

    turn: float
    turn_unit: float
    score: float
    score_unit: float

    @classmethod
    def of(cls, series: TurnSeries) -> "Scaling":
        """Take mean and standard deviation of turns and of scores."""
        turn, score = series.turn, series.score
        return cls(
            float(turn.mean()), float(turn.std()), float(score.mean()), float(score.std()) or 1.0
        )

    @property
    def slope(self) -> float:
        """Points a turn that a slope of 1 stands for."""
        return self.score_unit / self.turn_unit


def line_sums(
    series: TurnSeries,
    scaling: Scaling,
    *,
    decompose: bool = False,
    agents: Codes | None = None,
    tasks: Codes | None = None,
    fixed: bool = False,
) -> LineSums:
    """Sum up standardised scores by pattern of turns, task and agent.

    Parameters
    ----------
    series, scaling
        The scores, and how they are standardised.
    decompose
        X = (1, turn − mean turn of the trajectory, that mean) in place of (1, turn).
    agents, tasks
        Agent and task of each trajectory, from 0, where they have effects.
    fixed
        Whether two agents have fixed effects: X = (1, turn, c, c·turn), c = ±½, so that the second
        column's effect is the mean of both agents' slopes.
    """
    code, score = series.code, (series.score - scaling.score) / scaling.score_unit
    turn = (series.turn - scaling.turn) / scaling.turn_unit

    def total(weights: Floats) -> Floats:
        return as_floats(np.bincount(code, weights=weights, minlength=series.groups))

    # Turns as they are given are whole numbers: equal turns have equal sums.
    n = np.bincount(code, minlength=series.groups).astype(np.float64)
    first, second = total(series.turn), total(series.turn**2)
    keys = [n, first, second]
    if fixed and agents is not None:
        keys.append(agents.astype(np.float64))
    pattern, one = _patterns(np.column_stack(keys))
    products = np.column_stack([total(score), total(turn * score)])
    size = one.size
    middle = (first - n * scaling.turn)[one] / scaling.turn_unit
    square = (second - 2 * scaling.turn * first + n * scaling.turn**2)[one]
    gram = np.stack([n[one], middle, middle, square / scaling.turn_unit**2], axis=1)
    design = np.broadcast_to(np.eye(2), (size, 2, 2))
    if decompose:
        own, none = middle / n[one], np.zeros(size)
        columns = np.stack([none + 1, -own, own, none, none + 1, none], axis=1).reshape(size, 2, 3)
        # Trajectories that all have the same mean turn show no difference between them.
        design = columns if np.ptp(own) > 1e-12 else columns[:, :, :2]
    elif fixed and agents is not None:
        side = (agents[one] - 0.5)[:, None, None]
        design = np.concatenate([design, side * design], axis=2)
    agent = np.zeros(series.groups, dtype=np.int64) if agents is None or fixed else agents
    task = np.zeros(series.groups, dtype=np.int64) if tasks is None else tasks
    key = (task * (int(agent.max()) + 1) + agent) * size + pattern
    entries, place, entry = np.unique(key, return_index=True, return_inverse=True)

    def by_pattern(weights: Floats) -> Floats:
        return as_floats(np.bincount(pattern, weights=weights, minlength=size))

    a, b = products.T
    return LineSums(
        gram=gram.reshape(size, 2, 2),
        design=design,
        count=np.bincount(pattern, minlength=size).astype(np.float64),
        total=np.stack([by_pattern(a), by_pattern(b)], axis=1),
        outer=np.stack(
            [by_pattern(a * a), by_pattern(a * b), by_pattern(a * b), by_pattern(b * b)], axis=1
        ).reshape(size, 2, 2),
        squares=float(score @ score),
        scores=score.size,
        pattern=pattern[place],
        trajectories=np.bincount(entry, minlength=entries.size).astype(np.float64),
        sums=np.stack(
            [np.bincount(entry, weights=w, minlength=entries.size) for w in (a, b)], axis=1
        ),
        agent=agent[place],
        task=task[place],
        agents=0 if agents is None or fixed else int(agents.max()) + 1,
        tasks=0 if tasks is None else int(tasks.max()) + 1,
    )


def _patterns(table: Floats) -> tuple[Codes, Codes]:
    """Give equal rows one number; return the numbers, and where each first occurs."""
    order = np.lexsort(table.T[::-1])
    ordered = table[order]
    new = np.r_[True, (ordered[1:] != ordered[:-1]).any(axis=1)]
    codes = np.empty(len(table), dtype=np.int64)
    codes[order] = np.cumsum(new) - 1
    return codes, order[new]


@dataclass(frozen=True)
class RandomParts:
    """Which random effects a model has: of trajectories, tasks and agents.

    Trajectories have intercepts, with ``slopes`` also slopes that correlate with them; tasks and
    agents have intercepts and slopes that do not.
    """

    slopes: bool = True
    tasks: bool = False
    agents: bool = False

    @property
    def own(self) -> int:
        """The number of parameters of trajectories."""
        return 3 if self.slopes else 1

    def roots(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """Return Λ of trajectories, of tasks and of agents: their covariance is σ²ΛΛ'."""
        own = np.zeros((2, 2))
        own[0, 0] = theta[0]
        if self.slopes:
            own[1] = theta[1:3]
        rest = theta[self.own :]
        task = np.diag(rest[:2]) if self.tasks else np.zeros((2, 2))
        agent = np.diag(rest[-2:]) if self.agents else np.zeros((2, 2))
        return own, task, agent

    def starts(self) -> tuple[list[float], ...]:
        """Return where searches begin, one after the other until one ends at a minimum."""
        crossed = [0.3, 0.2] * (self.tasks + self.agents)
        firsts = ([1.0, 0.0, 0.5], [0.5, 0.0, 0.05], [1.0, -0.5, 0.5])
        if not self.slopes:
            firsts = ([1.0], [0.2])  # type: ignore[assignment]
        return tuple([*first, *crossed] for first in firsts)


@dataclass(frozen=True)
class LineFit:
    """A fitted line, in the units of the sums given.

    Attributes
    ----------
    beta, covariance
        Fixed effects (p) and their covariance (p × p).
    own, task, agent
        Covariances of the random effects of trajectories, tasks and agents over the residual
        variance (2 × 2 each).
    variance
        Residual variance.
    deviance
        Restricted deviance: −2 log likelihood.
    converged
        Whether the deviance has a minimum there.
    agents, agent_errors
        Of each agent the second fixed effect plus the agent's predicted slope, and the standard
        error of that prediction.
    df
        Satterthwaite's degrees of freedom of the second fixed effect.
    theta
        The entries of Λ.
    """

    beta: Floats
    covariance: Floats
    own: Floats
    task: Floats
    agent: Floats
    variance: float
    deviance: float
    converged: bool
    agents: Floats
    agent_errors: Floats
    df: float
    theta: Floats


@dataclass(frozen=True)
class _Solved:
    """The model at one Λ: deviance, residual variance, and the root of the equations' matrix.

    ``root`` is the Cholesky factor of the matrix of agents, fixed effects and scores; ``agent`` the
    2 × 2 Λ of agents.
    """

    deviance: float
    variance: float
    root: Floats
    agent: Floats
    fixed: int

    @property
    def effects(self) -> Floats:
        """Agents' effects over their Λ, then the fixed effects."""
        return as_floats(np.linalg.solve(self.root[:-1, :-1].T, self.root[-1, :-1]))

    @cached_property
    def inverse(self) -> Floats:
        """The inverse of the matrix of agents and fixed effects."""
        half = np.linalg.inv(self.root[:-1, :-1])
        return as_floats(half.T @ half)

    @property
    def slope_variance(self) -> float:
        """The variance of the second fixed effect."""
        place = 1 - self.fixed
        return self.variance * float(self.inverse[place, place])


def solve(theta: Floats, sums: LineSums, parts: RandomParts, *, restricted: bool = True) -> _Solved:
    """Compute the profiled deviance at Λ, and what it leaves of the equations.

    Notes
    -----
    y = Xβ + Σ Zb + e, b ~ N(0, σ²ΛΛ'), e ~ N(0, σ²I). One pattern's V = I + BΛΛ'B' has the inverse
    I − BWB', W = Λ(I + Λ'B'BΛ)⁻¹Λ', so B'V⁻¹B and B'V⁻¹y are 2 × 2 and 2 × 1. With trajectories
    and tasks eliminated, the Cholesky root of the matrix of agents, X and y holds all that is
    needed: its diagonal the determinants, its last entry the residual sum of squares r². The
    deviance is the sum of log determinants + (n − p)(1 + log(2πr²/(n − p))). Bates, Mächler, Bolker
    & Walker 2015, J. Stat. Softw. 67:1, section 3.
    """
    own, of_task, of_agent = parts.roots(theta)
    inner = np.eye(2) + own.T @ sums.gram @ own
    weight = own @ np.linalg.inv(inner) @ own.T
    kept = np.eye(2) - sums.gram @ weight
    left = kept @ sums.gram
    logs = float(sums.count @ np.linalg.slogdet(inner)[1])
    squares = sums.squares - float(np.einsum("pij,pji->", weight, sums.outer))
    across = left @ sums.design
    fixed = sums.design.shape[2]
    agents = sums.agents if parts.agents else 0
    size = 2 * agents + fixed + 1
    matrix = np.zeros((size, size))
    here = slice(2 * agents, size - 1)
    matrix[here, here] = np.einsum("p,pji,pjk->ik", sums.count, sums.design, across)
    matrix[-1, here] = np.einsum("pij,pik,pk->j", sums.design, kept, sums.total)
    matrix[-1, -1] = squares
    if parts.agents or parts.tasks:
        cells = _cells(sums, left, across, kept, max(1, sums.agents))
        if parts.agents:
            _add_agents(matrix, cells.sum(axis=0), of_agent, fixed)
        if parts.tasks:
            logs += _eliminate_tasks(matrix, cells, of_task, of_agent, agents)
    # A residual sum of squares of 0, or a hair below, is no root.
    matrix[-1, -1] = max(matrix[-1, -1], SMALL)
    root = _root(matrix)
    diagonal = np.diag(root)
    free = sums.scores - (fixed if restricted else 0)
    rest = max(float(diagonal[-1] ** 2), SMALL)
    counted = diagonal[: size - 1] if restricted else diagonal[: 2 * agents]
    logs += 2 * float(np.log(np.maximum(counted, SMALL)).sum())
    deviance = logs + free * (1 + log(2 * pi * rest / free))
    return _Solved(deviance, rest / free, root, of_agent, fixed)


def _root(matrix: Floats) -> Floats:
    """Return the lower root; where rounding leaves the last entry below 0, with a 0 there."""
    head = matrix[:-1, :-1]
    top = np.linalg.cholesky(np.tril(head) + np.tril(head, -1).T)
    side = np.linalg.solve(top, matrix[-1, :-1])
    root = np.zeros_like(matrix)
    root[:-1, :-1], root[-1, :-1] = top, side
    root[-1, -1] = sqrt(max(float(matrix[-1, -1] - side @ side), 0.0))
    return root


def _cells(sums: LineSums, left: Floats, across: Floats, kept: Floats, agents: int) -> Floats:
    """Return B'V⁻¹(B, X, y) of every task and agent: tasks × agents × 2 × (2 + p + 1)."""
    by_pattern = np.concatenate([left, across], axis=2)[sums.pattern]
    score = np.einsum("eij,ej->ei", kept[sums.pattern], sums.sums)
    entries = np.concatenate(
        [sums.trajectories[:, None, None] * by_pattern, score[:, :, None]], axis=2
    )
    cells = np.zeros((max(1, sums.tasks) * agents, *entries.shape[1:]))
    first = sums.starts
    cells[sums.task[first] * agents + sums.agent[first]] = np.add.reduceat(entries, first, axis=0)
    return cells.reshape(-1, agents, *entries.shape[1:])


def _add_agents(matrix: Floats, cells: Floats, root: Floats, fixed: int) -> None:
    """Fill in the rows of the agents."""
    for number, cell in enumerate(cells):
        here = slice(2 * number, 2 * number + 2)
        matrix[here, here] = np.eye(2) + root.T @ cell[:, :2] @ root
        matrix[-fixed - 1 :, here] = (root.T @ cell[:, 2:]).T


def _eliminate_tasks(
    matrix: Floats, cells: Floats, of_task: Floats, of_agent: Floats, agents: int
) -> float:
    """Take tasks out of the matrix; the log determinant of what they had."""
    whole = cells.sum(axis=1)
    inner = np.eye(2) + of_task.T @ whole[:, :, :2] @ of_task
    columns = [whole[:, :, 2:]]
    if agents:
        # A cell's matrix is symmetric, so its columns are those of the task with the agent.
        with_agents = cells[:, :, :, :2] @ of_agent
        columns.insert(0, np.swapaxes(with_agents, 1, 2).reshape(len(cells), 2, 2 * agents))
    across = of_task.T @ np.concatenate(columns, axis=2)
    solved = np.linalg.solve(inner, across)
    width = across.shape[2]
    matrix -= across.reshape(-1, width).T @ solved.reshape(-1, width)
    return float(np.linalg.slogdet(inner)[1].sum())


def fit_lines(sums: LineSums, parts: RandomParts) -> LineFit:
    """Find the lowest restricted deviance.

    The deviance does not change with the sign of a column of Λ: no bounds are needed, and a
    variance of 0 is an ordinary minimum. BFGS, then Newton's step; converged where the step that is
    left would change the deviance by less than 1e-5 and the curvature is not negative.
    """
    from scipy.optimize import minimize  # slow to import, and not every page needs it

    def deviance(theta: Floats) -> float:
        return solve(theta, sums, parts).deviance

    best: tuple[bool, float, _Bowl] | None = None
    for start in parts.starts():
        optimum = minimize(deviance, start, method="BFGS", jac="3-point", options={"gtol": 1e-4})
        bowl = _bowl(as_floats(optimum.x), sums, parts)
        if best is None or (bowl.settled, -bowl.lowest) > (best[0], -best[1]):
            best = (bowl.settled, bowl.lowest, bowl)
        if bowl.settled:
            break
    assert best is not None  # there is a start
    settled, _, bowl = best
    theta = bowl.theta
    solved = solve(theta, sums, parts)
    own, task, agent = (root @ root.T for root in parts.roots(theta))
    fixed = sums.design.shape[2]
    agents, errors = _agents(solved)
    return LineFit(
        beta=solved.effects[-fixed:],
        covariance=solved.variance * solved.inverse[-fixed:, -fixed:],
        own=own,
        task=task,
        agent=agent,
        variance=solved.variance,
        deviance=solved.deviance,
        converged=settled,
        agents=agents,
        agent_errors=errors,
        df=1 / (bowl.steepness + 1 / (sums.scores - fixed)),
        theta=theta,
    )


def _agents(solved: _Solved) -> tuple[Floats, Floats]:
    """Return every agent's slope, shrunken to the mean, and the error of its prediction.

    Henderson's equations: their inverse has the covariance of the errors of predicted and of fixed
    effects (1975, Biometrics 31:423).
    """
    effects = solved.effects
    size = effects.size - solved.fixed
    pick = np.zeros((size // 2, effects.size))
    pick[np.arange(size // 2), np.arange(1, size, 2)] = solved.agent[1, 1]
    pick[:, size + 1] = 1
    spread = np.einsum("ai,ij,aj->a", pick, solved.inverse, pick)
    return pick @ effects, np.sqrt(solved.variance * spread)


@dataclass(frozen=True)
class _Bowl:
    """The deviance around its minimum.

    ``steepness`` is g'H⁻¹g, g the gradient of the log variance of the slope and H the curvature of
    the deviance: half the variance of that log variance.
    """

    theta: Floats
    lowest: float
    settled: bool
    steepness: float


def _bowl(theta: Floats, sums: LineSums, parts: RandomParts) -> _Bowl:
    """Look at the deviance by central differences, and take Newton's step where it is lower."""
    size, step = theta.size, 1e-3 * np.maximum(1, np.abs(theta))
    # By coordinates that are measured in steps, so that large ones do not need small steps.
    unit = np.diag(step)
    here = solve(theta, sums, parts)
    gradient, slopes, curvature = np.empty(size), np.empty(size), np.empty((size, size))
    for i in range(size):
        up, down = (solve(theta + sign * unit[i], sums, parts) for sign in (1, -1))
        gradient[i] = (up.deviance - down.deviance) / 2
        slopes[i] = log(up.slope_variance / down.slope_variance) / 2
        curvature[i, i] = up.deviance - 2 * here.deviance + down.deviance
        for j in range(i):
            corners = [
                a * b * solve(theta + a * unit[i] + b * unit[j], sums, parts).deviance
                for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))
            ]
            curvature[i, j] = curvature[j, i] = sum(corners) / 4
    values, vectors = np.linalg.eigh(curvature)
    largest = max(float(values.max()), 1e-18)
    along, sloping = vectors.T @ gradient, vectors.T @ slopes
    # Flat directions (a variance of 0 makes its correlation one) have no Newton step.
    curved = values > 1e-6 * largest
    left = float((along[curved] ** 2 / values[curved]).sum()) / 2
    flat = np.abs(along[~curved])
    settled = bool(values.min() >= -1e-3 * largest and left < 1e-5 and (flat < 1e-5).all())
    steepness = float((sloping[curved] ** 2 / values[curved]).sum())
    lowest = here.deviance
    if settled:
        moved = theta - step * (vectors[:, curved] @ (along[curved] / values[curved]))
        there = solve(moved, sums, parts).deviance
        if there < lowest:
            theta, lowest = moved, there
    return _Bowl(theta, lowest, settled, steepness)


def profile_error(sums: LineSums, parts: RandomParts, fit: LineFit, *, column: int) -> float | None:
    """Compute the standard error of one fixed effect from the likelihood's own curvature.

    Parameters
    ----------
    sums, parts
        As given to `fit_lines`.
    fit
        What that gave.
    column
        The fixed effect's column in X.

    Returns
    -------
    float or None
        None where the profile does not curve upwards.

    Notes
    -----
    The likelihood D(b) with the effect held at b and all else fitted anew, variances too, at three
    points around the estimate; SE = sqrt(2/D''). Where trajectories end depending on their scores
    the estimates of slope and variances hang together, which SE² from (X'V⁻¹X)⁻¹ takes for granted
    that they do not: it is then too small, and the observed information is needed (Kenward &
    Molenberghs 1998, Stat. Sci. 13:236).
    """
    from scipy.optimize import minimize  # slow to import, and not every page needs it

    value = float(fit.beta[column])
    step = STEP * sqrt(float(fit.covariance[column, column]))
    # A touch off 0, from where the deviance has a slope.
    theta = np.where(np.abs(fit.theta) < 1e-4, 1e-4, fit.theta)
    deviances = []
    for by in (-step, 0.0, step):
        held = sums.shifted(column, value + by)

        def deviance(theta: Floats, held: LineSums = held) -> float:
            return solve(theta, held, parts, restricted=False).deviance

        # The gradient's square over the curvature is what it costs the deviance: nothing here.
        optimum = minimize(deviance, theta, method="BFGS", options={"gtol": 1e-2})
        deviances.append(float(optimum.fun))
        theta = optimum.x
    curvature = (deviances[0] - 2 * deviances[1] + deviances[2]) / step**2
    if not np.isfinite(curvature) or curvature <= 0:
        return None
    return sqrt(2 / curvature)
