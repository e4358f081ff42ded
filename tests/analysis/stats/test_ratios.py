"""Ratios of totals, against values derived by hand."""

import numpy as np
import pytest

from analysis.stats.means import resampled_quotients
from analysis.stats.ratios import NOTHING_BELOW, ratio_of_totals


def test_totals_are_divided_not_ratios_averaged() -> None:
    # (1 + 9)/(1 + 3) = 2.5; the mean of the ratios would be (1 + 3)/2 = 2.
    found = ratio_of_totals([1, 9], [1, 3], ["a", "b"], seed=1)
    assert found.value == 2.5 and found.n == 2
    # Two clusters: resamples are aa (1), ab (2.5) and bb (3), so 1 and 3 are the quantiles.
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1, 3)
    assert found.interval.details == {"seed": 1, "resamples": 2000, "clusters": 2}
    assert "only 2 tasks" in found.warnings[0]


def test_rows_of_one_cluster_are_drawn_together() -> None:
    found = ratio_of_totals([1, 9], [1, 3], ["a", "a"], seed=1)
    assert found.value == 2.5 and found.interval is None
    assert "one task" in found.no_interval


def test_missing_rows_are_counted_and_left_out() -> None:
    found = ratio_of_totals([1, None, 3], [1, 1, None], ["a", "b", "c"], seed=1,
                            excluded={"not played yet": 2})  # fmt: skip
    assert (found.value, found.n) == (1.0, 1)
    assert found.excluded == {"not played yet": 2, "missing value": 2}


def test_nothing_to_divide_by_is_undefined_and_not_0() -> None:
    found = ratio_of_totals([2, 3], [0, 0], ["a", "b"], seed=1)
    assert found.value is None and found.undefined == NOTHING_BELOW and found.n == 2
    assert ratio_of_totals([], [], [], seed=1).undefined == NOTHING_BELOW


def test_resamples_without_anything_below_are_dropped_and_counted() -> None:
    found = ratio_of_totals([1, 2, 4], [0, 1, 1], ["a", "b", "c"], seed=3)
    # (1 + 2 + 4)/2; one in 27 resamples draws a three times.
    assert found.value == 3.5
    dropped = int(found.warnings[1].split()[0])
    assert 40 < dropped < 110


def test_equal_ratios_have_no_interval() -> None:
    found = ratio_of_totals([2, 4], [1, 2], ["a", "b"], seed=1)
    assert found.value == 2 and found.interval is None and "same ratio" in found.no_interval


def test_negative_counts_and_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        ratio_of_totals([-1], [1], ["a"], seed=1)
    with pytest.raises(ValueError, match="below"):
        ratio_of_totals([1, 2], [1], ["a", "b"], seed=1)


def test_quotients_are_those_of_drawn_totals() -> None:
    drawn = resampled_quotients([1.0, 9.0], [1.0, 3.0], seed=5, resamples=500)
    assert set(np.unique(drawn)) == {1.0, 2.5, 3.0}
