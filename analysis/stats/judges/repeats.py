"""A judge asked several times about the same: how far its replies agree with each other."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_floats, check_length_of
from analysis.stats.descriptive.rates import Rate, rate, ratio_of_totals
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.icc import intraclass_one_way
from analysis.stats.rater_agreement.kappas import fleiss_kappa
from analysis.stats.rater_agreement.reliability import reliability
from analysis.stats.results import Estimate, Interval

ONE_REPLY = "asked once about everything: its own consistency cannot be seen"
NO_PAIR = "no item has two readable replies"
NOTHING_ASKED = "it was asked about nothing"
WITHIN_SD = "pooled standard deviation of the replies to one item"


@dataclass(frozen=True)
class Consistency:
    """The agreement of one judge's replies to the same items, on one dimension.

    Attributes
    ----------
    equal, within_one
        Shares of pairs of replies to one item that are equal, or at most one point apart, each
        item with the same weight.
    sd
        Within-judge standard deviation in points.
    kappa
        Quadratically weighted Fleiss' kappa of the replies, which have no order.
    icc
        ICC1, one-way random, of a single reply.
    unreadable
        Share of replies without a readable score, of all that were asked for.
    replicates, items
        The largest number of replies to one item, and items with two readable ones or more.
    """

    equal: Estimate
    within_one: Estimate
    sd: Estimate
    kappa: Estimate
    icc: Estimate
    unreadable: Rate
    replicates: int
    items: int


def repeat_consistency(
    scores: Any,
    *,
    tasks: Sequence[Hashable],
    asked: Any = None,
    scale: tuple[int, int] = (1, 5),
    seed: int,
    resamples: int = 1000,
    level: float = 0.95,
) -> Consistency:
    """Describe how far the replies of one judge to the same items agree.

    Parameters
    ----------
    scores
        n rows of k whole numbers, one row per item and one column per reply; None or NaN for a
        reply that could not be read, or was not asked for.
    tasks
        Task of each item: intervals take tasks as independent.
    asked
        Of the same shape, whether each reply was asked for; without it all were.
    scale
        Lowest and highest score.
    seed, resamples, level
        Of the bootstrap.

    Raises
    ------
    ValueError
        If a score is not on the scale, or columns differ in length.

    Notes
    -----
    Replies are exchangeable: the second is no other rater than the first. So kappa is Fleiss' (with
    w = 1 − d²/R², Fleiss 1971, Psychol. Bull. 76:378) and the intraclass correlation the one-way
    ICC1 (Shrout & Fleiss 1979, Psychol. Bull. 86:420); neither depends on the order of replies.
    Within-judge SD: sqrt(Σ_i Σ_r (s_ir − s̄_i)²/Σ_i (m_i − 1)) over items with m_i ≥ 2 readable
    replies (Bland & Altman 1996, BMJ 312:1654); its interval is the root of that of the ratio.
    Everything but the share of unreadable replies is undefined where no item was asked about twice.
    Kappa and ICC are low where items hardly differ, however often replies are equal: read them with
    the share of equal pairs.
    """
    table = as_floats(scores)
    if table.ndim != 2:
        raise ValueError(f"items by replies expected, got an array of {table.ndim} dimensions")
    check_length_of(tasks, len(table), "tasks")
    wanted = np.ones(table.shape, dtype=bool) if asked is None else np.asarray(asked, dtype=bool)
    if wanted.shape != table.shape:
        raise ValueError("scores and what was asked for have different shapes")
    clusters = list(tasks)
    unreadable = _unreadable(table, wanted, clusters, level)
    most = int(wanted.sum(axis=1).max(initial=0))
    given = (~np.isnan(table)).sum(axis=1)
    pairs = int((given >= 2).sum())
    if most < 2 or not pairs:
        why = Estimate.without_value(ONE_REPLY if most < 2 else NO_PAIR)
        return Consistency(why, why, why, why, why, unreadable, most, 0)
    drawing: dict[str, Any] = {
        "clusters": clusters, "seed": seed, "resamples": resamples, "level": level,
    }  # fmt: skip
    both = reliability(table, scale=scale, **drawing)
    answers = answers_of_scores(table, scale=scale)
    return Consistency(
        equal=both.equal,
        within_one=both.within_one,
        sd=_within(table, given, clusters, level),
        kappa=fleiss_kappa(answers, weights="quadratic", **drawing),
        icc=intraclass_one_way(answers, **drawing),
        unreadable=unreadable,
        replicates=most,
        items=pairs,
    )


def _unreadable(table: Floats, wanted: Any, tasks: list[Hashable], level: float) -> Rate:
    rows = np.nonzero(wanted)
    return rate(
        np.isnan(table[rows]).tolist(),
        [tasks[row] for row in rows[0].tolist()],
        empty=NOTHING_ASKED,
        unit="task",
        level=level,
    )


def _within(table: Floats, given: Any, tasks: list[Hashable], level: float) -> Estimate:
    """Pool the spread of replies over items."""
    kept = given >= 2
    block = table[kept]
    means = np.nanmean(block, axis=1, keepdims=True)
    variance = ratio_of_totals(
        np.nansum((block - means) ** 2, axis=1),
        given[kept] - 1,
        [task for task, keep in zip(tasks, kept.tolist(), strict=True) if keep],
        level=level,
    )
    assert variance.value is not None  # there is a pair
    interval = variance.interval
    if interval is not None:
        low, high = sqrt(interval.low), sqrt(interval.high)
        interval = Interval(
            low, high, interval.level, interval.method, interval.details, interval.unit
        )
    return replace(variance, value=sqrt(variance.value), interval=interval, method=WITHIN_SD)
