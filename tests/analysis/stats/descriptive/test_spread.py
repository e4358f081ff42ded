"""Medians, quartiles and counts, by hand."""

import pytest

from analysis.stats.descriptive.spread import HistogramBin, Quartiles, quartiles, spread


def test_the_middle() -> None:
    # Sorted 1, 2, 3, 10: positions 0.75, 1.5, 2.25 of 0…3, so 1 + 0.75, 2.5, 3 + 0.25·7.
    assert quartiles([10, 1, None, 3, 2]) == Quartiles(4, 2.5, 1.75, 4.75, missing=1)
    assert quartiles([7]) == Quartiles(1, 7.0, 7.0, 7.0)
    assert quartiles([None, float("nan")]) == Quartiles(0, None, None, None, missing=2)


def test_few_values_are_counted_each() -> None:
    result = spread(["a", "a", "b", "b", "b"], [0, 1, 1, None, 1])
    assert result.cells == (HistogramBin(0, 0), HistogramBin(1, 1))
    assert [cell.label for cell in result.cells] == ["0", "1"]
    assert result.counts == {"a": (1, 1), "b": (0, 2)}
    assert result.missing == {"a": 0, "b": 1}
    assert result.shares("a") == (0.5, 0.5)
    assert spread(["a", "b"], [None, 1]).shares("a") == (None,)


def test_many_values_are_put_into_equal_bins() -> None:
    # From 0 to 10 in five bins of 2; 2 belongs to the second, 10 to the last.
    values = [0, 1, 2, 3, 5, 9, 10]
    result = spread(["a"] * 7, values)
    assert [cell.label for cell in result.cells] == [
        "0 to 2", "2 to 4", "4 to 6", "6 to 8", "8 to 10",
    ]  # fmt: skip
    assert result.counts["a"] == (2, 2, 1, 0, 2)
    assert sum(result.counts["a"]) == len(values)


def test_no_values_make_no_cells() -> None:
    assert spread(["a"], [None]).cells == ()
    assert spread(["a"], [None]).missing == {"a": 1}
    assert spread([], []).counts == {}


def test_groups_go_with_values() -> None:
    with pytest.raises(ValueError, match="1 entries for 2 values"):
        spread(["a"], [1, 2])
