"""A mean of judges' scores that people's scores of a random part of the units have corrected.

Judges scored every unit (a trajectory, a turn), people a part of them that was drawn with known
probabilities. The correction removes the judges' bias, whatever it is; the judges' scores narrow
the interval as far as they go with the people's.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.stats.columns import (
    Codes,
    Floats,
    as_column,
    check_length_of,
    check_level,
    encode,
)
from analysis.stats.descriptive.means import OPEN_SCALE, Scale, t_quantile
from analysis.stats.results import Estimate, Interval, plural_of

FEWEST_TASKS = 4
NOT_JUDGED = "no score of the judges"
NO_PROBABILITY = "rated, but not drawn with a known probability"
NOTHING_JUDGED = "the judges scored nothing"
NONE_RATED = "people rated none of them"
ONE_RATED = "people rated one of them only"
ONE_TASK = "all that people rated belongs to one {unit}"
FEW_TASKS = "what people rated belongs to {n} {unit} only; at least {least} are needed"
NOT_DRAWN = "none of what people rated was drawn with a known probability"
WRONG_PROBABILITY = "a probability of being drawn is {value:g}; it must be above 0 and at most 1"
CONSTANT_JUDGES = "the judges gave everything the same score, which says nothing about the people’s"
EQUAL_GAPS = "people and judges differ equally on all that people rated: no interval"
CUT_OFF = "the estimate lay outside the scale and was cut off at its end"


@dataclass(frozen=True, eq=False)
class RatedUnits:
    """The units of one agent, one row each.

    Attributes
    ----------
    judges
        The judges' score; None and NaN are missing, and such units are left out, counted.
    people
        The people's score (mean over a unit's raters); missing where nobody rated the unit.
    probability
        The probability with which the unit was drawn for rating, above 0 and at most 1. A rated
        unit without one counts as not rated, and is counted.
    tasks
        The cluster of each unit: inside one, anything may depend on anything.
    """

    judges: Any
    people: Any
    probability: Any
    tasks: Sequence[Hashable] | npt.NDArray[Any]


@dataclass(frozen=True)
class CorrectedMean:
    """A corrected mean, and what it was made of.

    Attributes
    ----------
    estimate
        The corrected mean; ``n`` counts units that judges scored.
    judges
        The judges' mean of the same units; None where they scored nothing.
    people
        The inverse-probability mean of the people's scores alone, with its interval.
    weight
        λ, the weight of the judges' scores; None where the mean is undefined.
    rated, rated_tasks
        Units that people rated and that count, and the tasks that they belong to.
    """

    estimate: Estimate
    judges: float | None
    people: Estimate
    weight: float | None
    rated: int
    rated_tasks: int

    @property
    def moved(self) -> float | None:
        """How far the correction moved the judges' mean."""
        if self.estimate.value is None or self.judges is None:
            return None
        return self.estimate.value - self.judges


@dataclass(frozen=True, eq=False)
class Influence:
    """An estimate with what each task adds to its error.

    ``by_task`` holds, for each task, its linearised influence value, whose squares sum up to the
    variance, and the variance of that under independent units, from which degrees of freedom
    follow.
    """

    value: float
    by_task: Mapping[Hashable, tuple[float, float]]

    @property
    def error(self) -> float:
        """The standard error."""
        return sqrt(sum(value * value for value, _ in self.by_task.values()))


def correct_mean(
    units: RatedUnits,
    *,
    weight: float | None = None,
    level: float = 0.95,
    unit: str = "task",
    scale: Scale = OPEN_SCALE,
) -> CorrectedMean:
    """Correct the judges' mean by the people's scores of a random part.

    Parameters
    ----------
    units
        The columns of one agent.
    weight
        λ between 0 (people alone) and 1 (the whole difference); by default chosen from the data.
    level
        Confidence level as a fraction.
    unit
        What a cluster is called.
    scale
        The least and the largest value that there can be: value and interval end there.

    Returns
    -------
    CorrectedMean
        In the units of the scores.

    Raises
    ------
    ValueError
        If lengths differ, or the weight is not between 0 and 1.

    Notes
    -----
    With judges' scores f of N units, people's y of rated ones and w = 1/probability,

        θ = λ·mean(f) + Σ w(y − λf)/Σw,

    which is unbiased for the people's mean of all units whatever the judges' bias is (up to the
    quotient's O(1/n)): Horvitz & Thompson 1952, J. Am. Stat. Assoc. 47:663; Angelopoulos et al.
    2023, Science 382:669. λ by PPI++ is cov(y, f)/var(f), the covariance weighted over rated units,
    the variance over all, bounded to [0, 1]: PPI++ with rated units among all, so that its
    (1 + n/N) drops out (Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453, section 6). That
    covariance does not know of tasks: where it would widen the interval of the people alone, as it
    may with few tasks of many trials, λ is 0.

    Variance by tasks: θ is linearised, and each task adds to it what its rated units do and what
    its others do; each part is divided by √(1 − the task's share in it) as in the CR2 variance
    (`means.quotients_mean`), and the squares of the sums are added up. Interval θ ± t(df)·error
    with df = (Σv)²/Σv² − 1, v being the expected variance of each task under independent units
    (Satterthwaite 1946, Biometrics 2:110). K tasks of one unit each, all rated, give s²/K with
    K − 1.

    It takes as known that units were drawn by their probabilities, and that those who were drawn
    and are not rated yet are missing at random. Undefined without a rated unit, with one, with
    rated units of fewer than four tasks, where a probability is 0 or above 1, where no rated unit
    has one, and where the judges' scores are all the same. No interval where y − λf is the same
    everywhere.
    """
    columns = Columns.of(units)
    return correct_columns(columns, weight=weight, level=level, unit=unit, scale=scale)


