"""What may be said of the highest, or the lowest, of several groups: an extreme needs its test.

Of groups that are equal in truth one has the highest value in every data set. A page may name it as
the best only where its difference from every other group is clear within the family of all pairs.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isclose, sqrt
from typing import Any, Literal

import numpy as np

from analysis.stats.columns import Floats, as_column, check_length_of, encode
from analysis.stats.comparison.model_comparisons import ModelComparisons, turned_estimate
from analysis.stats.comparison.paired import EQUAL, pair_by_task, paired_difference
from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate, Interval

Verdict = Literal["none", "alone", "equal", "clear", "unclear"]
# First minus second of two groups, with an interval that holds for all pairs together.
Difference = Callable[[str, str], Estimate]
NO_SPREAD = "a group without an interval: no interval of the difference"


@dataclass(frozen=True)
class Extreme:
    """The groups with the highest (lowest) value, and what a sentence may claim of them.

    Attributes
    ----------
    verdict
        ``none``: no group has a value; ``alone``: one has, so nothing is compared; ``equal``: all
        have the same value; ``clear``: the named groups are clearly apart from every other;
        ``unclear``: at least one other group is not clearly apart.
    names
        The groups that share the extreme value.
    value
        That value; None without any.
    rivals
        The other groups that are not clearly apart, the nearest first.
    next
        The group whose value comes next.
    difference
        The extreme minus ``next``; its ``n`` counts tasks. None where nothing comes next.
    groups
        The number of groups with a value.
    same_tasks
        Whether ``difference`` is that of both values; else the pair has fewer tasks in common than
        either value counts.
    """

    verdict: Verdict
    names: tuple[str, ...] = ()
    value: float | None = None
    rivals: tuple[str, ...] = ()
    next: str = ""
    difference: Estimate | None = None
    groups: int = 0
    same_tasks: bool = True

    @property
    def is_clear(self) -> bool:
        """Return whether a sentence may name an extreme."""
        return self.verdict == "clear"

    @property
    def name(self) -> str:
        """The first group with the extreme value; empty without any."""
        return next(iter(self.names), "")


def find_extreme(
    values: Mapping[str, float | None], difference: Difference, *, lowest: bool = False
) -> Extreme:
    """Decide what may be said of the group with the highest (or lowest) value.

    Parameters
    ----------
    values
        The value of each group, in the order in which ties are named; None is left out.
    difference
        From `paired_groups` or `separate_groups`, whose intervals hold for the whole family.
    lowest
        The lowest value is the extreme one.

    Notes
    -----
    Intervals hold together, so what is chosen by looking at the values keeps the family's level: of
    groups that are equal in truth one is called clear in at most that share of data sets.
    """
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return Extreme("none")
    sign = -1 if lowest else 1
    order = sorted(known, key=lambda name: -sign * known[name])
    value = known[order[0]]
    names = tuple(name for name in known if abs(known[name] - value) <= EQUAL)
    rest = [name for name in order if name not in names]
    if not rest:
        verdict: Verdict = "alone" if len(known) == 1 else "equal"
        return Extreme(verdict, names, value, groups=len(known))
    rivals = tuple(
        other for other in rest if not all(_beyond(difference(name, other), sign) for name in names)
    )
    gap = difference(names[0], rest[0])
    apart = known[names[0]] - known[rest[0]]
    return Extreme(
        "unclear" if rivals else "clear",
        names,
        value,
        rivals,
        rest[0],
        gap,
        len(known),
        gap.value is None or isclose(gap.value, apart, abs_tol=EQUAL),
    )


def _beyond(difference: Estimate, sign: int) -> bool:
    return difference.is_clear and sign * (difference.value or 0.0) > 0


def pairs_of(groups: int) -> int:
    """Return how many pairs so many groups have, at least 1: the size of their family."""
    return max(1, groups * (groups - 1) // 2)


def paired_groups(
    groups: Sequence[str],
    tasks: Sequence[Hashable],
    values: Any,
    *,
    comparisons: int,
    most: float | None = None,
) -> Difference:
    """Return the differences of groups that share tasks, such as agents, paired by task.

    Parameters
    ----------
    groups, tasks, values
        A row per value; None and NaN are left out.
    comparisons, most
        As in `paired.paired_difference`.
    """
    column = as_column(values)
    check_length_of(groups, column.size, "groups")
    check_length_of(tasks, column.size, "tasks")
    names, codes = encode(groups)
    rows = {name: np.flatnonzero(codes == code).tolist() for code, name in enumerate(names)}

    def difference(first: str, second: str) -> Estimate:
        sides = [rows.get(first, []), rows.get(second, [])]
        matched = pair_by_task(
            [tasks[i] for i in sides[0]], column[sides[0]],
            [tasks[i] for i in sides[1]], column[sides[1]],
        )  # fmt: skip
        return paired_difference(matched, comparisons=comparisons, most=most)

    return difference


def compared_models(comparisons: ModelComparisons) -> Difference:
    """Return the differences of models that `model_comparisons.compare_models` compared."""
    known = {(pair.first, pair.second): pair.comparison.difference for pair in comparisons.pairs}

    def difference(first: str, second: str) -> Estimate:
        if (first, second) in known:
            return known[first, second]
        return turned_estimate(known[second, first])

    return difference


def group_differences(
    groups: Sequence[str], tasks: Sequence[Hashable], values: Any, *, comparisons: int
) -> Difference:
    """Return `separate_groups` where every task belongs to one group, else `paired_groups`."""
    first: dict[Hashable, str] = {}
    apart = all(
        first.setdefault(task, name) == name for task, name in zip(tasks, groups, strict=True)
    )
    make = separate_groups if apart else paired_groups
    return make(groups, tasks, values, comparisons=comparisons)


def separate_groups(
    groups: Sequence[str],
    tasks: Sequence[Hashable],
    values: Any,
    *,
    comparisons: int,
    level: float = 0.95,
) -> Difference:
    """Return the differences of groups without common tasks, such as kinds of task.

    Parameters
    ----------
    groups, tasks, values
        A row per value; None and NaN are left out.
    comparisons
        The interval is one of so many that hold together at ``level`` (Bonferroni).

    Notes
    -----
    With means m₁, m₂ and their intervals by task (l, u) at level 1 − (1 − level)/comparisons, the
    difference lies between d − √((m₁ − l₁)² + (u₂ − m₂)²) and d + √((u₁ − m₁)² + (m₂ − l₂)²)
    (Zou & Donner 2008, Stat. Med. 27:1693; of Wilson's intervals it is Newcombe's method 10, 1998,
    Stat. Med. 17:873). A group whose values are all 0 or all 1 gets Wilson's interval over its
    tasks. No interval where a group has none, as with one task.
    """
    column = as_column(values)
    check_length_of(groups, column.size, "groups")
    names, codes = encode(groups)
    each = 1 - (1 - level) / max(1, comparisons)
    means: dict[str, Estimate] = {}
    counts: dict[str, int] = {}
    for code, name in enumerate(names):
        mine = [i for i in np.flatnonzero(codes == code).tolist() if column[i] == column[i]]
        counts[name] = len({tasks[i] for i in mine})
        means[name] = _mean(column[mine], [tasks[i] for i in mine], counts[name], each)

    def difference(first: str, second: str) -> Estimate:
        one, other = means[first], means[second]
        if one.value is None or other.value is None:
            return Estimate.without_value(one.undefined or other.undefined)
        value, n = one.value - other.value, counts[first] + counts[second]
        if one.arms is None or other.arms is None:
            return Estimate(value, n, no_interval=NO_SPREAD)
        low = value - sqrt(one.arms[0] ** 2 + other.arms[1] ** 2)
        high = value + sqrt(one.arms[1] ** 2 + other.arms[0] ** 2)
        details = {"clusters": n, "comparisons": comparisons} if comparisons > 1 else {}
        return Estimate(value, n, Interval(low, high, level, "Zou–Donner by task", details))

    return difference


def _mean(values: Floats, tasks: Sequence[Hashable], size: int, level: float) -> Estimate:
    mean = mean_by_cluster(values, tasks, level=level)
    if mean.interval is None and size > 1 and set(values.tolist()) in ({0.0}, {1.0}):
        return share(size if values[0] else 0, size, level=level)
    return mean


def clear_differences(
    groups: Iterable[str], difference: Difference
) -> list[tuple[str, str, Estimate]]:
    """Return the pairs of groups that clearly differ, the higher one first, the largest first."""
    differences = []
    for first, second in combinations(groups, 2):
        one = difference(first, second)
        if one.value is not None and one.is_clear:
            turned = (second, first, turned_estimate(one))
            differences.append((first, second, one) if one.value > 0 else turned)
    return sorted(differences, key=lambda pair: -(pair[2].value or 0.0))
