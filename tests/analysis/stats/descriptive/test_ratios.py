"""Ratios of totals, against values derived by hand."""

import pytest

from analysis.stats.descriptive.rates import NOTHING_BELOW, ratio_of_totals


def test_totals_are_divided_not_ratios_averaged() -> None:
    # (1 + 9)/(1 + 3) = 2.5; the mean of the ratios would be (1 + 3)/2 = 2.
    found = ratio_of_totals([1, 9], [1, 3], ["a", "b"])
    assert found.value == 2.5 and found.n == 2
    # Residuals ±1.5, h = 1/4 and 3/4: variance (3 + 9)/16 with 1 df, 2.5 ± 12.706·0.866, from 0 on.
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((0, 13.5039), abs=1e-3)
    assert found.interval.details == {"clusters": 2}
    assert not found.warnings


def test_rows_of_one_cluster_are_drawn_together() -> None:
    found = ratio_of_totals([1, 9], [1, 3], ["a", "a"])
    assert found.value == 2.5 and found.interval is None
    assert "one task" in found.no_interval


def test_missing_rows_are_counted_and_left_out() -> None:
    found = ratio_of_totals([1, None, 3], [1, 1, None], ["a", "b", "c"],
                            excluded={"not played yet": 2})  # fmt: skip
    assert (found.value, found.n) == (1.0, 1)
    assert found.excluded == {"not played yet": 2, "missing value": 2}


def test_nothing_to_divide_by_is_undefined_and_not_0() -> None:
    found = ratio_of_totals([2, 3], [0, 0], ["a", "b"])
    assert found.value is None and found.undefined == NOTHING_BELOW and found.n == 2
    assert ratio_of_totals([], [], []).undefined == NOTHING_BELOW


def test_clusters_with_nothing_below_count_above() -> None:
    found = ratio_of_totals([1, 2, 4], [0, 1, 1], ["a", "b", "c"])
    # (1 + 2 + 4)/2.
    assert found.value == 3.5 and found.interval is not None
    assert found.interval.details["clusters"] == 3
    alone = ratio_of_totals([1, 2], [0, 1], ["a", "b"])
    assert alone.value == 3 and alone.interval is None and "one task" in alone.no_interval


def test_equal_ratios_have_no_interval() -> None:
    found = ratio_of_totals([2, 4], [1, 2], ["a", "b"])
    assert found.value == 2 and found.interval is None and "same ratio" in found.no_interval


def test_negative_counts_and_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        ratio_of_totals([-1], [1], ["a"])
    with pytest.raises(ValueError, match="below"):
        ratio_of_totals([1, 2], [1], ["a", "b"])
