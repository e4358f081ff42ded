"""Distances of a person's score from the mean of the judges, in exact fractions of a point.

Comparison of one person with the mean of k judges (AdaPlanBench, Appendix F.2, Figures 20 to 23).
It says how close the two are, not how reliable either is: that needs several people per item.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from analysis.stats.columns import as_column, as_floats, check_length_of
from analysis.stats.descriptive.means import mean_by_cluster, mean_t
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Distribution, DistributionBin, Estimate, multiple_label

Integers = npt.NDArray[np.int64]

NO_HUMAN = "no human score"
NO_JUDGE = "a judge's score is missing"
EXACT_RULE = "the judges' mean equals the person's score"
ROUNDED_RULE = "the judges' mean, rounded half up, equals the person's score"
WITHIN_RULE = "the judges' mean lies at most one point from the person's score"
ALL_DIMENSIONS = "all dimensions"


@dataclass(frozen=True)
class Agreement:
    """Agreement of people with the mean of k judges on one dimension (or on all together).

    Attributes
    ----------
    distribution
        Counts of |person − mean of judges| over the exact values 0, 1/k, 2/k, …
    exact, rounded, within_one
        Shares by the rules named in ``rules``, as fractions.
    bias, absolute
        Mean of (mean of judges − person) and of its absolute value, in points of the scale.
    n, excluded
        Items compared, and items left out by reason; both are repeated in every estimate.
    """

    dimension: str
    judges: int
    n: int
    distribution: Distribution
    exact: Estimate
    rounded: Estimate
    within_one: Estimate
    bias: Estimate
    absolute: Estimate
    rules: Mapping[str, str]
    excluded: Mapping[str, int]


class _Paired(NamedTuple):
    """Complete items: the person's score and the sum over judges, both integers."""

    human: Integers
    total: Integers
    judges: int
    clusters: tuple[Hashable, ...] | None
    excluded: dict[str, int]


def agreement(
    human: Any,
    judges: Any,
    *,
    dimension: str = "",
    scale: tuple[int, int] = (1, 5),
    tasks: Sequence[Hashable] | None = None,
    unit: str = "task",
    level: float = 0.95,
) -> Agreement:
    """Compare people with the mean of k judges: distribution, shares, bias, absolute difference.

    Parameters
    ----------
    human
        n integer scores; None or NaN where the person gave none. Where several people scored an
        item, give one row per person and item, and ``tasks``.
    judges
        n rows of k integer scores, one column per judge; None or NaN where a judge gave none.
    scale
        Lowest and highest score.
    tasks
        Task of each row. Given, all intervals are by task (`means.mean_by_cluster`); else
        shares have Wilson and means t intervals, which treat rows as independent.
    unit
        What ``tasks`` are called.

    Notes
    -----
    Per item Δ = |h − (1/k) Σ_j s_j|. Everything is counted as the integer |k·h − Σ_j s_j| of k-ths
    of a point: in floats 1/3 falls beside its bin. *Exact* means Δ = 0; *rounded* compares h with
    the mean rounded half up, floor((2 Σ s + k)/(2k)); *within one* means Δ ≤ 1. Bias is positive
    where judges score higher than people. An item without the person's score or without any one
    judge's is left out and counted once, under the first of these reasons that holds. Everything
    is undefined where no item is complete. AdaPlanBench, Appendix F.2.
    """
    paired = _pair(human, judges, scale, tasks)
    return _agreement(paired, dimension, scale, level, unit)


