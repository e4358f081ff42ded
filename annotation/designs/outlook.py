"""The questions that a design can answer: raters of items, agreement, judge test, precision.

Pure functions of who gets which item. docs/making-studies.md states the formulas.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import NamedTuple

# The alternative annotator test needs so many people with so many items each that another person
# judges, too (Calderon, Reichart & Dror 2025). tests/annotation/designs/test_outlook.py compares
# these with what the analysis asks for.
PEOPLE_FOR_JUDGE_TEST, ITEMS_FOR_JUDGE_TEST = 3, 30
# Below this, resamples often hold equal answers only, and alpha has no interval.
LEAST_ITEMS_FOR_ALPHA = 10
# 95 % half-width of Krippendorff's ordinal alpha times the root of the number of items, as measured
# with three raters on published 1-to-5 scores (docs/making-studies.md).
ALPHA_WIDTH = 1.2
Z = 1.96


class DesignOutlook(NamedTuple):
    """Counts of a design, gold and training apart.

    Attributes
    ----------
    items
        Items to judge.
    least, most
        The fewest and the most raters of an item.
    shared
        Items with two raters or more.
    testable
        People with enough shared items for the judge test; None where people take items from a
        pool, so that nobody knows who will judge what.
    per_model
        Items of the model that has the fewest; all items where there are no models.
    """

    items: int
    least: int
    most: int
    shared: int
    testable: int | None
    per_model: int

    @property
    def agreement(self) -> bool:
        """Return whether agreement among people will be defined."""
        return self.shared > 0

    @property
    def alpha_half_width(self) -> float | None:
        """The expected half-width of alpha's 95 % interval; None for too few shared items."""
        if self.shared < LEAST_ITEMS_FOR_ALPHA:
            return None
        return ALPHA_WIDTH / sqrt(self.shared)

    @property
    def judge_test(self) -> bool:
        """Return whether the alternative annotator test can be made, given enough shared items."""
        if self.testable is None:
            return self.shared >= ITEMS_FOR_JUDGE_TEST
        return self.testable >= PEOPLE_FOR_JUDGE_TEST

    @property
    def mean_half_width(self) -> float | None:
        """The expected half-width of one model's mean score, in units of the standard deviation
        of its scores; None for fewer than two items.
        """
        return Z / sqrt(self.per_model) if self.per_model > 1 else None

    @property
    def share_half_width(self) -> float | None:
        """The largest half-width of a Wilson interval of one model's share, at a share of one
        half; None for fewer than two items.
        """
        n = self.per_model
        return Z / (n + Z * Z) * sqrt(n / 4 + Z * Z / 4) if n > 1 else None


def outlook_of_lists(
    orders: Mapping[str, Sequence[int]], models: Mapping[int, str]
) -> DesignOutlook:
    """Count what named people get: ``orders`` maps people to items, ``models`` items to models."""
    raters = Counter(item for order in orders.values() for item in order)
    testable = sum(
        sum(raters[item] > 1 for item in order) >= ITEMS_FOR_JUDGE_TEST for order in orders.values()
    )
    given = [raters[item] for item in models]
    return DesignOutlook(
        items=len(models),
        least=min(given, default=0),
        most=max(given, default=0),
        shared=sum(count > 1 for count in given),
        testable=testable,
        per_model=_fewest(models),
    )


def outlook_of_pool(raters: int, models: Mapping[int, str]) -> DesignOutlook:
    """Count what a pool wants: every item gets ``raters`` people, whoever they are."""
    return DesignOutlook(
        items=len(models),
        least=raters,
        most=raters,
        shared=len(models) if raters > 1 else 0,
        testable=None,
        per_model=_fewest(models),
    )


def _fewest(models: Mapping[int, str]) -> int:
    return min(Counter(models.values()).values(), default=0)
