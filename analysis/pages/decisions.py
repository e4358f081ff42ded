"""Columns that sum up decisions against the majority of people in one number: F1 and MCC."""

from collections.abc import Callable
from typing import TypeVar

from analysis.kit import columns
from analysis.kit.columns import Column
from analysis.stats.rater_agreement.decisions import DecisionQuality

R = TypeVar("R")


def summary_columns(decisions: Callable[[R], DecisionQuality]) -> tuple[Column[R], ...]:
    """Return the columns F1 (a share) and MCC (-1 to 1) of the ``decisions`` of a row."""
    return (
        columns.estimate(
            "F1",
            lambda row: decisions(row).f1,
            "share",
            help="Harmonic mean of precision and recall",
        ),
        columns.estimate(
            "MCC",
            lambda row: decisions(row).mcc,
            "points",
            help="Matthews’ correlation: 0 is chance, 1 the same everywhere",
        ),
    )
