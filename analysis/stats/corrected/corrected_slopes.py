"""The change per turn in judges' scores, corrected by people's scores of some trajectories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Codes, Floats, as_column, check_length_of, check_level, encode
from analysis.stats.corrected.corrected_means import (
    CONSTANT_JUDGES,
    EQUAL_GAPS,
    METHOD,
    Columns,
    CorrectedMean,
    RatedUnits,
    interval_of,
)
from analysis.stats.results import Estimate
from analysis.stats.trends.mixed_models import mixed_slope
from analysis.stats.trends.turn_series import NO_SLOPE

NO_RATED_SLOPE = "people rated two turns or more of no trajectory"
# Random intercepts against noise, where no mixed model can be fitted: the slope within.
ONLY_WITHIN = 1e6


@dataclass(frozen=True)
class WorkingCovariance:
    """Variances of level and slope of a trajectory, their covariance, and of the noise."""

    level: float
    slope: float
    both: float
    noise: float

    @classmethod
    def of(
        cls, trajectories: Sequence[Hashable], turns: Floats, scores: Floats
    ) -> "WorkingCovariance":
        """Take the variances of `mixed_models.mixed_slope`."""
        fit = mixed_slope(trajectories, turns, scores)
        level, slope = fit.sd_intercept or 0.0, fit.sd_slope or 0.0
        noise = fit.sd_residual or 0.0
        if not noise:
            return cls(ONLY_WITHIN, 0.0, 0.0, 1.0)
        return cls(level**2, slope**2, (fit.correlation or 0.0) * level * slope, noise**2)


def corrected_slope(
    trajectories: Sequence[Hashable],
    tasks: Sequence[Hashable],
    turns: Any,
    judges: Any,
    people: Any,
    probability: Any,
    *,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedMean:
    """Correct the judges' change per turn by the people's scores of a random part.

    Parameters
    ----------
    trajectories, tasks, turns, judges, people
        A row per trajectory and turn of one agent; people's scores are missing where nobody rated
        the turn.
    probability
        The probability with which the row's trajectory was drawn for rating.
    weight, level
        As in `corrected_means.correct_mean`.

    Returns
    -------
    CorrectedMean
        Points per turn; ``n``, ``rated`` count trajectories. ``judges`` is the slope of the judges'
        scores by the same estimating equation.

    Raises
    ------
    ValueError
        If lengths differ, or a trajectory has two tasks or two probabilities.

    Notes
    -----
    With the lines Σ X'V⁻¹(s − Xβ) = 0 over trajectories (X: 1 and turn) the slope is
    λ·b(f) + b_w(y) − λ·b_w(f): that of the judges' scores f of all trajectories, and those of both
    sides over rated turns, weighted by 1/probability. V is the covariance by a mixed model of the
    judges' scores (`mixed_models.mixed_slope`, random levels and slopes), taken as given. It
    decides how far trajectories that end early pull, as in the mixed model itself: where endings
    depend on scores seen, the slope within trajectories is biased and this one hardly
    (``docs/statistics.md`` has the simulation). λ, variance by tasks and degrees of freedom as in
    `corrected_means.correct_mean`, on the influence of each trajectory (Liang & Zeger 1986,
    Biometrika 73:13).

    Undefined as `corrected_means.correct_mean`, with trajectories as units, and where no trajectory
    has two turns that judges, or people, scored.
    """
    check_level(level)
    rows = _Rows.of(trajectories, tasks, turns, judges, people, probability)
    units = rows.units()
    columns = Columns.of(units)
    rated, rated_tasks = columns.size_of_rated
    size = columns.judges.size
    repeated = np.bincount(rows.code, minlength=size)
    repeated_of_rated = np.bincount(rows.code[rows.rated], minlength=size)
    why = columns.why_undefined("task")
    if size and repeated.max() < 2:
        why = NO_SLOPE
    elif not why and repeated_of_rated.max() < 2:
        why = NO_RATED_SLOPE
    if why == CONSTANT_JUDGES and np.ptp(rows.judges) > 1e-12:
        why = ""
    if why:
        nothing = Estimate.without_value(why, n=size, excluded=columns.excluded, method=METHOD)
        return CorrectedMean(nothing, None, nothing, None, rated, rated_tasks)
    mine = columns.rated
    w = columns.weights / columns.weights.sum()
    turn, code = rows.turn[rows.rated], rows.code[rows.rated]
    scored, judged = rows.people[rows.rated], rows.judges[rows.rated]
    every = _lines(
        rows.code, rows.turn, np.full(size, 1 / size),
        WorkingCovariance.of(rows.code.tolist(), rows.turn, rows.judges),
    )  # fmt: skip
    part = _lines(code, turn, w, every.working)
    slope, of_all = every.fit(rows.judges)
    if weight is None:
        # Influence of single trajectories, as scores have it in a mean: no weights in it.
        up, across = part.fit(scored)[1], part.fit(judged)[1]
        spread = float((of_all * size).var(ddof=1))
        covariance = float((up[mine] * across[mine] / w[mine]).sum())
        weight = min(1.0, max(0.0, covariance / spread)) if spread else 0.0

    def estimate(lam: float) -> Estimate:
        differences = scored - lam * judged
        gap, gaps = part.fit(differences)
        value = lam * slope + gap
        method = METHOD if lam else "people alone"
        if float(np.abs(gaps).max()) <= 1e-12:
            return Estimate(
                value, size, no_interval=EQUAL_GAPS, excluded=columns.excluded, method=method
            )
        expected = lam**2 * float(of_all @ of_all) * every.shares
        weighted = w * part.shares
        expected += float(gaps @ gaps) * weighted / weighted.sum()
        shares = np.where(columns.rated, part.shares, every.shares)
        influence = columns.gathered(value, lam * of_all + gaps, shares, expected)
        interval = interval_of(influence, level=level, unit="task", method=f"t by task, {method}")
        return Estimate(value, size, interval, excluded=columns.excluded, method=method)

    return CorrectedMean(estimate(weight), slope, estimate(0.0), weight, rated, rated_tasks)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Scored turns: trajectory, turn and both scores, and what each trajectory has once."""

    code: Codes
    turn: Floats
    judges: Floats
    people: Floats
    rated: Any
    tasks: Sequence[Hashable]
    probability: Floats
    means: Floats

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
        columns: dict[str, Floats] = {"turns": as_column(turns), "people": as_column(people),
                   "probability": as_column(probability)}  # fmt: skip
        for name, column in columns.items():
            check_length_of(column, judged.size, name)
        check_length_of(trajectories, judged.size, "trajectories")
        check_length_of(tasks, judged.size, "tasks")
        there = np.flatnonzero(~np.isnan(judged))
        names, code = encode(trajectories[place] for place in there.tolist())
        turn, scored, chance = (column[there] for column in columns.values())
        first = np.full(len(names), -1, dtype=np.int64)
        first[code[::-1]] = np.arange(code.size)[::-1]
        own = [tasks[place] for place in there.tolist()]
        of_trajectory = [own[place] for place in first.tolist()]
        probabilities = chance[first]
        if any(own[place] != of_trajectory[at] for place, at in enumerate(code.tolist())):
            raise ValueError("a trajectory belongs to one task")
        if not np.array_equal(probabilities[code], chance, equal_nan=True):
            raise ValueError("a trajectory is drawn with one probability")
        known = (probabilities > 0) & (probabilities <= 1)
        rated = ~np.isnan(scored) & known[code]
        people_of = np.full(len(names), np.nan)
        people_of[code[~np.isnan(scored)]] = 0.0
        return cls(
            code, turn, judged[there], scored, rated, of_trajectory, probabilities, people_of
        )

    def units(self) -> RatedUnits:
        """Return trajectories as units; their scores say only which of them were rated."""
        size = self.means.size
        mean = np.bincount(self.code, weights=self.judges, minlength=size) / np.maximum(
            np.bincount(self.code, minlength=size), 1
        )
        return RatedUnits(mean, self.means, self.probability, self.tasks)