def correct_columns(
    columns: "Columns", *, weight: float | None, level: float, unit: str, scale: Scale
) -> CorrectedMean:
    """Do what `correct_mean` does, on columns that were read before."""
    check_level(level)
    if weight is not None and not 0 <= weight <= 1:
        raise ValueError(f"the weight of the judges’ scores is from 0 to 1, not {weight}")
    why = columns.why_undefined(unit)
    judges = float(columns.judges.mean()) if columns.judges.size else None
    people_why = why if why != CONSTANT_JUDGES else ""
    rated, rated_tasks = columns.size_of_rated
    people = (
        Estimate.without_value(people_why, n=rated, excluded=columns.excluded)
        if people_why
        else _estimate(columns, 0.0, level, unit, scale, rated)
    )
    if why:
        nothing = Estimate.without_value(
            why, n=columns.judges.size, excluded=columns.excluded, method=METHOD
        )
        return CorrectedMean(nothing, judges, people, None, rated, rated_tasks)
    size, chosen = columns.judges.size, columns.weight() if weight is None else weight
    estimate = _estimate(columns, chosen, level, unit, scale, size)
    if weight is None and _is_wider(estimate, people):
        chosen, estimate = 0.0, replace(people, n=size)
    return CorrectedMean(estimate, judges, people, chosen, rated, rated_tasks)


METHOD = "judges corrected by people"


def _is_wider(estimate: Estimate, people: Estimate) -> bool:
    """Return whether the judges' scores widen the interval of the people's alone."""
    if estimate.interval is None or people.interval is None:
        return False
    return estimate.interval.half_width > people.interval.half_width


def _estimate(
    columns: "Columns", weight: float, level: float, unit: str, scale: Scale, n: int
) -> Estimate:
    """Estimate the mean with a weight, and its interval by task."""
    influence = columns.influence(weight)
    low, high = scale
    value = influence.value
    inside = max(value, low) if low is not None else value
    inside = min(inside, high) if high is not None else inside
    warnings = (CUT_OFF,) if abs(inside - value) > 1e-9 else ()
    method = METHOD if weight else "people alone"
    excluded = columns.excluded
    if columns.gaps_equal(weight):
        return Estimate(inside, n, no_interval=EQUAL_GAPS, excluded=excluded, warnings=warnings,
                        method=method)  # fmt: skip
    interval = interval_of(influence, level=level, unit=unit, method=f"t by {unit}, {method}")
    ends = _cut(interval.low, low, high), _cut(interval.high, low, high)
    interval = Interval(*ends, level, interval.method, interval.details, unit)
    return Estimate(inside, n, interval, excluded=excluded, warnings=warnings, method=method)


def _cut(value: float, low: float | None, high: float | None) -> float:
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def interval_of(influence: Influence, *, level: float, unit: str, method: str) -> Interval:
    """Return value ± t(df)·error of an estimate with its influence by task (`correct_mean`)."""
    half = t_quantile(degrees_of_freedom(influence), level) * influence.error
    clusters = sum(1 for value, _ in influence.by_task.values() if value)
    return Interval(
        influence.value - half, influence.value + half, level, method, {"clusters": clusters}, unit
    )


def degrees_of_freedom(influence: Influence) -> float:
    """Return (Σv)²/Σv² − 1, v being the expected variance of each task; at least 1."""
    expected = np.array([variance for _, variance in influence.by_task.values()])
    return max(1.0, float(expected.sum()) ** 2 / float((expected**2).sum()) - 1)


