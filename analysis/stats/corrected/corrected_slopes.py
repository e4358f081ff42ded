"""The change per turn in people's scores: of all trajectories, although people rated a part."""

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.columns import Codes, Floats, as_column, check_length_of, check_level, encode
from analysis.stats.corrected.corrected_means import (
    CONSTANT_JUDGES,
    EQUAL_GAPS,
    FEWEST_TASKS,
    METHOD,
    Columns,
    CorrectedMean,
    RatedUnits,
)
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate, Interval
from analysis.stats.trends.turn_series import NO_SLOPE

GROUPS = 20
NO_RATED_SLOPE = "people rated several turns in {n} tasks only; at least {least} are needed"
# Variances of levels, and of slopes per turn, over that of the noise: what REML chooses from.
LEVELS = np.r_[0.0, np.geomspace(0.03, 30, 13)]
SLOPES = np.r_[0.0, np.geomspace(0.002, 0.5, 8)]
GRID = np.array([(level, slope) for level in LEVELS for slope in SLOPES])


def corrected_slope(
    trajectories: Sequence[Hashable],
    tasks: Sequence[Hashable],
    turns: Any,
    judges: Any,
    people: Any,
    probability: Any,
    *,
    level: float = 0.95,
) -> CorrectedMean:
    """Estimate the change per turn that people would see in all trajectories of one agent.

    Parameters
    ----------
    trajectories, tasks, turns, judges, people
        A row per trajectory and turn; people's scores are missing where nobody rated the turn.
    probability
        The probability with which the row's trajectory was drawn for rating.
    level
        Confidence level as a fraction.

    Returns
    -------
    CorrectedMean
        Points per turn. ``n`` and ``rated`` count trajectories, ``weight`` is the coefficient of
        the judges' scores, ``judges`` the slope of these by the same model, ``people`` that of the
        rated turns alone.

    Raises
    ------
    ValueError
        If lengths differ, or a trajectory has two tasks or two probabilities.

    Notes
    -----
    Judges' scores f are known for all turns, people's y for a part, so their joint likelihood is
    that of f times that of y given f (Anderson 1957, J. Am. Stat. Assoc. 52:200). First a mixed
    model f = α + βt + level and slope of the trajectory + noise over all trajectories; then, over
    rated turns and weighted by 1/probability, y = a + bt + cf + dp + level and slope + noise, p
    being the deviation that the first model predicts for the trajectory at that turn. The slope is
    b + cβ, that of y on average over all. It allows for endings that depend on judges' scores,
    which people's alone cannot, as these scores explain them only in part.

    Variances by restricted maximum likelihood over `GRID`, levels at the mean turn and slopes
    uncorrelated. The error is a jackknife over 20 groups of tasks (as many as rated tasks where
    these are fewer) that fits both models again, interval ± t(groups − 1)·error. Endings that
    depend on something unseen make it wrong, and the data cannot tell.

    Undefined as `corrected_means.correct_mean` with trajectories as units, and where people rated
    two turns or more of trajectories of fewer than four tasks.
    """
    check_level(level)
    rows = _Rows.of(trajectories, tasks, turns, judges, people, probability)
    columns = Columns.of(rows.units)
    rated, rated_tasks = columns.size_of_rated
    size, excluded = columns.judges.size, columns.excluded
    several = columns.codes[np.bincount(rows.code[rows.rated], minlength=size) > 1]
    fewest = int(np.unique(several).size)
    why = columns.why_undefined("task")
    if why == CONSTANT_JUDGES and np.ptp(rows.judges) > 1e-12:
        why = ""
    if not why and np.bincount(rows.code).max() < 2:
        why = NO_SLOPE
    if not why and fewest < FEWEST_TASKS:
        why = NO_RATED_SLOPE.format(n=fewest, least=FEWEST_TASKS)
    if why:
        nothing = Estimate.without_value(why, n=size, excluded=excluded, method=METHOD)
        return CorrectedMean(nothing, None, nothing, None, rated, rated_tasks)
    # Tasks with ratings are dealt first, so that every group has as many of them as others.
    order = np.argsort(np.bincount(columns.codes, weights=columns.rated) == 0, kind="stable")
    groups = min(GROUPS, rated_tasks)
    group = np.empty(order.size, dtype=np.int64)
    group[order] = np.arange(order.size) % groups
    models = _Models(rows, columns.weights * rated / columns.weights.sum())
    fits = [models.fit(group[columns.codes] != left) for left in range(-1, groups)]

    def estimate(values: Sequence[float], method: str, n: int) -> Estimate:
        spread = np.array(values[1:]) - np.mean(values[1:])
        error = sqrt(float(spread @ spread) * (groups - 1) / groups)
        if error <= 1e-12:
            return Estimate(values[0], n, no_interval=EQUAL_GAPS, excluded=excluded, method=method)
        half = t_quantile(groups - 1, level) * error
        interval = Interval(
            values[0] - half, values[0] + half, level,
            f"jackknife over {groups} groups of tasks, {method}", {"clusters": groups}, "task",
        )  # fmt: skip
        return Estimate(values[0], n, interval, excluded=excluded, method=method)

    return CorrectedMean(
        estimate([fit.corrected for fit in fits], METHOD, size),
        fits[0].judges,
        estimate([fit.people for fit in fits], "people alone", rated),
        fits[0].weight,
        rated,
        rated_tasks,
    )