@dataclass(frozen=True, eq=False)
class _Lines:
    """Lines through scores of trajectories: X'V⁻¹ by row, its sums, and what each counts."""

    code: Codes
    turn: Floats
    inverse: Floats
    whole: Floats
    weights: Floats
    shares: Floats
    working: WorkingCovariance

    def fit(self, scores: Floats) -> tuple[float, Floats]:
        """Return the slope, and what each trajectory adds to its error."""
        size = self.weights.size
        row = self.weights[self.code][:, None] * self.inverse
        beta = np.linalg.solve(self.whole, row.T @ scores)
        rest = scores - beta[0] - beta[1] * self.turn
        to_slope = np.linalg.inv(self.whole)[1]
        parts = np.bincount(self.code, weights=(row @ to_slope) * rest, minlength=size)
        return float(beta[1]), parts.astype(np.float64)


def _lines(code: Codes, turn: Floats, weights: Floats, working: WorkingCovariance) -> _Lines:
    """Prepare lines: trajectories with the same turns have the same V."""
    order = np.lexsort((turn, code))
    starts = np.flatnonzero(np.r_[True, np.diff(code[order]) > 0])
    patterns: dict[bytes, list[int]] = {}
    ends = np.r_[starts[1:], code.size]
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        patterns.setdefault(turn[order[start:end]].tobytes(), []).append(start)
    inverse = np.empty((code.size, 2))
    for key, places in patterns.items():
        t = np.frombuffer(key, dtype=np.float64)
        x = np.column_stack([np.ones(t.size), t])
        random = np.array([[working.level, working.both], [working.both, working.slope]])
        v = x @ random @ x.T + working.noise * np.eye(t.size)
        rows = order[np.array(places)[:, None] + np.arange(t.size)]
        inverse[rows] = np.linalg.solve(v, x)
    row = weights[code][:, None] * inverse
    x = np.column_stack([np.ones(turn.size), turn])
    whole = row.T @ x
    # What a trajectory counts for the slope: its part of the information on it.
    centred = turn - whole[0, 1] / whole[0, 0]
    own = np.bincount(
        code, weights=(row[:, 1] - whole[0, 1] / whole[0, 0] * row[:, 0]) * centred,
        minlength=weights.size,
    )  # fmt: skip
    own = np.maximum(own, 0.0)
    return _Lines(code, turn, inverse, whole, weights, own / (own.sum() or 1.0), working)
