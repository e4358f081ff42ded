"""How much of an agreement two scores are: the weights of kappas, AC2 and their like."""

from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Floats, as_column

Weights = Literal["none", "linear", "quadratic", "ordinal"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic", "ordinal")


def agreement_weights(values: Any, weights: Weights) -> Floats:
    """Return how much of an agreement each pair of scores is, from 0 to 1.

    Parameters
    ----------
    values
        The q scores of the whole scale in ascending order, given or not: weights depend on it.
    weights
        ``none`` 1 for equal scores only; ``linear`` 1 − |a − b|/R; ``quadratic`` 1 − (a − b)²/R²
        with R the range; ``ordinal`` 1 − C(d + 1, 2)/C(q, 2) with d the distance in places.

    Returns
    -------
    array of q × q

    Raises
    ------
    ValueError
        If there are fewer than two scores, or the weights are unknown.

    Notes
    -----
    Gwet 2014, Handbook of Inter-Rater Reliability, 4th ed., ch. 3. His ordinal weights are not
    Krippendorff's ordinal metric.
    """
    points = as_column(values)
    if points.size < 2:
        raise ValueError("agreement needs a scale of two scores or more")
    if weights not in WEIGHTS:
        raise ValueError(f"unknown weights {weights!r}")
    if weights == "none":
        return np.eye(points.size)
    if weights == "ordinal":
        places = np.abs(np.subtract.outer(np.arange(points.size), np.arange(points.size)))
        ordinal: Floats = 1 - places * (places + 1) / (points.size * (points.size - 1))
        return ordinal
    apart = np.abs(np.subtract.outer(points, points)) / (points.max() - points.min())
    graded: Floats = 1 - (apart if weights == "linear" else apart**2)
    return graded


def weights_in_words(weights: Weights) -> str:
    """Return what stands beside a number: "unweighted", "linear weights"."""
    return "unweighted" if weights == "none" else f"{weights} weights"
