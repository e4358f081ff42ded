"""Reading columns: missing values, labels as codes, and the checks that all statistics share."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from math import isnan
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]
Label = TypeVar("Label", bound=Hashable)

MISSING = "missing value"


def as_floats(values: Any) -> Floats:
    """Return an array of floats; None and NaN both stand for missing, infinity is refused."""
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError("infinite values are no observations")
    return array


def as_column(values: Any) -> Floats:
    """Return one column of values, as `as_floats` does for several."""
    array = as_floats(values)
    if array.ndim != 1:
        raise ValueError(f"one column expected, got an array of {array.ndim} dimensions")
    return array


def present(values: Any) -> tuple[Floats, dict[str, int]]:
    """Return the values that are there, and count those that are not."""
    column = as_column(values)
    kept = column[~np.isnan(column)]
    gone = column.size - kept.size
    return kept, {MISSING: gone} if gone else {}


def is_missing(value: object) -> bool:
    """Return whether a value of any kind (a score, a word, a set) is None or NaN."""
    return value is None or (isinstance(value, float) and isnan(value))


def encode(labels: Iterable[Label]) -> tuple[tuple[Label, ...], Codes]:
    """Return the distinct labels in order of first appearance, and each row's index in them."""
    rows = list(labels)
    index = {label: place for place, label in enumerate(dict.fromkeys(rows))}
    return tuple(index), np.fromiter(map(index.__getitem__, rows), dtype=np.int64, count=len(rows))


def check_length_of(column: Sequence[Any] | npt.NDArray[Any], length: int, name: str) -> None:
    """Refuse a column that does not go with the values."""
    if len(column) != length:
        raise ValueError(f"{name}: {len(column)} entries for {length} values")


def cluster_of(
    item: Hashable, clusters: Mapping[Hashable, Hashable], unit: str, name: str = "clusters"
) -> Hashable:
    """Return what an item belongs to; refuse one of which that is not known."""
    if item not in clusters:
        raise ValueError(f"{name}: no {unit} is given for {item!r}")
    return clusters[item]


def check_level(level: float) -> None:
    """Refuse confidence levels outside (0, 1), such as 95."""
    if not 0 < level < 1:
        raise ValueError(f"the level is a fraction between 0 and 1, not {level}")
