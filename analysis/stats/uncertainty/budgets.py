"""Uncertainty budgets: the shares of an interval's squared half-width, and what would narrow it."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import check_level
from analysis.stats.corrected.corrected_means import Columns, RatedUnits, degrees_of_freedom
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.uncertainty.components import (
    FACETS,
    JUDGE,
    SETTING,
    Component,
    Components,
    variance_components,
)

ONE_JUDGE = "one judge only: what another would say is not known"
NO_SUCH = "the scores have only one of it, so what another would change is not known"
ALL_RATED = "people rated all of them"
NOT_NARROWER = "no number of them narrows the interval so far"
# What a page counts as fixed unless it asks what other judges would say.
CHOSEN = (JUDGE, SETTING)
MOST_STEPS = 100_000


@dataclass(frozen=True)
class Projected:
    """The half-width after a step, or why it is not known."""

    half_width: float | None
    undefined: str = ""

    def narrower(self, now: float | None) -> float | None:
        """Return by which part the half-width shrinks; 0 where it does not.

        More tasks leave judges a larger share, and their few degrees of freedom may widen it.
        """
        return None if self.half_width is None or not now else max(0.0, 1 - self.half_width / now)


@dataclass(frozen=True)
class Budget:
    """The variance of a mean of judges' scores by where it comes from.

    ``sampled`` says whether judges and settings are a sample of others; else they are given, and
    their own variance is no part of the interval.
    """

    components: Components
    sampled: bool
    level: float = 0.95

    @property
    def parts(self) -> tuple[Component, ...]:
        """The components of which the interval is made."""
        return tuple(p for p in self.components.parts if self.sampled or p.name not in CHOSEN)

    @property
    def undefined(self) -> str:
        """Why there is no interval; empty where there is one."""
        if self.components.undefined:
            return self.components.undefined
        if self.sampled and self.components.variance(JUDGE) is None:
            return ONE_JUDGE
        return ""

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval of the mean."""
        return self.project().half_width

    def share(self, *names: str) -> float | None:
        """Return the share of some components of the squared half-width."""
        total = sum(part.error for part in self.parts)
        if self.undefined or not total:
            return None
        return sum(part.error for part in self.parts if part.name in names) / total

    def project(self, **more: int) -> Projected:
        """Return the half-width with more levels of some facets: ``project(task=10)``.

        Variances stay as they are; each component is divided by as many more levels as the new
        scores have of it, and degrees of freedom grow alike (Satterthwaite 1946, Biometrics 2:110).
        """
        if self.undefined:
            return Projected(None, self.undefined)
        levels = self.components.levels
        if any(levels[facet] < 2 for facet in more):
            return Projected(None, NO_SUCH)
        grown = {facet: 1 + more.get(facet, 0) / levels[facet] for facet in levels}
        errors, squares = 0.0, 0.0
        for part in self.parts:
            factor, free = 1.0, part.freedom
            for facet in FACETS[part.name]:
                factor *= grown[facet]
            # One level fewer than there are is free; the product of facets grows by each.
            free = free * factor + (factor - 1 if part.name in (JUDGE, SETTING, "task") else 0)
            error = part.error / factor
            errors += error
            squares += error**2 / free
        if not errors:
            return Projected(0.0)
        return Projected(t_quantile(errors**2 / squares, self.level) * sqrt(errors))

    def fewest(self, facet: str, wished: float) -> tuple[int | None, str]:
        """Return how many more levels of a facet give a half-width, and why none does."""
        return _fewest(lambda more: self.project(**{facet: more}), wished)


def budget_of(
    scores: Any,
    *,
    tasks: Sequence[Hashable],
    attempts: Sequence[Hashable],
    judges: Sequence[Hashable],
    settings: Sequence[Hashable],
    sampled: bool = True,
    level: float = 0.95,
) -> Budget:
    """Split the variance of a mean; parameters as in `components.variance_components`.

    The variance of the mean is Σ σ²/effective levels, its interval mean ± t(df)·error with
    Satterthwaite's df. A budget of a difference of two agents takes differences of scores that
    agree in task, attempt, judge and setting.
    """
    check_level(level)
    components = variance_components(
        scores, tasks=tasks, attempts=attempts, judges=judges, settings=settings
    )
    return Budget(components, sampled, level)


