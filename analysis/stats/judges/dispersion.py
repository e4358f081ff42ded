"""Dispersion of judges: spread of their means per model, and their severity.

AdaPlanBench, Appendix F.2, "Consistency Among LLM Judges", and Figure 19.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, lgamma, sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, encode
from analysis.stats.comparison.ranks import order_agreement
from analysis.stats.descriptive.means import OPEN_SCALE, mean_t
from analysis.stats.results import Estimate

ONE_JUDGE = "one judge only: judges cannot differ"
JUDGE_MISSING = "a judge scored nothing here"
NO_ORDER = "no two models differ: there is no order"
NO_NOISE = "noise needs two tasks that every judge scored"
DESCRIPTIVE = "descriptive: the judges are no sample"


@dataclass(frozen=True)
class JudgeMean:
    """μ of model m, dimension d, judge j: mean of that judge's n scores (None where n = 0).

    ``by_task`` has the sum and the number of the scores of each task, from which noise is
    estimated.
    """

    model: str
    dimension: str
    judge: str
    mean: float | None
    n: int
    by_task: Mapping[Hashable, tuple[float, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelSpread:
    """σ of one model and dimension: population SD over judges of their means (n = judges).

    ``noise`` is the variance that judges with equal expectations would show (None if unknown);
    ``tasks`` is how many it rests on.
    """

    model: str
    dimension: str
    sd: Estimate
    noise: float | None = None
    tasks: int = 0


@dataclass(frozen=True)
class DimensionSpread:
    """The bar of one dimension: mean over models of their σ (n = models), in points.

    ``floor`` is the mean σ that judges without any difference would show; ``beyond_noise`` is the
    root of the mean over models of σ² without noise, 0 where noise explains all of it.
    """

    dimension: str
    mean_sd: Estimate
    models: tuple[ModelSpread, ...]
    floor: Estimate
    beyond_noise: Estimate

    @property
    def tasks(self) -> int:
        """The fewest tasks behind the noise of a model."""
        return min((model.tasks for model in self.models if model.noise is not None), default=0)


@dataclass(frozen=True)
class JudgeSeverity:
    """One judge's mean score of a dimension minus all judges' mean, in points (n = models).

    Negative: more severe than the others. ``dimension`` is "all dimensions" for the judge's mean
    over dimensions, taken per model first.
    """

    judge: str
    dimension: str
    bias: Estimate


@dataclass(frozen=True)
class Dispersion:
    """All of it, with the means it was made of."""

    judges: tuple[str, ...]
    models: tuple[str, ...]
    dimensions: tuple[DimensionSpread, ...]
    severity: tuple[JudgeSeverity, ...]
    means: tuple[JudgeMean, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class WithoutJudge:
    """The bars without one judge, and whether the models' order depends on that judge.

    ``kendall`` has τ_b, by dimension, of the models ordered by the mean over all judges and over
    the others (n = models that every judge scored).
    """

    judge: str
    dimensions: tuple[DimensionSpread, ...]
    kendall: Mapping[str, Estimate]


def judge_means(
    models: Sequence[str], dimensions: Sequence[str], judges: Sequence[str], scores: Any
) -> tuple[JudgeMean, ...]:
    """Average four columns of equal length by model, dimension and judge.

    None and NaN are no scores: they do not count in n. A database can produce the same cells by
    grouping, for many scores.
    """
    column = as_column(scores)
    for name, labels in (("models", models), ("dimensions", dimensions), ("judges", judges)):
        check_length_of(labels, column.size, name)
    m_names, m = encode(models)
    d_names, d = encode(dimensions)
    j_names, j = encode(judges)
    shape = (len(m_names), len(d_names), len(j_names))
    size = shape[0] * shape[1] * shape[2]
    codes = (m * shape[1] + d) * shape[2] + j
    there = ~np.isnan(column)
    ns = np.bincount(codes[there], minlength=size)
    sums = np.bincount(codes[there], weights=column[there], minlength=size)
    labels3 = [(a, b, c) for a in m_names for b in d_names for c in j_names]
    return tuple(
        JudgeMean(a, b, c, float(total / n) if n else None, int(n))
        for (a, b, c), n, total in zip(labels3, ns, sums, strict=True)
    )


def judge_dispersion(
    means: Sequence[JudgeMean],
    *,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Dispersion:
    """Compute the spread between judges per dimension, and each judge's severity.

    Parameters
    ----------
    means
        One `JudgeMean` per model, dimension and judge; a combination that is absent counts as a
        judge that scored nothing there.
    scale
        The lowest and the highest score: no interval goes further than these allow.
    level
        Confidence level of the t intervals over models.

    Notes
    -----
    μ_{m,d,j} is the mean score of judge j for model m on dimension d; σ_{m,d} is the population
    standard deviation (division by the number of judges) of μ_{m,d,j} over j; the bar of d is the
    mean of σ_{m,d} over models (AdaPlanBench, Appendix F.2; below 0.30 there). Severity of judge j
    on d is the mean over models of μ_{m,d,j} − mean_j μ_{m,d,j}. Intervals are t over models: they
    take the models as a sample and say nothing with few of them.

    σ_{m,d} is undefined where any judge has no score (two of three judges would look more alike
    than three) and with a single judge, where it would be 0 for no reason. Such models are excluded
    from the mean and counted. A judge whose n differs from the others' in a cell scored different
    turns: a warning says where. Give the judges of one judging at a time. σ of means hides
    disagreement that cancels out across items.

    Means of few scores differ by noise alone. With u_gj what task g adds to μ_j (Σ of its scores
    minus their number times μ_j, divided by n_j) less its mean over judges, the noise in σ² is the
    mean over judges of G/(G − 1) Σ_g u_gj²: the same task is scored by all, so what is common
    cancels out. Judges without any difference then show a σ of √noise · √(2/(J − 1)) Γ(J/2)/Γ((J −
    1)/2) on average, the mean of a χ distribution with J − 1 degrees of freedom.
    """
    judges, _ = encode(cell.judge for cell in means)
    cells = {(cell.model, cell.dimension, cell.judge): cell for cell in means}
    if len(cells) < len(means):
        raise ValueError("a model, dimension and judge occur twice")
    grid, models, names = _grid(means, judges)
    wide = None if scale is None else scale[1] - scale[0]
    spreads = tuple(
        _dimension_spread(
            name,
            models,
            grid[:, b],
            [_noise([cells.get((model, name, judge)) for judge in judges]) for model in models],
            wide,
            level,
        )
        for b, name in enumerate(names)
    )
    return Dispersion(
        judges=judges,
        models=models,
        dimensions=spreads,
        severity=_severity(judges, names, grid, wide, level),
        means=tuple(means),
        warnings=_warnings(models, names, judges, cells),
    )


def leave_one_judge_out(
    means: Sequence[JudgeMean],
    *,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
) -> tuple[WithoutJudge, ...]:
    """Compute the spread without each judge in turn, and the models' order with and without.

    Takes what `judge_dispersion` takes.

    Notes
    -----
    Spread as in `judge_dispersion` over the judges that are left: undefined where one is left.
    Models are ordered by the mean over judges of their μ, on the models that every judge scored
    (the same for both orders); τ_b as in `ranks.order_agreement`, without an interval: the models
    are no sample. Undefined where an order has no two models apart, or only one judge is there.
    """
    judges, _ = encode(cell.judge for cell in means)
    grid, models, names = _grid(means, judges)
    without = []
    for c, judge in enumerate(judges):
        rest = [cell for cell in means if cell.judge != judge]
        dimensions = judge_dispersion(rest, scale=scale, level=level).dimensions if rest else ()
        kendall = {}
        for b, name in enumerate(names):
            table = grid[:, b][~np.isnan(grid[:, b]).any(axis=1)]
            kendall[name] = _order_without(table, c)
        without.append(WithoutJudge(judge, dimensions, kendall))
    return tuple(without)


def _order_without(table: Floats, judge: int) -> Estimate:
    if table.shape[1] < 2:
        return Estimate.without_value(ONE_JUDGE, n=len(table))
    others = np.delete(table, judge, axis=1).mean(axis=1)
    value = float(order_agreement(table.mean(axis=1), others))
    if np.isnan(value):
        return Estimate.without_value(NO_ORDER, n=len(table))
    return Estimate(value, len(table), no_interval="descriptive: the models are no sample")


def _grid(
    means: Sequence[JudgeMean], judges: Sequence[str]
) -> tuple[Floats, tuple[str, ...], tuple[str, ...]]:
    """Return μ by model, dimension and judge; NaN where a judge scored nothing."""
    models, m = encode(cell.model for cell in means)
    names, d = encode(cell.dimension for cell in means)
    place = {judge: c for c, judge in enumerate(judges)}
    grid = np.full((len(models), len(names), len(judges)), np.nan)
    for a, b, cell in zip(m.tolist(), d.tolist(), means, strict=True):
        if cell.mean is not None and cell.n:
            grid[a, b, place[cell.judge]] = cell.mean
    return grid, models, names


def _noise(cells: Sequence[JudgeMean | None]) -> tuple[float | None, int]:
    """Return the variance between equal judges' means, and the tasks that it is estimated from."""
    if len(cells) < 2 or any(cell is None or not cell.n for cell in cells):
        return None, 0
    tasks = list(dict.fromkeys(task for cell in cells if cell for task in cell.by_task))
    if len(tasks) < 2:
        return None, len(tasks)
    moved = np.zeros((len(tasks), len(cells)))
    for j, cell in enumerate(cells):
        assert cell is not None and cell.mean is not None
        parts = np.array([cell.by_task.get(task, (0.0, 0)) for task in tasks])
        moved[:, j] = (parts[:, 0] - parts[:, 1] * cell.mean) / cell.n
    moved -= moved.mean(axis=1, keepdims=True)
    return float((moved**2).sum() / len(cells) * len(tasks) / (len(tasks) - 1)), len(tasks)


