"""The spread of values: median and quartiles, and counts of values or of bins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import as_column, check_length_of, present

MOST_VALUES = 6
BINS = 5


@dataclass(frozen=True)
class Quartiles:
    """Median and quartiles of n values; None where there are none. ``missing`` had no value."""

    n: int
    median: float | None
    low: float | None
    high: float | None
    missing: int = 0


def quartiles(values: Any) -> Quartiles:
    """Compute median and quartiles of a column.

    Parameters
    ----------
    values
        One column of numbers; None and NaN are missing and counted.

    Notes
    -----
    Quantiles interpolate linearly between order statistics (Hyndman & Fan 1996, Am. Stat. 50:361,
    type 7). A description, not an estimate: no interval. Undefined (None) without values.
    """
    kept, gone = present(values)
    missing = sum(gone.values())
    if kept.size == 0:
        return Quartiles(0, None, None, None, missing)
    low, median, high = (float(q) for q in np.quantile(kept, [0.25, 0.5, 0.75]))
    return Quartiles(int(kept.size), median, low, high, missing)


@dataclass(frozen=True)
class HistogramBin:
    """One value, or one bin: from ``low`` to ``high``, which is outside except in the last one."""

    low: float
    high: float

    @property
    def is_value(self) -> bool:
        """Return whether it stands for a single value."""
        return self.low == self.high

    @property
    def label(self) -> str:
        """The range in words, such as ``1`` or ``0.2 to 0.4``."""
        return f"{self.low:g}" if self.is_value else f"{self.low:g} to {self.high:g}"


@dataclass(frozen=True)
class Histogram:
    """Counts of values by group over the same cells."""

    cells: tuple[HistogramBin, ...]
    counts: Mapping[str, tuple[int, ...]]
    missing: Mapping[str, int]

    def shares(self, group: str) -> tuple[float | None, ...]:
        """Give the share of a group's values in each cell; None where it has no value."""
        counts = self.counts[group]
        total = sum(counts)
        return tuple(count / total if total else None for count in counts)


def spread(
    groups: Sequence[str], values: Any, *, most: int = MOST_VALUES, bins: int = BINS
) -> Histogram:
    """Count values by group: each value where there are few, equal bins where there are many.

    Parameters
    ----------
    groups
        The group of each value, such as its agent.
    values
        One column of numbers; None and NaN are counted apart, by group.
    most
        With more distinct values than this they are put into bins.
    bins
        Number of equal bins from the smallest to the largest value of all groups.

    Notes
    -----
    All groups share their cells, so that they can be compared. A bin holds its lower end but not
    its upper one, except the last. No values: no cells.
    """
    column = as_column(values)
    check_length_of(groups, column.size, "groups")
    names = list(dict.fromkeys(groups))
    labels = np.asarray(groups, dtype=object)
    there = ~np.isnan(column)
    distinct = np.unique(column[there])
    if len(distinct) <= most:
        cells = tuple(HistogramBin(float(value), float(value)) for value in distinct)
    else:
        ends = np.linspace(distinct[0], distinct[-1], bins + 1)
        cells = tuple(
            HistogramBin(float(low), float(high))
            for low, high in zip(ends[:-1], ends[1:], strict=True)
        )
    counts = {}
    for name in names:
        mine = column[there & (labels == name)]
        if not cells:
            in_bins = []
        elif cells[0].is_value:
            in_bins = [int((mine == cell.low).sum()) for cell in cells]
        else:
            in_bins = np.histogram(mine, [*(cell.low for cell in cells), cells[-1].high])[
                0
            ].tolist()
        counts[name] = tuple(in_bins)
    missing = {name: int((~there & (labels == name)).sum()) for name in names}
    return Histogram(cells, counts, missing)
