"""The parts that all bootstraps share: units, draws, percentile intervals and warnings."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from analysis.stats.columns import Codes, Floats, check_length_of, check_level, encode
from analysis.stats.results import RESAMPLES as RESAMPLES
from analysis.stats.results import Estimate, Interval, few_clusters

FEWEST_RESAMPLES = 100
DRAWS_AT_ONCE = 500_000
# From so many kinds on, with no more units than so many of each, units are drawn one by one.
MANY_KINDS, UNITS_A_KIND = 200, 10
ONE_UNIT = "everything belongs to one {unit}: no interval"
SAME_RESAMPLES = "all resamples give the same value: no interval"
NONE_DEFINED = "undefined in every resample: no interval"
DROPPED = "{n} of {of} resamples were undefined and dropped"

Labels = TypeVar("Labels", bound=Sequence[Hashable])


@dataclass(frozen=True, eq=False)
class Units:
    """The units that a bootstrap draws with replacement, like units taken together.

    Attributes
    ----------
    parts
        One row for each kind of unit: what such a unit adds to the totals.
    often
        How many units are of each kind.
    unit
        What a unit is called: an item, a task.
    """

    parts: Floats
    often: Codes
    unit: str

    @property
    def size(self) -> int:
        """The number of units."""
        return int(self.often.sum())

    @property
    def totals(self) -> Floats:
        """The totals of the data as they are, as one row."""
        sums: Floats = (self.often @ self.parts)[None, :]
        return sums


def repeated(clusters: Labels | None) -> Labels | None:
    """Return the clusters if one of them occurs twice, else None: then rows are independent."""
    if clusters is None or len(set(clusters)) == len(clusters):
        return None
    return clusters


def units_to_draw(
    codes: Codes, parts: Any, *, clusters: Sequence[Hashable] | None, unit: str = "task"
) -> Units:
    """Gather rows into the units that a bootstrap draws.

    Parameters
    ----------
    codes
        The kind of each row, an index into ``parts``.
    parts
        What one row of each kind adds to the totals, one row per kind.
    clusters
        What each row belongs to. Where one of them occurs twice clusters are drawn, else rows.
    unit
        What a cluster is called; rows are items.

    Notes
    -----
    Rows of one kind are interchangeable: drawing kinds from a multinomial distribution is the same
    law as drawing rows, and five scores by four people have at most 126 kinds.
    """
    table = np.asarray(parts, dtype=np.float64)
    if clusters is not None:
        check_length_of(clusters, codes.size, "clusters")
    clusters = repeated(clusters)
    if clusters is None:
        return Units(table, np.bincount(codes, minlength=len(table)), "item")
    names, groups = encode(clusters)
    by_group: Floats = np.stack(
        [
            np.bincount(groups, weights=column[codes], minlength=len(names)).astype(np.float64)
            for column in np.ascontiguousarray(table.T)
        ],
        axis=1,
    )
    return Units(*distinct_rows(by_group), unit)


def distinct_rows(table: Floats) -> tuple[Floats, Codes]:
    """Return the distinct rows of a table in ascending order, and how often each occurs."""
    # Hashing first: sorting many rows that are mostly alike takes much longer.
    names, codes = encode(row.tobytes() for row in np.ascontiguousarray(table))
    width = table.shape[1]
    rows = np.frombuffer(b"".join(names), dtype=np.float64).reshape(len(names), width)
    order = np.lexsort(rows.T[::-1])
    return rows[order], np.bincount(codes, minlength=len(names))[order]


def resampled(
    units: Units, statistic: Callable[[Floats], Floats], *, seed: int, resamples: int
) -> Floats:
    """Draw units with replacement and compute a statistic of the totals of each resample.

    Parameters
    ----------
    statistic
        Takes totals, one row per resample, and gives a value or a row of values for each; NaN
        where it is undefined.
    seed
        Of the random generator.

    Raises
    ------
    ValueError
        If fewer than 100 resamples are asked for.

    Notes
    -----
    Efron 1979, Ann. Stat. 7:1; clusters: Field & Welsh 2007, J. R. Stat. Soc. B 69:369.
    """
    if resamples < FEWEST_RESAMPLES:
        raise ValueError(f"a bootstrap interval needs at least {FEWEST_RESAMPLES} resamples")
    used = units.often > 0
    parts, often = units.parts[used], units.often[used]
    rng = np.random.default_rng(seed)
    step = max(1, DRAWS_AT_ONCE // max(parts.shape))
    values_drawn = []
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        weights = _drawn(rng, often, units.size, rows)
        values_drawn.append(statistic(weights.astype(np.float64) @ parts))
    return np.concatenate(values_drawn)


def _drawn(rng: np.random.Generator, often: Codes, size: int, rows: int) -> Codes:
    """Draw as many units as there are, ``rows`` times; count how often each kind was drawn.

    The law is the same either way, but a multinomial draw takes its time for every kind, and a unit
    for itself a fraction of that.
    """
    kinds = often.size
    if kinds < MANY_KINDS or size > UNITS_A_KIND * kinds:
        return np.asarray(rng.multinomial(size, often / size, size=rows))
    kind = np.repeat(np.arange(kinds), often)
    places = kind[rng.integers(0, size, size=(rows, size), dtype=np.int32)]
    places += kinds * np.arange(rows)[:, None]
    return np.bincount(places.ravel(), minlength=rows * kinds).reshape(rows, kinds)


def estimate_from_draws(
    value: float,
    n: int,
    drawn: Floats,
    units: Units,
    *,
    level: float,
    seed: int,
    excluded: Mapping[str, int] | None = None,
    method: str = "",
) -> Estimate:
    """Give a value the percentile interval of its resamples; NaN among them is dropped, counted."""
    check_level(level)
    known = drawn[~np.isnan(drawn)]
    left = dict(excluded or {})
    if units.size == 1:
        why = ONE_UNIT.format(unit=units.unit)
        return Estimate(value, n, no_interval=why, excluded=left, method=method)
    warnings = list(few_clusters(units.size, units.unit))
    if known.size < drawn.size:
        warnings.insert(0, DROPPED.format(n=drawn.size - known.size, of=drawn.size))
    if known.size == 0 or np.ptp(known) <= 1e-12 * max(1.0, abs(value)):
        why = SAME_RESAMPLES if known.size else NONE_DEFINED
        return Estimate(
            value, n, no_interval=why, excluded=left, warnings=tuple(warnings), method=method
        )
    interval = percentile_interval(
        known,
        level=level,
        unit=units.unit,
        seed=seed,
        resamples=drawn.size,
        clusters=units.size,
    )
    return Estimate(value, n, interval, excluded=left, warnings=tuple(warnings), method=method)


def percentile_interval(
    drawn: Floats, *, level: float, unit: str, seed: int, resamples: int, clusters: int
) -> Interval:
    """Return the interval between the (1 ∓ level)/2 quantiles of resampled values.

    ``drawn`` are the resamples in which the statistic was defined, at least one; ``resamples`` is
    the number drawn. ``unit`` names what was drawn (Efron 1979, Ann. Stat. 7:1).
    """
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    details = {"seed": seed, "resamples": resamples, "clusters": clusters}
    method = f"{unit} bootstrap (percentile)"
    return Interval(float(low), float(high), level, method, details, unit)