def floor_of(noise: float, judges: int) -> float:
    """Compute the mean population SD that judges without differences show, from their noise."""
    shape = exp(lgamma(judges / 2) - lgamma((judges - 1) / 2))
    return sqrt(noise) * sqrt(2 / (judges - 1)) * shape


def _beyond_noise(spreads: Sequence[ModelSpread]) -> tuple[Estimate, Estimate]:
    """Return the floor of a dimension's bar, and its spread without noise."""
    known = [
        (spread.sd.value, spread.noise, spread.sd.n)
        for spread in spreads
        if spread.sd.value is not None and spread.noise is not None
    ]
    if not known:
        nothing = Estimate.without_value(NO_NOISE)
        return nothing, nothing
    n = len(known)
    floor = sum(floor_of(noise, judges) for _, noise, judges in known) / n
    beyond = sum(sd**2 - noise for sd, noise, _ in known) / n
    return (
        Estimate(floor, n, no_interval=DESCRIPTIVE),
        Estimate(sqrt(max(0.0, beyond)), n, no_interval=DESCRIPTIVE),
    )


def _dimension_spread(
    name: str,
    models: tuple[str, ...],
    grid: Any,
    noises: Sequence[tuple[float | None, int]],
    wide: float | None,
    level: float,
) -> DimensionSpread:
    spreads = []
    for model, row, noise in zip(models, grid, noises, strict=True):
        n = int((~np.isnan(row)).sum())
        if n < row.size:
            sd = Estimate.without_value(JUDGE_MISSING, n=n)
        elif n == 1:
            sd = Estimate.without_value(ONE_JUDGE, n=n)
        else:
            # Equal means must give exactly 0, not a rounding error.
            value = 0.0 if row.min() == row.max() else float(np.std(row))
            sd = Estimate(value, n, no_interval=DESCRIPTIVE)
        spreads.append(ModelSpread(model, name, sd, *noise))
    values = [spread.sd.value for spread in spreads if spread.sd.value is not None]
    excluded: dict[str, int] = {}
    for spread in spreads:
        if spread.sd.undefined:
            excluded[spread.sd.undefined] = excluded.get(spread.sd.undefined, 0) + 1
    if values:
        most = None if wide is None else wide / 2
        mean = mean_t(values, level=level, excluded=excluded, scale=(0, most))
    else:
        reason = next(iter(excluded), "no models")
        mean = Estimate.without_value(reason, excluded=excluded)
    return DimensionSpread(name, mean, tuple(spreads), *_beyond_noise(spreads))


