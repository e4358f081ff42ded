"""Whether what people were shown moved their answers: two arms that were drawn at random."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from analysis.stats.columns import as_column, check_length_of, encode
from analysis.stats.corrected.corrected_pairs import two_sided_t
from analysis.stats.descriptive.means import (
    OPEN_SCALE,
    Scale,
    cluster_interval,
    cluster_quotient,
    mean_by_cluster,
)
from analysis.stats.results import Estimate

ONE_ARM = "nobody has answers in both arms"
FEW_TASKS = "answers of {n} tasks only; at least {least} are needed"
ONE_TASK_DECIDES = "all that can be compared belongs to one task"
NO_SPREAD = "the values do not vary within a person and arm"
FEWEST_TASKS = 4


@dataclass(frozen=True)
class ArmComparison:
    """A value where marks were seen and where they were withheld.

    ``difference`` is seen minus withheld within persons, so it need not equal the difference of the
    two means; ``p`` is None where it has no interval.
    """

    seen: Estimate
    withheld: Estimate
    difference: Estimate
    p: float | None


def compare_arms(
    values: Any,
    seen: Any,
    strata: Sequence[Hashable],
    tasks: Sequence[Hashable],
    *,
    scale: Scale = OPEN_SCALE,
    level: float = 0.95,
) -> ArmComparison:
    """Compare the answers to items with and without marks, which were drawn at random.

    Parameters
    ----------
    values
        One number for each answer, such as its distance from the judges' mean in points; NaN where
        there is none.
    seen
        Whether the marks were seen, for each answer.
    strata
        Within what answers are compared: the person, with several questions person and question.
    tasks
        The task of each answer; answers of one task may depend on each other.
    scale
        The least and the largest value; the intervals of the two means end there.

    Notes
    -----
    The difference is the least-squares coefficient of ``seen`` beside an intercept for each
    stratum: with x and y centred within strata Σxy/Σx². Its CR2 standard error and degrees of
    freedom are those of that quotient over tasks (`means.cluster_quotient`), the error times
    √(n/(n − s)) for s strata, and the test is the t test that belongs to the interval. Arms are
    drawn within persons, so persons who score higher than others do not enter;
    ``docs/statistics.md`` has size and power. Undefined where nobody has both arms, and for answers
    of fewer than four tasks.
    """
    column, arm = as_column(values), np.asarray(seen, dtype=bool)
    for name, other in (("seen", arm), ("strata", strata), ("tasks", tasks)):
        check_length_of(other, column.size, name)
    kept = np.flatnonzero(~np.isnan(column))
    y, x = column[kept], arm[kept].astype(np.float64)
    own = [tasks[place] for place in kept.tolist()]

    def mean(chosen: Any) -> Estimate:
        places = np.flatnonzero(chosen)
        by = [own[place] for place in places.tolist()]
        return mean_by_cluster(y[places], by, scale=scale, level=level)

    difference, p = _difference(y, x, [strata[place] for place in kept.tolist()], own, level)
    return ArmComparison(mean(x == 1), mean(x == 0), difference, p)


def _difference(
    y: Any, x: Any, strata: Sequence[Hashable], tasks: Sequence[Hashable], level: float
) -> tuple[Estimate, float | None]:
    n = y.size
    names, code = encode(tasks)
    if len(names) < FEWEST_TASKS:
        reason = FEW_TASKS.format(n=len(names), least=FEWEST_TASKS)
        return Estimate.without_value(reason, n=n), None
    _, group = encode(strata)
    sizes = np.bincount(group)
    x = x - (np.bincount(group, weights=x) / sizes)[group]
    y = y - (np.bincount(group, weights=y) / sizes)[group]
    below = np.bincount(code, weights=x * x)
    if below.sum() <= 1e-12:
        return Estimate.without_value(ONE_ARM, n=n), None
    if below.max() >= (1 - 1e-9) * below.sum():
        return Estimate.without_value(ONE_TASK_DECIDES, n=n), None
    value, error, df = cluster_quotient(np.bincount(code, weights=x * y), below)
    # What the intercepts take from the residuals.
    error *= sqrt(n / (n - sizes.size))
    if error <= 1e-12:
        return Estimate(value, n, no_interval=NO_SPREAD), None
    interval = cluster_interval(
        value, error, df, clusters=len(names), unit="task", level=level, rate=False
    )
    return Estimate(value, n, interval), two_sided_t(value / error, df)
