"""Pass rate and accuracy as the rubric threshold τ varies, with the models' rank order.

AdaPlanBench, Appendix D.2.3 and Table 10.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from analysis.stats.columns import (
    Codes,
    Floats,
    as_column,
    as_floats,
    check_length_of,
    check_level,
    encode,
)
from analysis.stats.comparison.extremes import (
    Difference,
    clear_differences,
    paired_groups,
    pairs_of,
)
from analysis.stats.comparison.model_comparisons import compare_models
from analysis.stats.comparison.ranks import (
    RESAMPLES,
    ModelRank,
    order_agreement,
    rank_order,
    ranked_models,
    resampled_means,
    reversed_pairs,
    task_sums,
    task_units,
)
from analysis.stats.descriptive.proportions import share
from analysis.stats.resampling import estimate_from_draws
from analysis.stats.results import Estimate

THRESHOLDS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
REFERENCE = 3.5
NO_VERDICT = "validity unknown"
NO_SCORE = "a rubric score is missing"


@dataclass(frozen=True)
class ThresholdPoint:
    """One model at one τ, as fractions; ``rank`` by accuracy, 1 best, ties share the better one."""

    threshold: float
    passed: Estimate | None
    accuracy: Estimate
    rank: int | None


@dataclass(frozen=True)
class ThresholdCurve:
    """One model over all thresholds."""

    model: str
    points: tuple[ThresholdPoint, ...]


@dataclass(frozen=True)
class RankOrder:
    """The order at one τ, best first, and how many pairs it turns round against the reference.

    ``pairs`` counts the pairs of models that are ordered strictly both here and at the reference,
    ``kendall`` is τ_b of the two orders; None where either has no two models apart.
    """

    threshold: float
    models: tuple[str, ...]
    reversed_pairs: int
    pairs: int
    kendall: float | None


@dataclass(frozen=True)
class ThresholdSweep:
    """Curves of all models, the order at each τ, and the τ that orders are compared with."""

    thresholds: tuple[float, ...]
    reference: float
    curves: tuple[ThresholdCurve, ...]
    orders: tuple[RankOrder, ...]


def threshold_sweep(
    models: Sequence[str],
    valid: Any,
    scores: Any,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    reference: float = REFERENCE,
    level: float = 0.95,
) -> ThresholdSweep:
    """Compute the share of trajectories that pass, and that are valid and pass, at each threshold.

    Parameters
    ----------
    models
        Model of each of n trajectories.
    valid
        Whether its last plan violated nothing: true, false, or None where that is unknown.
    scores
        n rows of the judges' mean scores of the last plan, one column per counted dimension;
        None or NaN where a judge is missing.
    thresholds, reference
        The values of τ, increasing, and the one of them that rank orders are compared with.
    level
        Confidence level of the Wilson intervals.

    Notes
    -----
    Pass = 1 iff every dimension's mean score ≥ τ, that is iff the lowest of them is; accuracy is
    the share of valid ∧ Pass. Both fall (weakly) as τ grows. A trajectory without a verdict on
    validity or without a score in any counted dimension is excluded from both and counted, once.
    Formula and degenerate cases of the intervals as in `proportions.share`; they treat the
    trajectories of a model as independent.
    """
    levels = check_thresholds(thresholds, reference)
    rows = read_verdicts(models, valid, scores)
    names, codes, verdict, lowest = rows.names, rows.codes, rows.verdict, rows.lowest
    unknown, unscored, kept = rows.unknown, rows.unscored, rows.kept
    passed: dict[str, list[Estimate]] = {}
    accuracy: dict[str, list[Estimate]] = {}
    for code, name in enumerate(names):
        mine = codes == code
        used = mine & kept
        n = int(used.sum())
        excluded = {
            reason: int((mine & gone).sum())
            for reason, gone in ((NO_VERDICT, unknown), (NO_SCORE, unscored))
            if (mine & gone).any()
        }
        reached = [used & (lowest >= tau) for tau in levels]
        right = [hits & (verdict == 1) for hits in reached]
        passed[name] = [share(int(h.sum()), n, level=level, excluded=excluded) for h in reached]
        accuracy[name] = [share(int(h.sum()), n, level=level, excluded=excluded) for h in right]
    return _ranked(levels, reference, passed, accuracy)


def sweep_of_estimates(
    accuracy: Mapping[str, Sequence[Estimate]],
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    reference: float = REFERENCE,
) -> ThresholdSweep:
    """Make the same result from accuracies known already, such as published ones.

    ``accuracy`` goes from model to one estimate per threshold (`proportions.published_share`);
    pass rates are None.
    """
    levels = check_thresholds(thresholds, reference)
    for model, estimates in accuracy.items():
        check_length_of(estimates, len(levels), model)
    return _ranked(levels, reference, {}, accuracy)


@dataclass(frozen=True)
class Verdicts:
    """Last plans as arrays: whether each is valid (0, 1, NaN), and its lowest counted score."""

    names: tuple[str, ...]
    codes: Codes
    verdict: Floats
    lowest: Floats
    unknown: Any
    unscored: Any

    @property
    def kept(self) -> Any:
        """The trajectories that can be counted."""
        return ~self.unknown & ~self.unscored


def read_verdicts(models: Sequence[str], valid: Any, scores: Any) -> Verdicts:
    """Read the columns that `threshold_sweep` describes."""
    verdict = as_column(valid)
    if not np.isin(verdict[~np.isnan(verdict)], (0, 1)).all():
        raise ValueError("validity is true, false or None")
    rubric = as_floats(scores)
    if verdict.size == 0 and rubric.size == 0:
        rubric = rubric.reshape(0, 1)
    check_length_of(models, verdict.size, "models")
    check_length_of(rubric, verdict.size, "scores")
    if rubric.ndim != 2 or rubric.shape[1] == 0:
        raise ValueError("scores need one row per trajectory and one column per dimension")
    names, codes = encode(models)
    lowest = rubric.min(axis=1)  # NaN where any is missing
    unknown = np.isnan(verdict)
    return Verdicts(names, codes, verdict, lowest, unknown, ~unknown & np.isnan(lowest))


def check_thresholds(thresholds: Sequence[float], reference: float) -> tuple[float, ...]:
    """Return the thresholds as floats; refuse those that do not increase or lack the reference."""
    levels = tuple(float(tau) for tau in thresholds)
    if not levels or any(a >= b for a, b in zip(levels, levels[1:], strict=False)):
        raise ValueError("thresholds must be given, and increase")
    if reference not in levels:
        raise ValueError(f"the reference threshold {reference} is not among those varied")
    return levels


def _ranked(
    levels: tuple[float, ...],
    reference: float,
    passed: Mapping[str, Sequence[Estimate]],
    accuracy: Mapping[str, Sequence[Estimate]],
) -> ThresholdSweep:
    names = tuple(accuracy)
    at_reference = [accuracy[name][levels.index(reference)].value for name in names]
    points: dict[str, list[ThresholdPoint]] = {name: [] for name in names}
    orders = []
    for t, tau in enumerate(levels):
        values = [accuracy[name][t].value for name in names]
        ranks = rank_order(values)
        for name, rank in zip(names, ranks, strict=True):
            passing = passed[name][t] if name in passed else None
            points[name].append(ThresholdPoint(tau, passing, accuracy[name][t], rank))
        placed = sorted((r, i) for i, r in enumerate(ranks) if r is not None)
        opposite, pairs = reversed_pairs(at_reference, values)
        kendall = float(order_agreement(as_column(at_reference), as_column(values)))
        orders.append(
            RankOrder(
                tau, tuple(names[i] for _, i in placed), opposite, pairs,
                None if isnan(kendall) else kendall,
            )
        )  # fmt: skip
    curves = tuple(ThresholdCurve(name, tuple(points[name])) for name in names)
    return ThresholdSweep(levels, reference, curves, tuple(orders))


@dataclass(frozen=True)
class Reversal:
    """Two models that are clearly ordered one way at the reference, the other way at ``tau``."""

    first: str
    second: str
    threshold: float


def clear_reversals(
    models: Sequence[str],
    tasks: Sequence[Hashable],
    valid: Any,
    scores: Any,
    sweep: ThresholdSweep,
    *,
    among: int,
) -> tuple[Reversal, ...]:
    """Return the pairs whose order clearly differs between a threshold and the reference.

    Parameters
    ----------
    models, tasks, valid, scores
        As in `threshold_stability`; ``sweep`` is computed from them.
    among
        How many models the chosen data have.

    Notes
    -----
    A pair swaps clearly where both of its paired differences are clear and have opposite signs:
    ``first`` is ahead at the reference. Intervals hold together over all pairs of models at all
    thresholds (Bonferroni). Of few models τ_b takes few values, and −1 is one swapped pair: no
    finding by itself.
    """
    rows = read_verdicts(models, valid, scores)
    comparisons = pairs_of(among) * len(sweep.thresholds)

    def difference_at(tau: float) -> Difference:
        right = np.where(rows.kept, (rows.lowest >= tau) & (rows.verdict == 1), np.nan)
        return paired_groups(models, tasks, right, comparisons=comparisons, most=1.0)

    ahead = clear_differences(rows.names, difference_at(sweep.reference))
    reversals = []
    for order in sweep.orders:
        if ahead and order.reversed_pairs:
            here = difference_at(order.threshold)
            for first, second, _ in ahead:
                gap = here(first, second)
                if gap.is_clear and (gap.value or 0.0) < 0:
                    reversals.append(Reversal(first, second, order.threshold))
    return tuple(reversals)


NO_ORDER = "no two models differ in accuracy here or at the reference"


@dataclass(frozen=True)
class StabilityPoint:
    """The ranking at one τ; ``kendall`` is τ_b with the ranking at the reference (n = models)."""

    threshold: float
    ranks: tuple[ModelRank, ...]
    kendall: Estimate


@dataclass(frozen=True)
class ThresholdStability:
    """Rankings at every τ; ``excluded`` counts trajectories without a verdict or a score."""

    reference: float
    tasks: int
    points: tuple[StabilityPoint, ...]
    excluded: int


def threshold_stability(
    models: Sequence[str],
    tasks: Sequence[Hashable],
    valid: Any,
    scores: Any,
    *,
    thresholds: Sequence[float] = THRESHOLDS,
    reference: float = REFERENCE,
    among: int | None = None,
    seed: int,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> ThresholdStability:
    """Rank the models at each threshold, with intervals, and compare each order with one of them.

    Parameters
    ----------
    models, valid, scores, thresholds, reference
        As in `thresholds.threshold_sweep`.
    tasks
        Task of each trajectory.
    among
        As in `model_comparisons.compare_models`.
    seed, resamples, level
        Of the bootstrap of τ_b; ``level`` of all intervals.

    Notes
    -----
    Accuracy at every τ gives ranks; the interval of a rank is what the differences of all pairs of
    models leave (`model_comparisons.compare_models`), and those at one τ hold together, also with
    few tasks. For Kendall's τ_b of each order with that at the reference tasks are drawn, the same
    for all models and thresholds; its interval is between quantiles of the draws. A draw in which
    no two models are apart has no τ_b; it is left out and counted in a warning. τ_b is undefined
    where that is so in the data themselves; no interval from one task, nor where all draws agree
    (as at the reference itself). Drawing adds noise to both orders, so the interval may lie below
    the value: it says how far the stability may be luck, not that it is.
    """
    check_level(level)
    levels = check_thresholds(thresholds, reference)
    rows = read_verdicts(models, valid, scores)
    check_length_of(tasks, rows.verdict.size, "tasks")
    right = [
        np.where(rows.kept, (rows.lowest >= tau) & (rows.verdict == 1), np.nan) for tau in levels
    ]
    tables = [task_sums(models, tasks, column) for column in right]
    names, _, counts, gone = tables[0]
    sums = np.stack([table[1] for table in tables], axis=2)
    drawn = resampled_means(sums, counts, seed=seed, resamples=resamples)
    at = levels.index(reference)
    points = []
    for t, tau in enumerate(levels):
        ranks = ranked_models(names, sums[:, :, t], counts, drawn[:, :, t], level)
        pairs = compare_models(
            models, tasks, right[t], measure=f"accuracy at {tau:g}", among=among, alpha=1 - level
        )
        left = {rank.model: rank for rank in pairs.ranks}
        ranks = tuple(
            replace(one, low=left[one.model].low, high=left[one.model].high) if one.n else one
            for one in ranks
        )
        values = [_values(sums[:, :, place], counts) for place in (at, t)]
        value = float(order_agreement(*values))
        agreement = order_agreement(drawn[:, :, at], drawn[:, :, t])
        kendall = Estimate.without_value(NO_ORDER, n=len(names))
        if not np.isnan(value):
            kendall = estimate_from_draws(
                value, len(names), agreement, task_units(sums, counts), level=level, seed=seed
            )
        points.append(StabilityPoint(tau, ranks, kendall))
    return ThresholdStability(reference, counts.shape[0], tuple(points), gone)


def _values(sums: Floats, counts: Floats) -> Floats:
    below = counts.sum(axis=0)
    values = np.full(below.shape, np.nan)
    np.divide(sums.sum(axis=0), below, out=values, where=below > 0)
    return values
