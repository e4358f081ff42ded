"""All models against each other, paired by task: simultaneous intervals, tests and ranks."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, encode
from analysis.stats.comparison.multiplicity import Family, adjust_family
from analysis.stats.comparison.paired import PairComparison, compare_pair, pair_by_task
from analysis.stats.comparison.ranks import rank_order
from analysis.stats.results import Estimate


@dataclass(frozen=True)
class ModelPair:
    """Two models; ``p_adjusted`` and ``clear`` are of the family, None where not tested."""

    first: str
    second: str
    comparison: PairComparison
    p_adjusted: float | None
    clear: bool | None

    @property
    def name(self) -> str:
        """The name of the pair, as in the family's tests."""
        return pair_name(self.first, self.second)


@dataclass(frozen=True)
class PairwiseRank:
    """A model's rank, 1 best, and the ranks that the differences of all pairs leave to it.

    ``low`` and ``high`` are None without a value. ``n`` counts its tasks.
    """

    model: str
    value: float | None
    rank: int | None
    low: int | None
    high: int | None
    n: int


@dataclass(frozen=True)
class ModelComparisons:
    """Every pair of models, the family that all were corrected over, and the ranks they leave."""

    measure: str
    models: tuple[str, ...]
    pairs: tuple[ModelPair, ...]
    family: Family
    ranks: tuple[PairwiseRank, ...]

    def against(self, model: str) -> tuple[ModelPair, ...]:
        """Return the pairs of one model, the others first."""
        return tuple(
            pair if pair.second == model else turned_pair(pair)
            for pair in self.pairs
            if model in (pair.first, pair.second)
        )


def pair_name(first: str, second: str) -> str:
    """Name the test of two models."""
    return f"{first} against {second}"


def turned_pair(pair: ModelPair) -> ModelPair:
    """Return the same pair, second minus first."""
    one = pair.comparison
    table = one.table
    turned = replace(
        one,
        first=one.second,
        second=one.first,
        difference=turned_estimate(one.difference),
        wins=one.losses,
        losses=one.wins,
        table=replace(table, first_only=table.second_only, second_only=table.first_only)
        if table is not None
        else None,
    )
    return replace(pair, first=pair.second, second=pair.first, comparison=turned)


def turned_estimate(estimate: Estimate) -> Estimate:
    """Return a difference, second minus first."""
    if estimate.value is None:
        return estimate
    interval = estimate.interval
    if interval is not None:
        interval = replace(interval, low=-interval.high, high=-interval.low)
    return replace(estimate, value=-estimate.value, interval=interval)


def compare_models(
    models: Sequence[str],
    tasks: Sequence[Hashable],
    values: Any,
    *,
    measure: str,
    among: int | None = None,
    alpha: float = 0.05,
    most: float | None = None,
) -> ModelComparisons:
    """Compare models on the tasks that they share, two by two.

    Parameters
    ----------
    models, tasks, values
        A row per attempt: its model, its task, and its outcome (0 or 1) or score; None and NaN are
        excluded and counted.
    measure
        What the values are ("accuracy"), for the statement of the family.
    among
        How many models the chosen data have, where not all of them are given: the family is all of
        their pairs, whatever is shown.
    alpha
        Of the family; intervals hold together at level 1 − alpha.
    most
        The largest difference that the scale allows (`paired.paired_difference`).

    Raises
    ------
    ValueError
        If lengths differ, or ``among`` is less than the number of models.

    Notes
    -----
    Each pair is compared on its own common tasks, so n may differ from pair to pair. With K models
    there are m = K(K − 1)/2 pairs: p-values are multiplied by m (Bonferroni), and the interval of a
    pair is that of level 1 − alpha/m, so that it excludes 0 exactly where the pair is clear.
    Bonferroni and not Holm, whose steps have no such intervals. A rank lies between 1 + the number
    of models that are clearly better and K − the number that are clearly worse; all of these ranks
    hold together at level 1 − alpha (Mogstad, Romano, Shaikh & Wilhelm 2024, Rev. Econ. Stud.
    91:476; Al Mohamad, Goeman & van Zwet 2022, Biometrics 78:1213).
    """
    names, by_model = _split(models, tasks, values)
    size = len(names) if among is None else among
    if size < len(names):
        raise ValueError(f"{len(names)} models are not among {size}")
    pairs = list(combinations(names, 2))
    total = size * (size - 1) // 2
    comparisons = {
        pair: compare_pair(
            pair_by_task(*by_model[pair[0]], *by_model[pair[1]]),
            level=1 - alpha,
            comparisons=max(1, total),
            most=most,
        )
        for pair in pairs
    }
    known = {name: column[~np.isnan(column)] for name, (_, column) in by_model.items()}
    values = {name: float(known[name].mean()) if known[name].size else None for name in names}
    tasks_of = {name: _tasks(*by_model[name]) for name in names}
    return family_of_pairs(comparisons, values, tasks_of, measure=measure, among=size, alpha=alpha)


