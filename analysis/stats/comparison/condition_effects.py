"""Effects of conditions: levels, ablations, constraint tracking, temperature; paired by task.

AdaPlanBench: Figure 2 (levels), Figure 4 (tracking), Figure 6 (dual ablation), Table 5
(temperature), all without intervals or tests there.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, check_level, encode
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.comparison.paired import (
    NO_COMMON_TASK,
    PairComparison,
    compare_pair,
    pair_by_task,
)
from analysis.stats.comparison.ranks import task_sums
from analysis.stats.descriptive.means import (
    OPEN_SCALE,
    Scale,
    cluster_interval,
    mean_by_cluster,
    quotients_mean,
)
from analysis.stats.descriptive.trials import success_rate
from analysis.stats.results import Estimate, Interval

Contrast = Literal["baseline", "previous"]
Key = tuple[str, str]

NO_ATTEMPT = "no attempt under this condition"
NO_CHANGE = "no model has a task under both conditions"
ONE_CONDITION = "one condition only: nothing to range over"
ONE_TASK = "a model has one task only: no interval"
NO_VARIATION = "all tasks change alike: no interval"
RANGE_GROWS = "a range is never negative and grows with chance: read its upper end"


@dataclass(frozen=True)
class ConditionChange:
    """The change for one model from ``base`` to ``condition``; p-value and verdict of the family.

    ``comparison`` has the condition as the first, the base as the second.
    """

    model: str
    condition: str
    base: str
    comparison: PairComparison
    p_adjusted: float | None
    clear: bool | None


@dataclass(frozen=True)
class ConditionEffects:
    """A measure by model and condition, and what conditions change.

    Attributes
    ----------
    cells
        By (model, condition): share of successes, or mean.
    changes
        By model and condition, on the tasks that it has under both.
    overall
        By condition and base: mean over models of their changes, every model with the same weight;
        ``n`` counts models.
    ranges
        By model: highest minus lowest mean over the conditions, on the tasks that it has under all
        of them; ``n`` counts tasks.
    family
        The tests of ``changes``.
    """

    measure: str
    models: tuple[str, ...]
    conditions: tuple[str, ...]
    contrast: Contrast
    cells: Mapping[Key, Estimate]
    changes: tuple[ConditionChange, ...]
    overall: Mapping[Key, Estimate]
    ranges: Mapping[str, Estimate]
    family: Family


class _Intervals(NamedTuple):
    level: float
    scale: Scale
    # How far two values can be apart, where that is known.
    widest: float | None


def condition_effects(
    models: Sequence[str],
    conditions: Sequence[str],
    tasks: Sequence[Hashable],
    values: Any,
    *,
    measure: str,
    order: Sequence[str],
    contrast: Contrast = "baseline",
    pairs: Sequence[Key] = (),
    among: int | None = None,
    alpha: float = 0.05,
    scale: Scale = OPEN_SCALE,
) -> ConditionEffects:
    """Compare a measure between conditions, model by model, on the same tasks.

    Parameters
    ----------
    models, conditions, tasks, values
        A row per attempt: model, condition, task, and outcome (0 or 1) or score; None and NaN are
        excluded and counted.
    measure
        What the values are ("accuracy"), for the statement of the family.
    order
        The conditions to compare, the first the baseline: low, mid, high; both, world_only,
        user_only; without and with tracking; temperatures.
    contrast
        ``"baseline"``: every condition against the first. ``"previous"``: each against the one
        before it, for levels that follow each other.
    pairs
        Further changes, as (base, condition), such as from one ablation to the other.
    among
        How many models the chosen data have, where not all of them are given: the family is the
        changes of all of them on this measure, whatever is shown.
    alpha
        Of the family; intervals of changes hold together at level 1 − alpha.
    scale
        The least and the largest value that there can be, where that is known.

    Raises
    ------
    ValueError
        If lengths differ, ``order`` repeats a condition, or rows or pairs have one that is not in
        it.

    Notes
    -----
    Cells: outcomes of 0 and 1 as in `trials.success_rate`, scores as in `means.mean_by_cluster`. A
    change is on the tasks that the model has under both, so it need not be the difference of two
    cells; formulas in `paired.compare_pair`. P-values and intervals of changes are corrected over
    the family (Bonferroni), so that an interval excludes 0 exactly where the change is clear.
    Overall changes take tasks as independent (`means.quotients_mean`, t interval) and speak of
    these models. The interval of a range follows from simultaneous intervals of the differences of
    all pairs of conditions (Bonferroni): all hold at once with probability 1 − alpha, and then the
    range lies between the largest lower and the largest upper end. A range is at least 0 and grows
    with chance, so that "at most 3 points" is a statement about its upper end.
    """
    check_level(1 - alpha)
    if not order or len(set(order)) < len(order):
        raise ValueError("name the conditions in their order, each once")
    column = as_column(values)
    for name, labels in (("models", models), ("conditions", conditions), ("tasks", tasks)):
        check_length_of(labels, column.size, name)
    unknown = {*conditions, *(one for pair in pairs for one in pair)} - set(order)
    if unknown:
        raise ValueError(f"{min(unknown)!r} is not among the conditions {', '.join(order)}")
    names, _ = encode(models)
    rows: dict[Key, list[int]] = {(name, condition): [] for name in names for condition in order}
    for i, key in enumerate(zip(models, conditions, strict=True)):
        rows[key].append(i)
    by_key = {key: ([tasks[i] for i in mine], column[mine]) for key, mine in rows.items()}
    if contrast not in ("baseline", "previous"):
        raise ValueError(f"contrast with the baseline or the previous, not {contrast!r}")
    binary = bool(np.isin(column[~np.isnan(column)], (0, 1)).all())
    before = order[:-1] if contrast == "previous" else [order[0]] * (len(order) - 1)
    bases = [*zip(order[1:], before, strict=True), *((new, old) for old, new in pairs)]
    size = len(names) if among is None else among
    if size < len(names):
        raise ValueError(f"{len(names)} models are not among {size}")
    total = size * len(bases)
    low, high = scale
    widest = 1.0 if binary else None if low is None or high is None else high - low
    drawing = _Intervals(1 - alpha, scale, widest)
    changes = _changes(names, bases, by_key, 1 - alpha, max(1, total), widest)
    family = adjust_family(
        {f"{name}: {base} to {condition}": found.p_value
         for (name, condition, base), found in changes.items()},
        statement=f"{total} changes of {measure}: {size} models, "
        f"{', '.join(f'{base} to {condition}' for condition, base in bases) or 'none'}",
        method="bonferroni",
        alpha=alpha,
        size=total,
    )  # fmt: skip
    return ConditionEffects(
        measure=measure,
        models=names,
        conditions=tuple(order),
        contrast=contrast,
        cells={key: _cell(*found, binary, drawing) for key, found in by_key.items()},
        changes=tuple(
            ConditionChange(*key, found, test.adjusted, test.clear)
            for (key, found), test in zip(changes.items(), family.tests, strict=True)
        ),
        overall={
            (condition, base): _overall(names, condition, base, by_key, drawing)
            for condition, base in bases
        },
        ranges={name: _range(name, order, by_key, drawing) for name in names},
        family=family,
    )


Columns = Mapping[Key, tuple[list[Hashable], Floats]]


def _cell(tasks: list[Hashable], values: Floats, binary: bool, drawing: _Intervals) -> Estimate:
    if not tasks:
        return Estimate.without_value(NO_ATTEMPT)
    if binary:
        return success_rate(values, tasks, level=drawing.level)
    return mean_by_cluster(values, tasks, level=drawing.level, scale=drawing.scale)


def _changes(
    names: Sequence[str],
    bases: Sequence[Key],
    by_key: Columns,
    level: float,
    comparisons: int,
    most: float | None,
) -> dict[tuple[str, str, str], PairComparison]:
    return {
        (name, condition, base): compare_pair(
            pair_by_task(*by_key[name, condition], *by_key[name, base]),
            level=level,
            comparisons=comparisons,
            most=most,
        )
        for name in names
        for condition, base in bases
    }


def _overall(
    names: Sequence[str], condition: str, base: str, by_key: Columns, drawing: _Intervals
) -> Estimate:
    labels: list[str] = []
    tasks: list[Hashable] = []
    differences: list[float] = []
    for name in names:
        paired = pair_by_task(*by_key[name, condition], *by_key[name, base])
        labels += [name] * len(paired.tasks)
        tasks += paired.tasks
        differences += paired.differences.tolist()
    if not tasks:
        return Estimate.without_value(NO_CHANGE)
    known, sums, counts, _ = task_sums(labels, tasks, differences)
    value = float((sums.sum(axis=0) / counts.sum(axis=0)).mean())
    if (counts == counts.sum(axis=0)).any():
        return Estimate(value, len(known), no_interval=ONE_TASK)
    value, error, df = quotients_mean(sums, counts)
    if error <= 1e-9 * max(1.0, abs(value)):
        return Estimate(value, len(known), no_interval=NO_VARIATION)
    clusters = len(counts)
    interval = cluster_interval(
        value, error, df, clusters=clusters, unit="task", level=drawing.level, rate=False
    )
    estimate = Estimate(value, len(known), interval)
    wide = drawing.widest
    return estimate if wide is None else estimate.within(-wide, wide)


def _range(name: str, order: Sequence[str], by_key: Columns, drawing: _Intervals) -> Estimate:
    if len(order) < 2:
        return Estimate.without_value(ONE_CONDITION)
    labels: list[str] = []
    tasks: list[Hashable] = []
    for condition in order:
        labels += [condition] * len(by_key[name, condition][0])
        tasks += by_key[name, condition][0]
    values = np.concatenate([by_key[name, condition][1] for condition in order])
    _, sums, counts, _ = task_sums(labels, tasks, values)
    full = (counts > 0).all(axis=1) if counts.shape[1] == len(order) else np.zeros(0, dtype=bool)
    if not full.any():
        return Estimate.without_value(NO_COMMON_TASK)
    # Every task with the same weight, as in the changes.
    means = sums[full] / counts[full]
    value, size = float(np.ptp(means.mean(axis=0))), len(means)
    places = list(range(size))
    pairs = [(i, j) for i in range(len(order)) for j in range(i)]
    estimates = [
        compare_pair(
            pair_by_task(places, means[:, i], places, means[:, j]),
            level=drawing.level,
            comparisons=len(pairs),
            most=drawing.widest,
        ).difference
        for i, j in pairs
    ]
    known = [one.interval for one in estimates if one.interval is not None]
    if not known:
        return Estimate(value, size, no_interval=NO_VARIATION, warnings=(RANGE_GROWS,))
    # Largest distances that are possible, and that are sure, over all pairs at once.
    most = max(max(abs(one.low), abs(one.high)) for one in known)
    least = max(max(one.low, -one.high, 0.0) for one in known)
    method = f"all-pairs, {known[0].method.partition(', ')[0]}"
    details = {"clusters": size}
    interval = Interval(min(least, value), max(most, value), drawing.level, method, details, "task")
    return Estimate(value, size, interval, warnings=(RANGE_GROWS,))
