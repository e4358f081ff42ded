"""Answers of several raters to the same items, as counts: what most agreement statistics need.

Who gave which answer is gone: alpha, Fleiss' kappa, AC1 and the one-way ICC do not ask for it.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Codes, Floats, as_floats, encode

LARGEST_KEY = 1 << 62
# Keys up to here are looked up in a table, which is faster than to sort them.
TABLE = 1 << 21
NO_PAIRS = "no item was answered by two people"
UNPAIRED = "items with fewer than two answers"


@dataclass(frozen=True, eq=False)
class Answers:
    """Counts of each answer to each item; items with equal counts are of one kind.

    Attributes
    ----------
    counts
        One row for each kind of item, one column for each possible answer.
    kinds
        The kind of each item, an index into ``counts``.
    values
        What each column stands for: the scores of the whole scale, or 0, 1, … for categories.
    """

    counts: Floats
    kinds: Codes
    values: Floats

    @property
    def sizes(self) -> Floats:
        """The number of answers to an item of each kind."""
        sums: Floats = self.counts.sum(axis=1)
        return sums

    @property
    def often(self) -> Codes:
        """The number of items of each kind."""
        return np.bincount(self.kinds, minlength=len(self.counts))

    @property
    def items(self) -> int:
        """The number of items."""
        return int(self.kinds.size)

    def with_at_least(self, least: int) -> tuple["Answers", Any]:
        """Return the items with that many answers or more, and for each item whether it is one."""
        enough = self.sizes >= least
        kept = enough[self.kinds]
        moved = np.cumsum(enough) - 1
        return Answers(self.counts[enough], moved[self.kinds[kept]], self.values), kept


def answers_of_scores(scores: Any, *, scale: tuple[int, int]) -> Answers:
    """Count the scores of each item.

    Parameters
    ----------
    scores
        n rows of k whole numbers, one row per item and one column per rater; None or NaN where a
        rater gave none.
    scale
        Lowest and highest score; every score of the scale has a column, given or not.

    Raises
    ------
    ValueError
        If it is no table, a score is not on the scale, or the scale has fewer than two scores.
    """
    values = _scale_values(scale)
    table = as_floats(scores)
    if table.size == 0:
        table = table.reshape(table.shape[0] if table.ndim == 2 else 0, 0)
    if table.ndim != 2:
        raise ValueError(f"items by people expected, got an array of {table.ndim} dimensions")
    shifted = table - scale[0]
    missing = np.isnan(shifted)
    shifted[missing] = -1
    codes = shifted.astype(np.int64)
    wrong = (codes != shifted).any() or codes.size and codes.max() >= values.size
    if wrong or codes.size and codes.min() < -1 or (codes == -1).sum() != missing.sum():
        raise ValueError(f"scores are whole numbers from {scale[0]} to {scale[1]}")
    base = table.shape[1] + 1
    if base**values.size < LARGEST_KEY:
        # A missing score has the code −1, which is the last entry: it adds nothing.
        powers = np.append(base ** np.arange(values.size), 0)
        keys = np.zeros(len(table), dtype=np.int64)
        for column in np.ascontiguousarray(codes.T):
            keys += powers[column]
        return _from_keys(keys, base, values)
    counts = np.stack([(codes == code).sum(axis=1) for code in range(values.size)], axis=1)
    return answers_of_counts(counts, values=values)


def answers_of_rows(
    items: Iterable[Hashable], scores: Any, *, scale: tuple[int, int]
) -> tuple[Answers, tuple[Hashable, ...]]:
    """Count the scores of each item from two columns; returns the items in their order as well.

    None and NaN are no answers. Raises ValueError as `answers_of_scores`.
    """
    values = _scale_values(scale)
    names, codes = encode(items)
    column = as_floats(scores)
    there = ~np.isnan(column)
    given = column[there] - scale[0]
    if ((given != np.floor(given)) | (given < 0) | (given >= values.size)).any():
        raise ValueError(f"scores are whole numbers from {scale[0]} to {scale[1]}")
    cells = codes[there] * values.size + given.astype(np.int64)
    counts = np.bincount(cells, minlength=len(names) * values.size)
    return answers_of_counts(counts.reshape(len(names), values.size), values=values), names


def answers_of_counts(counts: Any, *, values: Any = None) -> Answers:
    """Gather items with equal counts.

    Parameters
    ----------
    counts
        n rows, one per item, with a column for each answer that could be given.
    values
        What the columns stand for; 0, 1, … if not given.

    Raises
    ------
    ValueError
        If it is no table of whole numbers from 0 up.
    """
    table = as_floats(counts)
    if table.size == 0:
        table = table.reshape(table.shape[0] if table.ndim == 2 else 0, table.shape[-1])
    if table.ndim != 2 or not (table >= 0).all() or (table != np.floor(table)).any():
        raise ValueError("counts are 0 or more, one row per item and one column per answer")
    points = np.arange(table.shape[1]) if values is None else values
    columns = np.asarray(points, dtype=np.float64)
    base = int(table.sum(axis=1).max(initial=0)) + 1
    if base ** max(table.shape[1], 1) < LARGEST_KEY:
        powers = base ** np.arange(table.shape[1])
        return _from_keys(table.astype(np.int64) @ powers, base, columns)
    rows, kinds = np.unique(table, axis=0, return_inverse=True)
    return Answers(rows, kinds.reshape(-1), columns)


def _from_keys(keys: Codes, base: int, values: Floats) -> Answers:
    """Undo the keys that stand for rows of counts: Σ count·base^column."""
    if keys.size and keys.max() < TABLE:
        there = np.bincount(keys) > 0
        distinct = np.flatnonzero(there)
        kinds = (np.cumsum(there) - 1)[keys]
    else:
        distinct, kinds = np.unique(keys, return_inverse=True)
    counts = distinct[:, None] // base ** np.arange(values.size) % base
    return Answers(counts.astype(np.float64), kinds, values)


def _scale_values(scale: tuple[int, int]) -> Floats:
    low, high = scale
    if high <= low:
        raise ValueError(f"a scale goes from a lower to a higher score, not from {low} to {high}")
    return np.arange(low, high + 1, dtype=np.float64)
