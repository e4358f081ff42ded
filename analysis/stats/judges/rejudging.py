"""The same turns judged twice: what a second judging changes in scores and in verdicts."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.descriptive.rates import Rate, rate
from analysis.stats.rater_agreement.kappas import cohen_kappa
from analysis.stats.results import Estimate

ONE_ONLY = "scored in one of the two judgings only"
NEITHER = "scored in neither judging"
NO_COMMON = "no item has a readable score in both judgings"
NO_SCORES = "means of several scores are no scores of the scale: kappa is not for them"
NO_VERDICTS = "no trajectory has a verdict in both judgings"
EQUAL = 1e-9


@dataclass(frozen=True)
class ScoreChange:
    """The change by a second judging in the scores of one judge, or of a panel.

    Attributes
    ----------
    first, second
        Mean score the first and the second time, over the items scored both times.
    difference, absolute
        Mean of the second minus the first score, and of its absolute value, in points.
    changed
        Share of items whose score is another.
    kappa
        Quadratically weighted Cohen's kappa of the first with the second score.
    n, up, down
        Items scored both times, and those whose second score is higher, or lower.
    """

    first: Estimate
    second: Estimate
    difference: Estimate
    absolute: Estimate
    changed: Rate
    kappa: Estimate
    n: int
    up: int
    down: int


@dataclass(frozen=True)
class VerdictChange:
    """The change by it in verdicts: ``gained`` pass the second time alone, ``lost`` the first.

    Attributes
    ----------
    first, second
        Share that passes the first and the second time, of those with a verdict both times.
    flipped
        Share of trajectories with another verdict.
    difference
        Share that passes the second time minus the first, paired.
    """

    first: Estimate
    second: Estimate
    flipped: Rate
    difference: Estimate
    gained: int
    lost: int
    n: int


def score_change(
    first: Any,
    second: Any,
    *,
    tasks: Sequence[Hashable],
    scale: tuple[int, int] = (1, 5),
    seed: int,
    resamples: int = 1000,
    level: float = 0.95,
) -> ScoreChange:
    """Compare the scores of the same items in two judgings, paired by item.

    Parameters
    ----------
    first, second
        Two columns of scores, one row per item; None or NaN where there is none. They may be
        means (of replies, of a panel): kappa is undefined then.
    tasks
        Task of each item: intervals take tasks as independent.
    scale
        Lowest and highest score.

    Notes
    -----
    Over the items scored both times: mean of second − first, of its absolute value, and the share
    that is not equal, with intervals by task (`means.mean_by_cluster`,
    `rates.rate`); kappa as in `kappas.cohen_kappa`. A judge that is asked twice under the same
    conditions changes scores too: read the share changed beside its own consistency
    (`repeats.repeat_consistency`). Items scored once alone are counted and left out, so a judging
    that reads fewer replies is compared on what it could read. Undefined without a common item.
    """
    a, b = as_column(first), as_column(second)
    check_length_of(b, a.size, "second")
    check_length_of(tasks, a.size, "tasks")
    both, excluded = _paired(a, b)
    clusters = [task for task, keep in zip(tasks, both.tolist(), strict=True) if keep]
    moved = b[both] - a[both]
    drawing: dict[str, Any] = {"seed": seed, "resamples": resamples, "level": level}
    if not moved.size:
        nothing = Estimate.without_value(NO_COMMON, excluded=excluded)
        none = Rate(0, 0, nothing, nothing)
        return ScoreChange(nothing, nothing, nothing, nothing, none, nothing, 0, 0, 0)
    changed = np.abs(moved) > EQUAL
    ends = (float(scale[0]), float(scale[1]))
    return ScoreChange(
        first=mean_by_cluster(a[both], clusters, excluded=excluded, level=level, scale=ends),
        second=mean_by_cluster(b[both], clusters, excluded=excluded, level=level, scale=ends),
        difference=mean_by_cluster(moved, clusters, excluded=excluded, level=level),
        absolute=mean_by_cluster(
            np.abs(moved), clusters, excluded=excluded, level=level, scale=(0, None)
        ),
        changed=rate(
            changed.tolist(), clusters, empty=NO_COMMON, unit="task", excluded=excluded, level=level
        ),
        kappa=_kappa(a, b, tasks, scale, drawing),
        n=int(moved.size),
        up=int((moved > EQUAL).sum()),
        down=int((moved < -EQUAL).sum()),
    )


def verdict_change(
    first: Sequence[bool | None],
    second: Sequence[bool | None],
    *,
    tasks: Sequence[Hashable],
    level: float = 0.95,
) -> VerdictChange:
    """Compare the verdicts of the same trajectories in two judgings; None where there is none.

    Notes
    -----
    Over the trajectories with a verdict both times: share with another one (Wilson, and by
    task), and the mean of second − first, by task. Undefined without any. A verdict near its
    threshold turns by a single score: how many do is about the threshold as much as the judges.
    """
    a, b = as_column(first), as_column(second)
    check_length_of(b, a.size, "second")
    check_length_of(tasks, a.size, "tasks")
    both, excluded = _paired(a, b)
    clusters = [task for task, keep in zip(tasks, both.tolist(), strict=True) if keep]
    moved = b[both] - a[both]
    return VerdictChange(
        first=_passing(a[both], clusters, excluded, level),
        second=_passing(b[both], clusters, excluded, level),
        flipped=rate(
            (moved != 0).tolist(),
            clusters,
            empty=NO_VERDICTS,
            unit="task",
            level=level,
            excluded=excluded,
        ),
        difference=(
            mean_by_cluster(moved, clusters, level=level, excluded=excluded, scale=(-1, 1))
            if moved.size
            else Estimate.without_value(NO_VERDICTS, excluded=excluded)
        ),
        gained=int((moved > 0).sum()),
        lost=int((moved < 0).sum()),
        n=int(moved.size),
    )


def _passing(
    verdicts: Floats, clusters: Sequence[Hashable], excluded: Mapping[str, int], level: float
) -> Estimate:
    if not verdicts.size:
        return Estimate.without_value(NO_VERDICTS, excluded=excluded)
    return mean_by_cluster(verdicts, clusters, level=level, excluded=excluded, scale=(0, 1))


def _paired(a: Floats, b: Floats) -> tuple[Any, dict[str, int]]:
    """Return which rows have both values, and how many have not, by reason."""
    gone_a, gone_b = np.isnan(a), np.isnan(b)
    reasons = {ONE_ONLY: int((gone_a ^ gone_b).sum()), NEITHER: int((gone_a & gone_b).sum())}
    return ~(gone_a | gone_b), {reason: count for reason, count in reasons.items() if count}


def _kappa(
    a: Floats, b: Floats, tasks: Sequence[Hashable], scale: tuple[int, int], drawing: Any
) -> Estimate:
    given = np.concatenate([a[~np.isnan(a)], b[~np.isnan(b)]])
    if (given != np.floor(given)).any():
        return Estimate.without_value(NO_SCORES)
    return cohen_kappa(a, b, scale=scale, weights="quadratic", clusters=tasks, **drawing)