@dataclass(frozen=True)
class RatingBudget:
    """The variance of a corrected mean: of the tasks, and of which units people rated.

    ``tasks`` is the variance that would be left if people had rated every unit, ``gaps`` the
    variance of a unit's difference of people and judges, ``units`` those that could be rated,
    ``rated`` those that are. ``freedom`` counts degrees of freedom.
    """

    tasks: float
    gaps: float
    units: int
    rated: int
    freedom: float
    undefined: str = ""
    level: float = 0.95

    def _of_ratings(self, rated: int) -> float:
        return self.gaps * max(0.0, 1 / rated - 1 / self.units) if rated else 0.0

    def project(self, more: int = 0) -> Projected:
        """Return the half-width of the corrected mean with so many more ratings."""
        if self.undefined:
            return Projected(None, self.undefined)
        if more and self.rated >= self.units:
            return Projected(None, ALL_RATED)
        rated = min(self.units, self.rated + more)
        free = self.freedom * rated / self.rated
        error = sqrt(self.tasks + self._of_ratings(rated))
        return Projected(t_quantile(free, self.level) * error)

    def fewest(self, wished: float) -> tuple[int | None, str]:
        """Return how many more ratings give a half-width, and why none does."""
        return _fewest(self.project, wished)


def rating_budget(units: RatedUnits, weight: float | None, *, level: float = 0.95) -> RatingBudget:
    """Split the variance of a corrected mean; ``weight`` is its λ, None where it is undefined.

    The variance by tasks of `corrected_means.correct_mean` holds both parts. That of which units
    were rated is S²(1/n − 1/N) for n of N units, S² being the weighted variance of y − λf (Cochran
    1977, Sampling Techniques, section 2.6); what is left is that of tasks, at least 0.
    """
    columns = Columns.of(units)
    why = columns.why_undefined("task")
    rated = columns.size_of_rated[0]
    if why or weight is None:
        return RatingBudget(0.0, 0.0, columns.judges.size, rated, 1.0, why or NO_SUCH, level)
    influence = columns.influence(weight)
    w = columns.weights / columns.weights.sum()
    gaps = columns.people - weight * columns.judges
    mean = float(w @ gaps)
    spread = float(w @ (gaps - mean) ** 2) * rated / (rated - 1)
    size = columns.judges.size
    drawn = spread * max(0.0, 1 / rated - 1 / size)
    left = max(0.0, influence.error**2 - drawn)
    return RatingBudget(left, spread, size, rated, degrees_of_freedom(influence), "", level)


def _fewest(project: Callable[[int], Projected], wished: float) -> tuple[int | None, str]:
    """Return the fewest steps by doubling and halving; 0 where the interval is narrow enough."""
    now, one = project(0).half_width, project(1)
    if now is not None and now <= wished:
        return 0, ""
    if one.half_width is None:
        return None, one.undefined
    low, high = 0, 1
    while (project(high).half_width or 0.0) > wished:
        low, high = high, 2 * high
        if high > MOST_STEPS:
            return None, NOT_NARROWER
    while high - low > 1:
        middle = (low + high) // 2
        if (project(middle).half_width or 0.0) <= wished:
            high = middle
        else:
            low = middle
    return high, ""


@dataclass(frozen=True)
class Step:
    """A way to narrow an interval: ``count`` more of something, and what they cost.

    ``money`` is in the currency of the endpoints, ``minutes`` are those of people; None where
    unknown.
    """

    name: str
    count: int | None
    money: float | None
    minutes: float | None
    undefined: str = ""

    def total(self, minute: float | None) -> float | None:
        """Return the whole cost, with a price of a minute of people's time."""
        if self.count is None or self.money is None or self.minutes is None:
            return None
        if self.minutes and minute is None:
            return None
        return self.count * (self.money + self.minutes * (minute or 0.0))


def cheapest(steps: Sequence[Step], minute: float | None) -> Step | None:
    """Return the step that costs least; None where no cost is known."""
    known = [(cost, step) for step in steps if (cost := step.total(minute)) is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None


def paired_scores(
    first: Mapping[tuple[Hashable, ...], float], second: Mapping[tuple[Hashable, ...], float]
) -> tuple[list[tuple[Hashable, ...]], list[float]]:
    """Return the cells that two agents have in common, and the differences there."""
    cells = [cell for cell in first if cell in second]
    return cells, [first[cell] - second[cell] for cell in cells]


def mean_share(budgets: Sequence[Budget], *names: str) -> float | None:
    """Return the mean share of some components over budgets that have one."""
    shares = [share for one in budgets if (share := one.share(*names)) is not None]
    return float(np.mean(shares)) if shares else None