def rubric_agreement(
    human: Mapping[str, Any],
    judges: Mapping[str, Any],
    *,
    scale: tuple[int, int] = (1, 5),
    tasks: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> tuple[tuple[Agreement, ...], Agreement]:
    """Compute `agreement` for each dimension, and for all of them together.

    Both mappings go from dimension to the columns that `agreement` takes, with the same rows in
    the same order. Scores of one row are not independent across dimensions, so intervals of the
    overall result are always by cluster: tasks where they are given, rows else. All dimensions
    need the same number of judges.
    """
    if set(human) != set(judges):
        raise ValueError("people and judges scored different dimensions")
    if not human:
        raise ValueError("no dimension to compare")
    pairs = {name: _pair(human[name], judges[name], scale, tasks) for name in human}
    by_rows = {
        name: pairs[name]
        if tasks is not None
        else _pair(human[name], judges[name], scale, range(len(human[name])))
        for name in human
    }
    each = tuple(_agreement(pair, name, scale, level, "task") for name, pair in pairs.items())
    unit = "item" if tasks is None else "task"
    overall = _agreement(_together(list(by_rows.values())), ALL_DIMENSIONS, scale, level, unit)
    return each, overall


def _pair(
    human: Any, judges: Any, scale: tuple[int, int], tasks: Sequence[Hashable] | None
) -> _Paired:
    people = as_column(human)
    scores = as_floats(judges)
    if scores.size == 0 and people.size == 0:
        scores = scores.reshape(0, scores.shape[1] if scores.ndim == 2 else 1)
    if scores.ndim != 2 or scores.shape[0] != people.size or scores.shape[1] == 0:
        raise ValueError(f"judges: shape {scores.shape} for {people.size} items")
    _check_scores(people, scale)
    _check_scores(scores, scale)
    no_human = np.isnan(people)
    no_judge = ~no_human & np.isnan(scores).any(axis=1)
    kept = ~no_human & ~no_judge
    excluded = {
        reason: int(gone.sum())
        for reason, gone in ((NO_HUMAN, no_human), (NO_JUDGE, no_judge))
        if gone.any()
    }
    clusters = None
    if tasks is not None:
        check_length_of(tasks, people.size, "tasks")
        clusters = tuple(task for task, keep in zip(tasks, kept, strict=True) if keep)
    return _Paired(
        people[kept].astype(np.int64),
        scores[kept].astype(np.int64).sum(axis=1),
        scores.shape[1],
        clusters,
        excluded,
    )


def _check_scores(scores: npt.NDArray[np.float64], scale: tuple[int, int]) -> None:
    given = scores[~np.isnan(scores)]
    wrong = (given != np.floor(given)) | (given < scale[0]) | (given > scale[1])
    if wrong.any():
        raise ValueError(f"{given[wrong][0]:g} is no integer score from {scale[0]} to {scale[1]}")


def _together(pairs: list[_Paired]) -> _Paired:
    ks = {pair.judges for pair in pairs}
    if len(ks) > 1:
        raise ValueError(f"dimensions differ in their number of judges: {sorted(ks)}")
    excluded: dict[str, int] = {}
    for pair in pairs:
        for reason, gone in pair.excluded.items():
            excluded[reason] = excluded.get(reason, 0) + gone
    return _Paired(
        np.concatenate([pair.human for pair in pairs]),
        np.concatenate([pair.total for pair in pairs]),
        ks.pop(),
        tuple(cluster for pair in pairs for cluster in pair.clusters or ()),
        excluded,
    )


def _agreement(
    paired: _Paired,
    dimension: str,
    scale: tuple[int, int],
    level: float,
    unit: str,
) -> Agreement:
    k, excluded = paired.judges, paired.excluded
    signed = paired.total - k * paired.human
    parts = np.abs(signed)
    rounded = (2 * paired.total + k) // (2 * k)

    width = float(scale[1] - scale[0])

    def mean_of(values: npt.NDArray[Any], least: float = 0.0) -> Estimate:
        bounds = (least, width)
        if paired.clusters is None:
            return mean_t(values, level=level, excluded=excluded, scale=bounds)
        return mean_by_cluster(
            values,
            paired.clusters,
            level=level,
            excluded=excluded,
            unit=unit,
            scale=bounds,
        )

    def share_of(hits: npt.NDArray[np.bool_]) -> Estimate:
        if paired.clusters is None:
            return share(int(hits.sum()), hits.size, level=level, excluded=excluded)
        return mean_of(hits)

    return Agreement(
        dimension=dimension,
        judges=k,
        n=parts.size,
        distribution=_distribution(parts, k, scale, excluded),
        exact=share_of(parts == 0),
        rounded=share_of(rounded == paired.human),
        within_one=share_of(parts <= k),
        bias=mean_of(signed / k, -width),
        absolute=mean_of(parts / k),
        rules={"exact": EXACT_RULE, "rounded": ROUNDED_RULE, "within_one": WITHIN_RULE},
        excluded=excluded,
    )


def _distribution(
    parts: Integers, k: int, scale: tuple[int, int], excluded: dict[str, int]
) -> Distribution:
    n = int(parts.size)
    counts = np.bincount(parts, minlength=k * (scale[1] - scale[0]) + 1)
    return Distribution(
        denominator=k,
        bins=tuple(
            DistributionBin(
                numerator=i,
                label=multiple_label(i, k),
                count=int(count),
                share=float(Fraction(int(count), n)) if n else None,
            )
            for i, count in enumerate(counts)
        ),
        n=n,
        excluded=excluded,
    )