def _severity(
    judges: tuple[str, ...],
    names: tuple[str, ...],
    grid: Any,
    wide: float | None,
    level: float,
) -> tuple[JudgeSeverity, ...]:
    results: list[JudgeSeverity] = []
    span = OPEN_SCALE if wide is None else (-wide, wide)
    # NaN of a missing judge spreads over the whole row: no bias without all judges.
    biases = grid - grid.mean(axis=2, keepdims=True) if judges else grid
    overall = biases.mean(axis=1) if names else biases
    for c, judge in enumerate(judges):
        columns = [*((name, biases[:, b, c]) for b, name in enumerate(names))]
        for name, column in [*columns, ("all dimensions", overall[:, c])]:
            gone = int(np.isnan(column).sum())
            if len(judges) == 1:
                bias = Estimate.without_value(ONE_JUDGE)
            elif gone == column.size:
                bias = Estimate.without_value(JUDGE_MISSING, excluded={JUDGE_MISSING: gone})
            else:
                kept = column[~np.isnan(column)]
                excluded = {JUDGE_MISSING: gone} if gone else {}
                bias = mean_t(kept, level=level, excluded=excluded, scale=span)
            results.append(JudgeSeverity(judge, name, bias))
    return tuple(results)


def _warnings(
    models: tuple[str, ...],
    names: tuple[str, ...],
    judges: tuple[str, ...],
    cells: dict[tuple[str, str, str], JudgeMean],
) -> tuple[str, ...]:
    absent: dict[str, list[str]] = {}
    uneven: list[str] = []
    for model in models:
        for name in names:
            ns = []
            for judge in judges:
                cell = cells.get((model, name, judge))
                ns.append(cell.n if cell is not None else 0)
                if not ns[-1]:
                    absent.setdefault(judge, []).append(f"{model} on {name}")
            if len({n for n in ns if n}) > 1:
                uneven.append(f"{model} on {name} ({', '.join(map(str, ns))})")
    warnings = [
        f"{judge} scored nothing for {_some(where)}: the spread is undefined there"
        for judge, where in absent.items()
    ]
    if uneven:
        warnings.append(f"judges scored different numbers of turns for {_some(uneven)}")
    if judges and len(judges) == 1:
        warnings.append(ONE_JUDGE)
    return tuple(warnings)


def _some(items: list[str], limit: int = 3) -> str:
    more = len(items) - limit
    return "; ".join(items[:limit]) + (f"; and {more} more" if more > 0 else "")
