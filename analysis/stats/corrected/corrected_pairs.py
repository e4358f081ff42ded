"""Agents compared by corrected means: differences by task, and ranks that hold together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from analysis.stats.comparison.model_comparisons import ModelComparisons, family_of_pairs
from analysis.stats.comparison.paired import PairComparison
from analysis.stats.corrected.corrected_means import (
    Columns,
    CorrectedMean,
    Influence,
    RatedUnits,
    correct_columns,
    degrees_of_freedom,
    interval_of,
)
from analysis.stats.descriptive.means import OPEN_SCALE, Scale
from analysis.stats.results import Estimate

ONE_UNDEFINED = "the corrected mean of {name} is undefined: {reason}"
NO_ERROR = "no task moves the difference: its spread says nothing about the uncertainty"


@dataclass(frozen=True)
class CorrectedModels:
    """The corrected mean of each model, and all pairs of them as one family.

    ``moved_order`` holds the pairs, in the order of the corrected means, that the judges' means
    order the other way round.
    """

    means: Mapping[str, CorrectedMean]
    comparisons: ModelComparisons
    moved_order: tuple[tuple[str, str], ...]


def correct_models(
    units: Mapping[str, RatedUnits],
    *,
    measure: str,
    weight: float | None = None,
    among: int | None = None,
    alpha: float = 0.05,
    measures: int = 1,
    scale: Scale = OPEN_SCALE,
) -> CorrectedModels:
    """Correct the mean of each model, and compare all of them by task.

    Parameters
    ----------
    units
        The columns of each model; tasks of the same name are the same task.
    measure
        What the scores are, for the statement of the family.
    weight, scale
        As in `corrected_means.correct_mean`.
    among, alpha
        As in `model_comparisons.compare_models`.
    measures
        The number of measures whose pairs are one family with these.

    Raises
    ------
    ValueError
        If ``among`` is less than the number of models.

    Notes
    -----
    The difference of two corrected means has each task's influence on the first minus that on the
    second: what a task does to both cancels out, whether both were rated on it or not. Its
    interval is a t interval as in `corrected_means.correct_mean`, simultaneous over all pairs
    (Bonferroni), and excludes 0 exactly where the adjusted p is under alpha. Ranks as in
    `model_comparisons.compare_models`. A pair of which one mean is undefined is not tested.
    """
    size = len(units) if among is None else among
    if size < len(units):
        raise ValueError(f"{len(units)} models are not among {size}")
    columns = {name: Columns.of(one) for name, one in units.items()}
    means = {
        name: correct_columns(one, weight=weight, level=1 - alpha, unit="task", scale=scale)
        for name, one in columns.items()
    }
    influences = {
        name: columns[name].influence(mean.weight)
        for name, mean in means.items()
        if mean.weight is not None
    }
    total = max(1, size * (size - 1) // 2) * measures
    low, high = scale
    most = None if low is None or high is None else high - low
    comparisons = {
        (first, second): _compare(first, second, means, influences, alpha, total, most)
        for first, second in combinations(units, 2)
    }
    values = {name: mean.estimate.value for name, mean in means.items()}
    tasks = {name: len(influences[name].by_task) if name in influences else 0 for name in units}
    family = family_of_pairs(
        comparisons, values, tasks, measure=measure, among=size, alpha=alpha / measures
    )
    return CorrectedModels(means, family, moved_order(means))


def moved_order(means: Mapping[str, CorrectedMean]) -> tuple[tuple[str, str], ...]:
    """Return the pairs that corrected and judges' means order oppositely, the higher first."""
    known = [
        (name, mean.estimate.value, mean.judges)
        for name, mean in means.items()
        if mean.estimate.value is not None and mean.judges is not None
    ]
    known.sort(key=lambda row: -row[1])
    return tuple(
        (first, second)
        for (first, value, judged), (second, lower, less) in combinations(known, 2)
        if value > lower and judged < less
    )


def _compare(
    first: str,
    second: str,
    means: Mapping[str, CorrectedMean],
    influences: Mapping[str, Influence],
    alpha: float,
    comparisons: int,
    most: float | None,
) -> PairComparison:
    """Compare two models; nobody wins a task, because people rated a part of them alone."""
    for name in (first, second):
        if name not in influences:
            reason = means[name].estimate.undefined
            nothing = Estimate.without_value(ONE_UNDEFINED.format(name=name, reason=reason))
            return PairComparison(None, None, nothing, 0, 0, 0, None, None)
    one, other = influences[first], influences[second]
    difference = _minus(one, other)
    common = len(one.by_task.keys() & other.by_task.keys())
    if difference.error <= 1e-12:
        estimate = Estimate(difference.value, common, no_interval=NO_ERROR)
        return PairComparison(one.value, other.value, estimate, 0, 0, 0, None, None)
    each, method = 1 - alpha / comparisons, "t by task on corrected means"
    interval = interval_of(difference, level=each, unit="task", method=method)
    if comparisons > 1:
        method += f", simultaneous over {comparisons} comparisons (Bonferroni)"
        interval = replace(interval, details={**interval.details, "comparisons": comparisons})
    interval = replace(interval, level=1 - alpha, method=method)
    estimate = Estimate(difference.value, common, interval)
    if most is not None:
        estimate = estimate.within(-most, most)
    p = two_sided_t(difference.value / difference.error, degrees_of_freedom(difference))
    return PairComparison(one.value, other.value, estimate, 0, 0, 0, p, None)


def _minus(one: Influence, other: Influence) -> Influence:
    """Return the difference of two estimates, with each task's influence on it."""
    nothing = (0.0, 0.0)
    by_task = {}
    for task in (*one.by_task, *(task for task in other.by_task if task not in one.by_task)):
        (up, expected), (down, also) = (side.by_task.get(task, nothing) for side in (one, other))
        by_task[task] = (up - down, expected + also)
    return Influence(one.value - other.value, by_task)


def two_sided_t(t: float, df: float) -> float:
    """Return the two-sided p-value of a t statistic."""
    from scipy.special import stdtr  # slow to import, and not every page needs it

    return 2 * float(stdtr(df, -abs(t)))