@dataclass(frozen=True, eq=False)
class Columns:
    """The units that count: scores, weights of rated ones (0 elsewhere), and codes of tasks."""

    judges: Floats
    people: Floats
    weights: Floats
    codes: Codes
    names: tuple[Hashable, ...]
    wrong: float | None
    unrated: bool
    excluded: Mapping[str, int]

    @classmethod
    def of(cls, units: RatedUnits) -> "Columns":
        """Read the columns; count what is left out."""
        judges, people, probability = (
            as_column(column) for column in (units.judges, units.people, units.probability)
        )
        for name, column in (("people", people), ("probability", probability)):
            check_length_of(column, judges.size, name)
        check_length_of(units.tasks, judges.size, "tasks")
        there = ~np.isnan(judges)
        names, every_code = _encode_tasks(units.tasks)
        judges, people, probability = (column[there] for column in (judges, people, probability))
        codes = every_code[there]
        outside = probability[(probability <= 0) | (probability > 1)]
        rated = ~np.isnan(people)
        unknown = rated & np.isnan(probability)
        excluded = {
            reason: int(count)
            for reason, count in (
                (NOT_JUDGED, (~there).sum()), (NO_PROBABILITY, unknown.sum())
            )
            if count
        }  # fmt: skip
        known = rated & ~unknown
        weights = np.zeros(judges.size)
        if not outside.size:
            weights[known] = 1 / probability[known]
        return cls(
            judges, np.where(known, people, 0.0), weights, codes, names,
            float(outside[0]) if outside.size else None, bool(unknown.any()) and not known.any(),
            excluded,
        )  # fmt: skip

    @property
    def rated(self) -> npt.NDArray[np.bool_]:
        """Which units people rated, with a known probability."""
        return self.weights > 0

    @property
    def size_of_rated(self) -> tuple[int, int]:
        """The number of rated units, and of their tasks."""
        return int(self.rated.sum()), int(np.unique(self.codes[self.rated]).size)

    def why_undefined(self, unit: str) -> str:
        """Return why nothing can be corrected; empty where it can."""
        if not self.judges.size:
            return NOTHING_JUDGED
        if self.wrong is not None:
            return WRONG_PROBABILITY.format(value=self.wrong)
        rated, tasks = self.size_of_rated
        if not rated:
            return NOT_DRAWN if self.unrated else NONE_RATED
        if rated == 1:
            return ONE_RATED
        if tasks == 1:
            return ONE_TASK.format(unit=unit)
        if tasks < FEWEST_TASKS:
            return FEW_TASKS.format(n=tasks, unit=plural_of(unit), least=FEWEST_TASKS)
        if np.ptp(self.judges) <= 1e-12:
            return CONSTANT_JUDGES
        return ""

    def weight(self) -> float:
        """Return λ by PPI++, between 0 and 1."""
        w = self.weights / self.weights.sum()
        judges, people = self.judges - w @ self.judges, self.people - w @ self.people
        covariance = float((w * judges * people).sum())
        return min(1.0, max(0.0, covariance / float(self.judges.var(ddof=1))))

    def gaps_equal(self, weight: float) -> bool:
        """Return whether y − λf is the same for all rated units."""
        gaps = (self.people - weight * self.judges)[self.rated]
        return bool(np.ptp(gaps) <= 1e-12 * max(1.0, float(np.abs(gaps).max())))

    def influence(self, weight: float) -> Influence:
        """Return the estimate with this weight, and what each task adds to its error."""
        size = self.judges.size
        w = self.weights / self.weights.sum()
        mean = float(self.judges.mean())
        gaps = self.people - weight * self.judges
        gap = float(w @ gaps)
        parts = weight * (self.judges - mean) / size + w * (gaps - gap)
        spread = weight**2 * float(self.judges.var(ddof=1)) / size**2
        expected = spread + float(w @ (gaps - gap) ** 2) * w * w
        shares = np.where(self.rated, w, 1.0)
        return self.gathered(weight * mean + gap, parts, shares, expected)

    def gathered(self, value: float, parts: Floats, shares: Floats, expected: Floats) -> Influence:
        """Gather by task what each unit adds to the error of an estimate.

        Parameters
        ----------
        value
            The estimate.
        parts
            What each unit adds to its error.
        shares
            How much each unit counts among the rated ones, or among the others.
        expected
            The variance of each part under independent units, up to a factor.
        """
        tasks = len(self.names)

        def by_task(values: Floats) -> Floats:
            return np.bincount(self.codes, weights=values, minlength=tasks).astype(np.float64)

        total = np.zeros(tasks)
        # Rated and other units are two samples: a task has a share in each.
        for mine in (self.rated, ~self.rated):
            counts = np.where(mine, shares, 0.0)
            share = by_task(counts) / (counts.sum() or 1.0)
            # The influence of a task that has all is 0.
            rest = np.where(share >= 1 - 1e-12, 1.0, 1 - share)
            total += by_task(np.where(mine, parts, 0.0)) / np.sqrt(rest)
        pairs = zip(total.tolist(), by_task(expected).tolist(), strict=True)
        return Influence(
            value,
            {name: pair for name, pair in zip(self.names, pairs, strict=True) if pair[1] > 0},
        )


def _encode_tasks(tasks: Any) -> tuple[tuple[Hashable, ...], Codes]:
    """Return the distinct tasks and each unit's index in them; an array of numbers is quicker."""
    if isinstance(tasks, np.ndarray) and tasks.dtype.kind == "i":
        names, codes = np.unique(tasks, return_inverse=True)
        return tuple(names.tolist()), codes
    return encode(tasks)
