"""Means over outcomes, with what they leave out."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from benchmarks.core.types import Outcome


def mean_of(outcomes: Sequence[Outcome], name: str) -> dict[str, Any]:
    """Return the mean of a metric over the outcomes that define it, with n and what is left out,
    by reason.
    """
    values = [value for o in outcomes if (value := o.metrics.get(name)) is not None]
    excluded = Counter(
        o.undefined.get(name, "not recorded") for o in outcomes if o.metrics.get(name) is None
    )
    return {
        "value": sum(values) / len(values) if values else None,
        "sum": sum(values),
        "n": len(values),
        "excluded": dict(excluded),
    }


def standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of a mean; one value has none."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None


@dataclass(frozen=True)
class ReplicateSummary:
    """A figure of runs that differ in their seed alone: ``n`` runs, their mean, and the spread.

    ``sd`` is the sample standard deviation (n - 1), ``low`` and ``high`` the range. What is
    undefined is None, with the reason in ``undefined`` (no value) or ``no_spread``.
    """

    n: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    undefined: str = ""
    no_spread: str = ""


def across_replicates(values: Sequence[float | None]) -> ReplicateSummary:
    """Return mean and spread of a figure over runs, each run counting once, as papers give three
    runs.

    Runs in which the figure is undefined (None) are left out. The mean of one run has no spread.
    """
    known = [value for value in values if value is not None]
    if not known:
        why = "undefined in every run" if values else "no run has ended"
        return ReplicateSummary(0, None, None, None, None, why, why)
    low, high, mean = min(known), max(known), fmean(known)
    if len(known) == 1:
        why = "one run says nothing about the spread: it takes two"
        return ReplicateSummary(1, mean, None, None, None, no_spread=why)
    return ReplicateSummary(len(known), mean, stdev(known), low, high)