class _Rows(NamedTuple):
    """Scored turns, with the number of their trajectory; trajectories as units of a mean."""

    code: Codes
    turn: Floats
    judges: Floats
    people: Floats
    rated: Any
    units: RatedUnits

    @classmethod
    def of(
        cls,
        trajectories: Sequence[Hashable],
        tasks: Sequence[Hashable],
        turns: Any,
        judges: Any,
        people: Any,
        probability: Any,
    ) -> "_Rows":
        """Read the columns; turns without the judges' score are left out."""
        judged = as_column(judges)
        turn, scored, chance = (as_column(column) for column in (turns, people, probability))
        for name, column in (
            ("turns", turn), ("people", scored), ("probability", chance),
            ("trajectories", trajectories), ("tasks", tasks),
        ):  # fmt: skip
            check_length_of(column, judged.size, name)
        there = np.flatnonzero(~np.isnan(judged)).tolist()
        names, code = encode(trajectories[place] for place in there)
        turn, judged, scored, chance = (one[there] for one in (turn, judged, scored, chance))
        own = [tasks[place] for place in there]
        first = np.unique(code, return_index=True)[1]
        task = [own[place] for place in first.tolist()]
        if any(own[place] != task[at] for place, at in enumerate(code.tolist())):
            raise ValueError("a trajectory belongs to one task")
        if not np.array_equal(chance[first][code], chance, equal_nan=True):
            raise ValueError("a trajectory is drawn with one probability")
        rated = ~np.isnan(scored)
        people_of = np.full(len(names), np.nan)
        people_of[code[rated]] = 0.0
        mean = np.bincount(code, weights=judged) / np.maximum(np.bincount(code), 1)
        rated &= ~np.isnan(chance)
        units = RatedUnits(mean, people_of, chance[first], task)
        return cls(code, turn, judged, scored, rated, units)


class _Slopes(NamedTuple):
    """The slopes of judges' and people's scores, the corrected one, and judges' coefficient."""

    judges: float
    people: float
    corrected: float
    weight: float


class _Models:
    """The models of judges', of people's, and of people's scores given judges'."""

    def __init__(self, rows: _Rows, weights: Floats) -> None:
        """Sum over the turns of each trajectory what the models need; turns from their mean."""
        size, mine = weights.size, rows.rated
        turn, judged = rows.turn - rows.turn.mean(), rows.judges - rows.judges.mean()
        one = np.ones(turn.size)
        self.judged = _Sums.of(rows.code, (one, turn, judged), size)
        self.whole = self.judged.totals(np.ones(size))
        # People rated a small part, and all but the first model is about that.
        self.at, code = np.unique(rows.code[mine], return_inverse=True)
        columns = (one, turn, judged, np.where(mine, rows.people, 0.0) - rows.judges.mean())
        self.rated = _Sums.of(code, [column[mine] for column in columns], self.at.size)
        self.weights = weights[self.at]

    def fit(self, kept: Any) -> _Slopes:
        """Fit all models to the trajectories that are kept."""
        weights = self.weights * kept[self.at]
        left = self.judged.totals(1.0 - kept)
        judges = _line(*(all_ - gone for all_, gone in zip(self.whole, left, strict=True)))
        people = _line(*self.rated.only(0, 1, 3).totals(weights))
        level, slope = self.judged.deviations(judges, self.at)
        given = _line(*self.rated.with_deviations(level, slope).totals(weights))
        of_judges, own, weight = judges.beta[1], given.beta[1], given.beta[2]
        return _Slopes(
            float(of_judges),
            float(people.beta[1]),
            float(own + weight * of_judges),
            float(weight),
        )


