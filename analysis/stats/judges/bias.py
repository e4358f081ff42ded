"""The bias of each judge against people, on every dimension."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.stats.columns import Floats, check_level
from analysis.stats.descriptive.means import Scale, mean_by_cluster
from analysis.stats.results import Estimate

NOTHING = "no item has a score of every judge and of a person"


@dataclass(frozen=True)
class Compared:
    """Scores of the same items on one dimension.

    Attributes
    ----------
    judges
        One row per item, one column per judge; NaN where there is no score.
    people
        The mean of each item's people; NaN where nobody scored it.
    tasks
        The task of each item.
    """

    judges: Floats
    people: Floats
    tasks: Sequence[Hashable]


@dataclass(frozen=True)
class Bias:
    """A judge's mean score minus people's on one dimension, in points.

    ``clear``: the interval of all of its family together excludes 0; None where there is no
    interval. The family is all pairs of judge and dimension, or all judges where ``dimension`` is
    empty, which stands for all dimensions.
    """

    judge: str
    dimension: str
    bias: Estimate
    clear: bool | None


@dataclass(frozen=True)
class Biases:
    """The biases of all judges; ``family`` is the number of pairs of judge and dimension.

    ``overall`` is each judge's bias over the items of all dimensions, by judge: one family of its
    own, because it is asked first.
    """

    pairs: tuple[Bias, ...]
    overall: Mapping[str, Bias]
    family: int


def judge_biases(
    judges: Sequence[str],
    dimensions: Mapping[str, Compared],
    *,
    scale: tuple[float, float],
    level: float = 0.95,
) -> Biases:
    """Compare each judge with the mean of people, dimension by dimension.

    Parameters
    ----------
    judges
        The names of the judges, in the order of the columns of each `Compared`.
    scale
        The lowest and the highest score: no interval goes further than these allow.
    level
        Of each interval alone, and of all intervals together for what is clear.

    Notes
    -----
    Over the items that every judge and a person scored, so that judges are compared on the same
    items. Mean differences and intervals as in `means.mean_by_cluster`, by task. What is clear is
    corrected with Bonferroni: the interval at 1 − (1 − level)/m excludes 0, m being the number of
    pairs, or of judges over all dimensions, that have an interval.
    """
    check_level(level)
    span: Scale = (scale[0] - scale[1], scale[1] - scale[0])
    differences = {
        (judge, name): _differences(place, compared)
        for name, compared in dimensions.items()
        for place, judge in enumerate(judges)
    }
    pairs = _biases(differences, span, level)
    together = {}
    for judge in judges:
        own = [found for (one, _), found in differences.items() if one == judge]
        values = np.concatenate([found[0] for found in own]) if own else np.empty(0)
        together[judge, ""] = (values, [task for found in own for task in found[1]])
    overall = {one.judge: one for one in _biases(together, span, level)}
    return Biases(pairs, overall, sum(one.clear is not None for one in pairs))


def _biases(
    differences: Mapping[tuple[str, str], tuple[Floats, list[Hashable]]], span: Scale, level: float
) -> tuple[Bias, ...]:
    """Return the bias of each judge and dimension, what is clear corrected over all of them."""
    alone = {pair: _mean(*values, span, level) for pair, values in differences.items()}
    family = sum(estimate.interval is not None for estimate in alone.values())
    together = 1 - (1 - level) / max(family, 1)
    biases = []
    for (judge, name), estimate in alone.items():
        clear = None
        if estimate.interval is not None:
            wide = _mean(*differences[judge, name], span, together).interval
            clear = wide is not None and not wide.holds(0)
        biases.append(Bias(judge, name, estimate, clear))
    return tuple(biases)


def _differences(place: int, compared: Compared) -> tuple[Floats, list[Hashable]]:
    kept = ~(np.isnan(compared.judges).any(axis=1) | np.isnan(compared.people))
    values: Floats = (compared.judges[:, place] - compared.people)[kept]
    return values, [task for task, keep in zip(compared.tasks, kept, strict=True) if keep]


def _mean(values: Floats, tasks: Sequence[Hashable], span: Scale, level: float) -> Estimate:
    if not values.size:
        return Estimate.without_value(NOTHING)
    return mean_by_cluster(values, tasks, level=level, scale=span)
