"""Judges against people by how far people agree, and the effect of an answer's length on judges."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, as_floats, check_length_of, encode
from analysis.stats.descriptive.means import cluster_interval, cluster_quotient, mean_by_cluster
from analysis.stats.results import Estimate

AGREE, NEAR, APART = "people agree", "one point apart", "further apart"
GROUPS = (AGREE, NEAR, APART)
ONE_PERSON = "no item has scores of two people"
NO_ITEM = "no item is so"
ONE_LENGTH = "all answers have the same length"
FEW_TASKS = "answers of {n} tasks only; at least {least} are needed"
FEWEST_TASKS = 4


@dataclass(frozen=True)
class AgreementGroup:
    """A judge on the items on which people agree so far.

    Attributes
    ----------
    group
        `AGREE`: all people gave one score; `NEAR`: at most a point apart; `APART`: further.
    judge_equal
        The share of an item's people whose score the judge gives, averaged over items.
    people_equal
        The share of pairs of an item's people with one score, averaged over the same items.
    gap
        The first minus the second: below 0 the judge is off by more than people from each other.
    distance
        The mean of |judge − mean of the item's people|, in points.
    """

    judge: str
    group: str
    judge_equal: Estimate
    people_equal: Estimate
    gap: Estimate
    distance: Estimate


def judge_by_agreement(
    judge: str, scores: Any, people: Any, tasks: Sequence[Hashable], *, level: float = 0.95
) -> tuple[AgreementGroup, ...]:
    """Compare a judge with people, apart where people agree and where they do not.

    Parameters
    ----------
    judge, scores
        Its name, and its score of each item; NaN where it gave none.
    people
        Items × people; NaN where somebody did not score.
    tasks
        The task of each item.

    Notes
    -----
    Items are grouped by the spread of people's scores, largest minus smallest; only items that two
    people and the judge scored count. Where people agree, people equal each other by construction,
    and what the judge misses is its own; where they do not, no judge can equal all of them, so it
    is read against how often two people equal each other there. Means with CR2 intervals by task
    (`means.mean_by_cluster`). Undefined for a group without items.
    """
    column, table = as_column(scores), as_floats(people)
    check_length_of(table, column.size, "people")
    check_length_of(tasks, column.size, "tasks")
    there = ~np.isnan(table)
    number = there.sum(axis=1)
    kept = np.flatnonzero((number >= 2) & ~np.isnan(column))
    table, there, column, number = table[kept], there[kept], column[kept], number[kept]
    own = [tasks[place] for place in kept.tolist()]
    equal = (np.where(there, table == column[:, None], False)).sum(axis=1) / number
    same = np.array([_equal_pairs(row[mask]) for row, mask in zip(table, there, strict=True)])
    means = np.where(there, table, 0).sum(axis=1) / number
    highest = np.where(there, table, -np.inf).max(axis=1, initial=-np.inf)
    spread = highest - np.where(there, table, np.inf).min(axis=1, initial=np.inf)
    inside = {AGREE: spread == 0, NEAR: (spread > 0) & (spread <= 1), APART: spread > 1}
    groups = []
    for name in GROUPS:
        mine = np.flatnonzero(inside[name])
        clusters = [own[place] for place in mine.tolist()]
        reason = NO_ITEM if kept.size else ONE_PERSON

        def mean(
            values: Floats, low: float | None, *, some: Any = mine, by: Any = clusters,
            why: str = reason,
        ) -> Estimate:  # fmt: skip
            if not some.size:
                return Estimate.without_value(why)
            return mean_by_cluster(values[some], by, level=level, scale=(low, None))

        groups.append(
            AgreementGroup(
                judge, name, mean(equal, 0).within(0, 1), mean(same, 0).within(0, 1),
                mean(equal - same, -1), mean(np.abs(column - means), 0),
            )
        )  # fmt: skip
    return tuple(groups)


def _equal_pairs(scores: Floats) -> float:
    """Return the share of pairs with one score."""
    _, often = np.unique(scores, return_counts=True)
    return float((often * (often - 1)).sum() / (scores.size * (scores.size - 1)))


def length_effect(
    differences: Any, words: Any, tasks: Sequence[Hashable], *, level: float = 0.95
) -> Estimate:
    """Estimate how a judge's score minus people's changes where an answer is twice as long.

    Parameters
    ----------
    differences
        Judge minus mean of people for each item, in points; NaN where unknown.
    words
        The number of words of each answer, above 0.

    Notes
    -----
    The least-squares slope on log2(words), Σ(x − x̄)d/Σ(x − x̄)x, with the CR2 standard error by task
    of that quotient (`means.cluster_quotient`); d is centred first. People judge the same answers,
    so that longer answers may be better ones does not count as the judge's. Undefined for
    answers of fewer than four tasks, or of one length.
    """
    column, length = as_column(differences), as_column(words)
    check_length_of(length, column.size, "words")
    check_length_of(tasks, column.size, "tasks")
    kept = np.flatnonzero(~np.isnan(column) & (length > 0))
    d, x = column[kept], np.log2(length[kept])
    names, code = encode(tasks[place] for place in kept.tolist())
    if len(names) < FEWEST_TASKS:
        reason = FEW_TASKS.format(n=len(names), least=FEWEST_TASKS)
        return Estimate.without_value(reason, n=kept.size)
    if np.ptp(x) <= 1e-12:
        return Estimate.without_value(ONE_LENGTH, n=kept.size)
    x, d = x - x.mean(), d - d.mean()
    above, below = (np.bincount(code, weights=some) for some in (x * d, x * x))
    value, error, df = cluster_quotient(above, below)
    if error <= 1e-12:
        return Estimate(value, kept.size, no_interval="the differences lie on a line exactly")
    interval = cluster_interval(
        value, error, df, clusters=len(names), unit="task", level=level, rate=False
    )
    return Estimate(value, kept.size, interval)