class _Line(NamedTuple):
    """A fitted line: its coefficients, and the place in `GRID` of its variances."""

    beta: Floats
    chosen: int


class _Sums(NamedTuple):
    """Σzz' of each trajectory, z being 1, turn, covariates and score of a turn.

    ``inner`` has (D⁻¹ + Σ(1, t)(1, t)')⁻¹ of each trajectory for all variances D of `GRID`: its
    first, mixed and last entry; ``log_det`` is ln |V| of each over that of the noise.
    """

    cross: Floats
    inner: tuple[Floats, Floats, Floats]
    log_det: Floats

    @classmethod
    def of(cls, code: Codes, columns: Sequence[Floats], size: int) -> "_Sums":
        """Sum up, by trajectory."""
        cross = np.empty((size, len(columns), len(columns)))
        for row, mine in enumerate(columns):
            for column, other in enumerate(columns):
                cross[:, row, column] = np.bincount(code, weights=mine * other, minlength=size)
        level, slope = np.sqrt(GRID.T)[:, :, None]
        first = 1 + level**2 * cross[:, 0, 0]
        mixed = level * slope * cross[:, 0, 1]
        last = 1 + slope**2 * cross[:, 1, 1]
        det = first * last - mixed**2
        inner = level**2 * last / det, -level * slope * mixed / det, slope**2 * first / det
        return cls(cross, inner, np.log(det))

    def only(self, *columns: int) -> "_Sums":
        """Keep some columns."""
        return self._replace(cross=self.cross[:, columns][:, :, columns])

    def with_deviations(self, level: Floats, slope: Floats) -> "_Sums":
        """Add the column level + slope·turn before the score."""
        mine = level[:, None] * self.cross[:, 0] + slope[:, None] * self.cross[:, 1]
        square = level * mine[:, 0] + slope * mine[:, 1]
        last = self.cross.shape[1] - 1
        cross = np.insert(np.insert(self.cross, last, 0.0, axis=1), last, 0.0, axis=2)
        mine = np.insert(mine, last, square, axis=1)
        cross[:, last], cross[:, :, last] = mine, mine
        return self._replace(cross=cross)

    def totals(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return Σwz'V⁻¹z, Σw ln |V| (both for all variances of `GRID`) and the number of turns."""
        there = np.flatnonzero(weights)
        w, cross = weights[there], self.cross[there]
        ones, turns = cross[:, 0], cross[:, 1]
        both = ones[:, :, None] * turns[:, None]
        products = (
            ones[:, :, None] * ones[:, None],
            both + both.transpose(0, 2, 1),
            turns[:, :, None] * turns[:, None],
        )
        width = cross.shape[1]
        whole = np.tile(np.tensordot(w, cross, 1), (len(GRID), 1, 1))
        for inner, parts in zip(self.inner, products, strict=True):
            part = (inner[:, there] * w) @ parts.reshape(len(parts), width * width)
            whole -= part.reshape(whole.shape)
        return whole, self.log_det[:, there] @ w, np.asarray(w @ cross[:, 0, 0])

    def deviations(self, line: _Line, at: Codes) -> tuple[Floats, Floats]:
        """Predict the levels and slopes of trajectories ``at``, as deviations from the line's."""
        cross = self.cross[at]
        level, slope = (cross[:, :2, -1] - cross[:, :2, :2] @ line.beta).T
        first, mixed, last = (inner[line.chosen, at] for inner in self.inner)
        return first * level + mixed * slope, mixed * level + last * slope


def _line(whole: Floats, log_det: Floats, turns: Floats) -> _Line:
    """Fit the last column of `_Sums.totals` to the others by restricted maximum likelihood."""
    bread, right = whole[:, :-1, :-1], whole[:, :-1, -1]
    values, vectors = np.linalg.eigh(bread)
    # A column that says nothing, such as deviations without variance, has no part.
    told = values > 1e-9 * values.max(axis=1, keepdims=True)
    safe = np.where(told, values, 1.0)
    turned = np.einsum("kij,ki->kj", vectors, right) * told / safe
    beta = np.einsum("kij,kj->ki", vectors, turned)
    left = np.maximum(whole[:, -1, -1] - (beta * right).sum(axis=1), 1e-12)
    likelihood = (turns - told.sum(axis=1)) * np.log(left) + log_det + np.log(safe).sum(axis=1)
    best = int(likelihood.argmin())
    return _Line(beta[best], best)
