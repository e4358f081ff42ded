"""Scores of turns as columns, for the dimensions that a page shows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.filters.selection import Selection
from analysis.reports import common
from benchmarks.core.system import Dimension

if TYPE_CHECKING:
    from pandas import DataFrame

Columns = tuple[list[str], list[str], list[int], list[int], list[float]]


def chosen_dimensions(selection: Selection) -> tuple[Dimension, ...]:
    """The dimensions that the selection names, in the rubric's order."""
    known = common.dimensions_of(selection.system)
    return tuple(d for d in known if d.key in selection.filters.dimensions)


def columns_of(frame: "DataFrame", dimensions: Sequence[Dimension]) -> Columns:
    """The columns that the statistics take, with dimensions by title."""
    titles = {dimension.key: dimension.title for dimension in dimensions}
    return (
        frame["label"].tolist(),
        frame["dimension"].map(titles).tolist(),
        frame["trajectory"].tolist(),
        frame["turn"].tolist(),
        frame["score"].tolist(),
    )
