"""Who is at least as close to the other people: the judge, or the person in its place."""

from typing import Any

import numpy as np

from analysis.stats.columns import Floats


def compared_wins(scores: Floats, own: Floats) -> tuple[Floats, Floats, Any]:
    """For each item and person: whether the person, and the judge, is at least as close.

    The third says where the two are compared: both and another person scored the item.
    """
    there = ~np.isnan(scores)
    filled = np.where(there, scores, 0.0)
    others = there.sum(axis=1, keepdims=True) - there
    sums = filled.sum(axis=1, keepdims=True) - filled
    # Σ_r (x − h_r)² − Σ_r (y − h_r)² = (x − y)(m(x + y) − 2 Σ h_r): no difference of large squares.
    judge = np.where(np.isnan(own), 0.0, own)[:, None]
    further = (judge - filled) * (others * (judge + filled) - 2 * sums)
    compared = there & (others >= 1) & ~np.isnan(own)[:, None]
    judge_wins = (further <= 1e-9) & compared
    person_wins = (further >= -1e-9) & compared
    return person_wins.astype(np.float64), judge_wins.astype(np.float64), compared


def mean_share(totals: Floats) -> Floats:
    """Mean over people of wins/items; people without an item in a resample do not count."""
    people = totals.shape[1] // 2
    wins, items = totals[:, :people], totals[:, people:]
    shares = np.divide(wins, items, out=np.full(wins.shape, np.nan), where=items > 0)
    known = ~np.isnan(shares)
    result: Floats = np.divide(
        np.where(known, shares, 0).sum(axis=1),
        known.sum(axis=1),
        out=np.full(len(totals), np.nan),
        where=known.any(axis=1),
    )
    return result
