"""Rank orders of models: how two of them agree, and how firm a rank is."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from analysis.stats.columns import (
    Floats,
    as_column,
    check_length_of,
    encode,
)
from analysis.stats.resampling import Units, resampled

EQUAL = 1e-12
NO_VALUE = "no value: no rank"
ONE_TASK = "one task only: no interval"
RESAMPLES = 2000


def rank_order(values: Sequence[float | None]) -> tuple[int | None, ...]:
    """Rank the values, 1 for the highest; equal values share the better rank, None has none."""
    known = [value for value in values if value is not None]
    return tuple(
        None if value is None else 1 + sum(other > value for other in known) for value in values
    )


def reversed_pairs(
    first: Sequence[float | None], second: Sequence[float | None]
) -> tuple[int, int]:
    """Count the pairs that two sets of values order oppositely, and those both order strictly.

    Tied pairs and pairs with a missing value count in neither. 1 − 2·(first/second) is Goodman and
    Kruskal's gamma.
    """
    pairs = opposite = 0
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    for i, (a, b) in enumerate(both):
        for c, d in both[i + 1 :]:
            sign = (a - c) * (b - d)
            pairs += sign != 0
            opposite += sign < 0
    return opposite, pairs


def order_agreement(first: Any, second: Any) -> Floats:
    """Compute Kendall's τ_b of two sets of values, along the last axis.

    Parameters
    ----------
    first, second
        Arrays of the same shape; the last axis runs over models. Values closer than 1e-12 are tied.
        A model with a missing value (NaN) takes no part.

    Returns
    -------
    array
        One τ_b for each; NaN where an order has no two models apart.

    Notes
    -----
    τ_b = (C − D)/sqrt((C + D + T₁)(C + D + T₂)), with C and D the pairs ordered alike and
    oppositely, T₁ and T₂ those tied in the second, or in the first, alone. Kendall 1945, Biometrika
    33:239.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    left, right = np.triu_indices(a.shape[-1], k=1)
    with np.errstate(invalid="ignore"):
        signs = [_signs(values[..., left] - values[..., right]) for values in (a, b)]
    there = ~(np.isnan(signs[0]) | np.isnan(signs[1]))
    one, two = (np.where(there, sign, 0) for sign in signs)
    norm = np.sqrt((one**2).sum(axis=-1) * (two**2).sum(axis=-1))
    taus = np.full(norm.shape, np.nan)
    np.divide((one * two).sum(axis=-1), norm, out=taus, where=norm > 0)
    return taus


def _signs(gaps: Floats) -> Floats:
    signs: Floats = np.where(np.abs(gaps) <= EQUAL, 0.0, np.sign(gaps))
    return signs


@dataclass(frozen=True)
class ModelRank:
    """A model's rank, 1 best, and where it lies when tasks are drawn anew.

    Attributes
    ----------
    value
        Mean over its values; None without any, and then it has no rank.
    rank
        Ties share the better rank.
    low, high
        Ends of the interval of the rank at ``level``, whole ranks; None without rank, and with one
        task alone.
    best
        Share of resamples in which no model was better.
    n
        Tasks with a value of this model.
    """

    model: str
    value: float | None
    rank: int | None
    low: int | None
    high: int | None
    level: float
    best: float | None
    n: int
    undefined: str = ""


def task_sums(
    models: Sequence[str], tasks: Sequence[Hashable], values: Any
) -> tuple[tuple[str, ...], Floats, Floats, int]:
    """Sum values by task and model: names, sums (tasks × models), counts, and how many lack one."""
    column = as_column(values)
    check_length_of(models, column.size, "models")
    check_length_of(tasks, column.size, "tasks")
    names, m = encode(models)
    there = ~np.isnan(column)
    _, t = encode(compress(tasks, there))
    size = int(t.max()) + 1 if t.size else 0
    cells = t * len(names) + m[there]
    shape = (size, len(names))
    total = size * len(names)
    sums = np.bincount(cells, weights=column[there], minlength=total).astype(float).reshape(shape)
    counts = np.bincount(cells, minlength=total).reshape(shape).astype(np.float64)
    return names, sums, counts, int((~there).sum())


def resampled_means(sums: Floats, counts: Floats, *, seed: int, resamples: int) -> Floats:
    """Draw tasks with replacement: means by resample, model and whatever the last axis is.

    ``sums`` is tasks × models × anything, ``counts`` tasks × models. NaN where a model has no value
    in a resample.
    """
    size, width, depth = sums.shape
    if size == 0:
        return np.full((resamples, width, depth), np.nan)

    def means(totals: Floats) -> Floats:
        above = totals[:, : width * depth].reshape(-1, width, depth)
        below = np.broadcast_to(totals[:, width * depth :, None], above.shape)
        quotients = np.full(above.shape, np.nan)
        np.divide(above, below, out=quotients, where=below > 0)
        return quotients

    return resampled(task_units(sums, counts), means, seed=seed, resamples=resamples)


def task_units(sums: Floats, counts: Floats) -> Units:
    """Give the tasks as units to draw: the sums of each, then its counts."""
    size = sums.shape[0]
    parts = np.column_stack([sums.reshape(size, -1), counts])
    return Units(parts, np.ones(size, dtype=np.int64), "task")


def ranked_models(
    names: Sequence[str], sums: Floats, counts: Floats, drawn: Floats, level: float
) -> tuple[ModelRank, ...]:
    """Rank the models by their means, with the spread of their ranks over resampled means.

    ``sums`` and ``counts`` are tasks × models, ``drawn`` resamples × models.

    Notes
    -----
    Every draw is ranked anew, and the interval is between the (1 ∓ level)/2 quantiles of the ranks
    (of whole ranks, outwards). Goldstein & Spiegelhalter 1996, J. R. Stat. Soc. A 159:385. Ranks of
    models that are equal in truth never settle, however many tasks there are: read a wide interval
    as "cannot be told apart".
    """
    below = counts.sum(axis=0)
    values = np.full(len(names), np.nan)
    np.divide(sums.sum(axis=0), below, out=values, where=below > 0)
    point = ranks_of(values)
    resampled = ranks_of(drawn)
    rows = []
    for m, name in enumerate(names):
        n = int((counts[:, m] > 0).sum())
        if n == 0:
            rows.append(ModelRank(name, None, None, None, None, level, None, 0, NO_VALUE))
            continue
        mine = resampled[:, m][~np.isnan(resampled[:, m])]
        low: int | None = None
        high: int | None = None
        best: float | None = None
        if counts.shape[0] > 1 and mine.size:
            low = int(np.quantile(mine, (1 - level) / 2, method="lower"))
            high = int(np.quantile(mine, (1 + level) / 2, method="higher"))
            best = float((mine == 1).mean())
        why = "" if low is not None else ONE_TASK
        rows.append(
            ModelRank(name, float(values[m]), int(point[m]), low, high, level, best, n, why)
        )
    return tuple(rows)


def ranks_of(values: Floats) -> Floats:
    """Rank along the last axis, 1 for the highest; ties share the better rank, NaN has none."""
    with np.errstate(invalid="ignore"):
        better = values[..., None, :] > values[..., :, None] + EQUAL
    ranks: Floats = np.where(np.isnan(values), np.nan, 1.0 + better.sum(axis=-1))
    return ranks
