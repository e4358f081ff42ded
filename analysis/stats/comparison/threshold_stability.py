"""Whether the order of models depends on the rubric threshold τ, when tasks are drawn anew.

AdaPlanBench, Appendix D.2.3: "the relative ordering … remains largely unchanged".
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, check_length_of, check_level
from analysis.stats.comparison.ranks import (
    RESAMPLES,
    ModelRank,
    order_agreement,
    ranked_models,
    resampled_means,
    task_sums,
    task_units,
)
from analysis.stats.comparison.thresholds import (
    REFERENCE,
    THRESHOLDS,
    check_thresholds,
    read_verdicts,
)
from analysis.stats.resampling import estimate_from_draws
from analysis.stats.results import Estimate

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
        Task of each trajectory: tasks are drawn.
    seed, resamples, level
        Of the bootstrap.

    Notes
    -----
    The same drawn tasks serve all models and all thresholds: a draw gives every model's accuracy at
    every τ, ranks at each (`ranks.ranked_models`), and Kendall's τ_b of each order with the
    draw's own order at the reference. The interval of τ_b is between quantiles of these. A draw in
    which no two models are apart has no τ_b; it is left out and counted in a warning. τ_b is
    undefined where that is so in the data themselves; no interval from one task, nor where all
    draws agree (as at the reference itself). Resampling adds noise to both orders, so the interval
    may lie below the value: it says how far the stability may be luck, not that it is.
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
