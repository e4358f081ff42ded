"""People's scores without what is their own: one gives less for the same plan, one more."""

from collections.abc import Hashable, Sequence

import numpy as np

from analysis.stats.columns import encode


def adjust_for_severity(
    units: Sequence[Hashable], raters: Sequence[Hashable], scores: Sequence[float]
) -> list[float] | None:
    """Return the scores, one row each, minus how far their raters lie above or below the others.

    Parameters
    ----------
    units, raters, scores
        What was scored, by whom, and how: columns of one length, one row a score.

    Returns
    -------
    The adjusted scores; None where some raters are not linked to the others by units that both
    scored, directly or over further raters, so that severe raters cannot be told from poor units.

    Notes
    -----
    The least-squares fit of score = unit + rater, with raters' parts that sum to 0 over all scores:
    the mean of all scores stays what it is. An adjusted score may lie beyond the ends of the scale.
    """
    if not len(scores):
        return []
    _, unit = encode(units)
    names, rater = encode(raters)
    given = np.asarray(scores, dtype=float)
    counts = np.zeros((unit.max() + 1, len(names)))
    np.add.at(counts, (unit, rater), 1)
    of_unit, of_rater = np.bincount(unit), np.bincount(rater)
    # What sets raters apart is left when each unit's mean is taken out.
    shared = np.diag(of_rater) - counts.T @ (counts / of_unit[:, None])
    if np.linalg.matrix_rank(shared) < len(names) - 1:
        return None
    apart = given - (np.bincount(unit, given) / of_unit)[unit]
    parts = np.linalg.lstsq(shared, np.bincount(rater, apart), rcond=None)[0]
    adjusted: list[float] = (given - parts[rater] + parts[rater].mean()).tolist()
    return adjusted