def family_of_pairs(
    comparisons: Mapping[tuple[str, str], PairComparison],
    values: Mapping[str, float | None],
    tasks: Mapping[str, int],
    *,
    measure: str,
    among: int,
    alpha: float = 0.05,
) -> ModelComparisons:
    """Correct the tests of all pairs of models as one family, and rank the models.

    Parameters
    ----------
    comparisons
        Every pair, with intervals that are simultaneous over the pairs of ``among`` models.
    values, tasks
        What each model is ranked by, None where it is undefined, and its number of tasks.
    measure, among, alpha
        As in `compare_models`.
    """
    total = among * (among - 1) // 2
    family = adjust_family(
        {pair_name(*pair): comparison.p_value for pair, comparison in comparisons.items()},
        statement=f"all {total} pairs of {among} models on {measure}"
        if total > 1
        else f"the pair of {among} models on {measure}",
        method="bonferroni",
        alpha=alpha,
        size=total,
    )
    compared = tuple(
        ModelPair(*pair, comparison, test.adjusted, test.clear)
        for (pair, comparison), test in zip(comparisons.items(), family.tests, strict=True)
    )
    ranks = _ranks(values, tasks, compared)
    return ModelComparisons(measure, tuple(values), compared, family, ranks)


def _ranks(
    values: Mapping[str, float | None], tasks: Mapping[str, int], pairs: Sequence[ModelPair]
) -> tuple[PairwiseRank, ...]:
    """Rank the models by their values, with the ranks that clear pairs leave to each."""
    better, worse = dict.fromkeys(values, 0), dict.fromkeys(values, 0)
    for pair in pairs:
        if pair.clear:
            up = (pair.comparison.difference.value or 0.0) > 0
            high, low = (pair.first, pair.second) if up else (pair.second, pair.first)
            better[low] += 1
            worse[high] += 1
    there = sum(value is not None for value in values.values())
    ranks = rank_order(list(values.values()))
    return tuple(
        PairwiseRank(name, value, rank, 1 + better[name], there - worse[name], tasks[name])
        if value is not None
        else PairwiseRank(name, None, None, None, None, 0)
        for (name, value), rank in zip(values.items(), ranks, strict=True)
    )


def _tasks(tasks: Sequence[Hashable], values: Floats) -> int:
    return len({task for task, gone in zip(tasks, np.isnan(values), strict=True) if not gone})


def _split(
    models: Sequence[str], tasks: Sequence[Hashable], values: Any
) -> tuple[tuple[str, ...], dict[str, tuple[list[Hashable], Floats]]]:
    """Return the tasks and values of each model, in the order in which models first appear."""
    column = as_column(values)
    check_length_of(models, column.size, "models")
    check_length_of(tasks, column.size, "tasks")
    names, codes = encode(models)
    rows = [np.flatnonzero(codes == code).tolist() for code in range(len(names))]
    return names, {
        name: ([tasks[i] for i in mine], column[mine])
        for name, mine in zip(names, rows, strict=True)
    }
