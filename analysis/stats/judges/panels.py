"""A panel of judges item by item: spread, severity, bias, and what each judge makes of the result.

`dispersion` looks at judges' means per model, as AdaPlanBench does (appendix F.2); means hide
disagreement that cancels out over items, and this does not.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.columns import (
    Floats,
    as_column,
    check_length_of,
    check_level,
    cluster_of,
    encode,
)
from analysis.stats.descriptive.means import OPEN_SCALE, Scale, mean_by_cluster, mean_t
from analysis.stats.descriptive.rates import Rate, rate
from analysis.stats.results import Estimate

ONE_JUDGE = "one judge only: judges cannot differ"
TWO_JUDGES = "two judges only: one alone cannot differ"
SHRUNK = "a judge's score is missing"
NO_PERSON = "no person scored it"
NO_PEOPLE = "people's scores were not given"
NOTHING = "no item has a readable score of every judge"
SMALLER = (
    "{count} of {items} items have fewer than {judges} readable scores ({who}): they are left out "
    "here; a mean of the judges that are left would move towards those judges"
)


@dataclass(frozen=True)
class PanelJudge:
    """One judge of a panel, over the items that every judge scored.

    Attributes
    ----------
    missing
        Items without a readable score of this judge.
    severity
        Mean of the judge's score minus the mean of the *other* judges', in points; negative is
        stricter.
    bias
        Mean of the judge's score minus people's, in points, on the items that people scored.
    spread_without
        Mean standard deviation of an item's scores if this judge were not on the panel.
    mean_without
        Mean change of an item's panel mean without this judge, in points.
    flips
        Share of items whose verdict (panel mean at least the threshold) turns without this judge;
        None where no threshold was given.
    """

    judge: str
    missing: int
    severity: Estimate
    bias: Estimate
    spread_without: Estimate
    mean_without: Estimate
    flips: Rate | None


@dataclass(frozen=True)
class PanelReliability:
    """Judges on one dimension.

    Attributes
    ----------
    spread
        Mean over items of the population standard deviation of their scores, in points.
    items, complete
        All items, and those with a readable score of every judge: all estimates are over these.
    sizes
        Items by their number of readable scores.
    """

    spread: Estimate
    judges: tuple[PanelJudge, ...]
    items: int
    complete: int
    sizes: Mapping[int, int]
    threshold: float | None
    warnings: tuple[str, ...]


class _PanelMeans(NamedTuple):
    clusters: list[Hashable] | None
    excluded: Mapping[str, int]
    level: float

    def mean(self, values: Floats, scale: Scale, kept: Any = None) -> Estimate:
        clusters, excluded = self.clusters, dict(self.excluded)
        if kept is not None:
            gone = int((~kept).sum())
            excluded |= {NO_PERSON: gone} if gone else {}
            values = values[kept]
            if clusters is not None:
                clusters = [c for c, keep in zip(clusters, kept, strict=True) if keep]
        if not values.size:
            return Estimate.without_value(
                NO_PERSON if kept is not None and kept.size else NOTHING, excluded=excluded
            )
        if clusters is None:
            return mean_t(values, level=self.level, excluded=excluded, scale=scale)
        return mean_by_cluster(values, clusters, level=self.level, excluded=excluded, scale=scale)


class _Spans(NamedTuple):
    """The largest possible difference of two scores, and standard deviation of several."""

    difference: Scale
    spread: Scale

    @classmethod
    def of(cls, scale: tuple[float, float] | None) -> "_Spans":
        if scale is None:
            return cls(OPEN_SCALE, (0, None))
        wide = scale[1] - scale[0]
        return cls((-wide, wide), (0, wide / 2))


def judge_panel(
    items: Sequence[Hashable],
    judges: Sequence[str],
    scores: Any,
    *,
    people: Mapping[Hashable, float | None] | None = None,
    threshold: float | None = None,
    tasks: Mapping[Hashable, Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    level: float = 0.95,
) -> PanelReliability:
    """Describe how the judges of one dimension differ, item by item.

    Parameters
    ----------
    items, judges, scores
        A row per judge and item; None and NaN stand for a reply that could not be read. A judge
        without a row for an item counts as unreadable too.
    people
        People's score (or their mean) by item, where they gave one: without it bias is undefined.
    threshold
        τ of the pass verdict, where one is wanted for this dimension.
    tasks
        Task of every item: intervals are then by task, as they must where a task occurs twice;
        without tasks they are t and Wilson's, over items.
    scale
        The lowest and the highest score: no interval goes further than these allow.
    level
        Of the intervals.

    Raises
    ------
    ValueError
        If a judge scores an item twice, or an item has no task.

    Notes
    -----
    Over the items with a readable score of each of J judges: spread is the mean of
    sqrt(Σ_j (s_j − s̄)²/J); severity of j the mean of s_j − mean_{k≠j} s_k; its mean_without,
    mean_{k≠j} s_k − s̄, is −1/J of it. Comparing with the others, not with all, keeps a judge from
    being compared with itself. Items that lack a judge are left out, counted, and warned of: a
    panel that shrinks where replies are unreadable is another panel there. Spread, severity and
    what depends on others are undefined with one judge; the spread without a judge with two.
    Severity among judges says nothing about who is right: bias against people does, as far as
    people are.
    """
    check_level(level)
    names, units, grid = _grid(items, judges, scores)
    complete = np.array([not np.isnan(row).any() for row in grid], dtype=bool)
    gone = int((~complete).sum())
    clusters = None
    if tasks is not None:
        clusters_of_units = [cluster_of(unit, tasks, "task", "tasks") for unit in units]
        clusters = [c for c, keep in zip(clusters_of_units, complete, strict=True) if keep]
    drawing = _PanelMeans(clusters, {SHRUNK: gone} if gone else {}, level)
    full = grid[complete]
    spans = _Spans.of(scale)
    kept = [unit for unit, keep in zip(units, complete, strict=True) if keep]
    people_scores = None if people is None else as_column([people.get(unit) for unit in kept])
    many = len(names) > 1
    sizes = Counter((~np.isnan(grid)).sum(axis=1).tolist())
    return PanelReliability(
        spread=drawing.mean(_spread(full), spans.spread)
        if many
        else Estimate.without_value(ONE_JUDGE),
        judges=tuple(
            _judge(name, j, grid, full, people_scores, threshold, drawing, kept, spans)
            for j, name in enumerate(names)
        ),
        items=len(units),
        complete=len(kept),
        sizes=dict(sorted(sizes.items())),
        threshold=threshold,
        warnings=_warnings(names, grid, gone),
    )


def _grid(
    items: Sequence[Hashable], judges: Sequence[str], scores: Any
) -> tuple[tuple[str, ...], tuple[Hashable, ...], Floats]:
    column = as_column(scores)
    check_length_of(items, column.size, "items")
    check_length_of(judges, column.size, "judges")
    names, j = encode(judges)
    units, i = encode(items)
    if len(set(zip(i.tolist(), j.tolist(), strict=True))) < column.size:
        raise ValueError("a judge scores an item twice: give one score per judge and item")
    grid = np.full((len(units), len(names)), np.nan)
    grid[i, j] = column
    return names, units, grid


def _spread(grid: Floats) -> Floats:
    """Compute the population standard deviation by row; exactly 0 where all are equal."""
    spread: Floats = np.where(np.ptp(grid, axis=1) == 0, 0.0, grid.std(axis=1))
    return spread


def _judge(
    name: str,
    j: int,
    grid: Floats,
    full: Floats,
    people: Floats | None,
    threshold: float | None,
    drawing: _PanelMeans,
    kept: Sequence[Hashable],
    spans: "_Spans",
) -> PanelJudge:
    size = full.shape[1]
    missing = int(np.isnan(grid[:, j]).sum())
    if people is None:
        bias = Estimate.without_value(NO_PEOPLE)
    else:
        bias = drawing.mean(full[:, j] - people, spans.difference, ~np.isnan(people))
    if size < 2:
        none = Estimate.without_value(ONE_JUDGE)
        return PanelJudge(name, missing, none, bias, none, none, None)
    rest = np.delete(full, j, axis=1)
    others, everyone = rest.mean(axis=1), full.mean(axis=1)
    flips = None
    if threshold is not None:
        # Sums of whole scores are exact; means of thirds are not.
        turned = (rest.sum(axis=1) >= threshold * (size - 1) - 1e-9) != (
            full.sum(axis=1) >= threshold * size - 1e-9
        )
        flips = rate(
            turned.tolist(),
            kept if drawing.clusters is None else drawing.clusters,
            empty=NOTHING,
            unit="item" if drawing.clusters is None else "task",
            level=drawing.level,
            excluded=drawing.excluded,
        )
    return PanelJudge(
        judge=name,
        missing=missing,
        severity=drawing.mean(full[:, j] - others, spans.difference),
        bias=bias,
        spread_without=(
            drawing.mean(_spread(rest), spans.spread)
            if size > 2
            else Estimate.without_value(TWO_JUDGES)
        ),
        mean_without=drawing.mean(others - everyone, spans.difference),
        flips=flips,
    )


def _warnings(names: Sequence[str], grid: Floats, gone: int) -> tuple[str, ...]:
    warnings = [ONE_JUDGE] if len(names) == 1 else []
    if gone:
        lacking = np.isnan(grid).sum(axis=0)
        who = ", ".join(
            f"{name}: {count} missing" for name, count in zip(names, lacking, strict=True) if count
        )
        warnings.append(SMALLER.format(count=gone, items=len(grid), judges=len(names), who=who))
    return tuple(warnings)
