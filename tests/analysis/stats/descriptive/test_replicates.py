"""Mean and spread across runs by hand, beside what is pooled."""

import pytest

from analysis.stats.columns import MISSING
from analysis.stats.descriptive.trials import replicated_mean
from benchmarks.core.means import across_replicates


def test_mean_deviation_and_range_of_three_runs() -> None:
    """Accuracies 0.5, 0.75 and 1 on four tasks: mean 0.75, s² = (0.0625 + 0 + 0.0625) / 2."""
    runs = ["a"] * 4 + ["b"] * 4 + ["c"] * 4
    values = [1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1]
    found = replicated_mean(values, runs, [1, 2, 3, 4] * 3)
    across = found.across
    assert (across.n, across.mean, across.low, across.high) == (3, 0.75, 0.5, 1.0)
    assert across.sd == pytest.approx(0.25)
    assert found.pooled.value == 0.75 and found.pooled.n == 12
    assert found.pooled.interval is not None and found.pooled.interval.details["clusters"] == 4


def test_a_run_counts_once_however_many_of_its_values_are_undefined() -> None:
    """Means 1 and 0.25 give 0.625; pooled, five values of which two are 1 give 0.4."""
    values = [1, None, None, None, 1, 0, 0, 0]
    found = replicated_mean(values, ["a"] * 4 + ["b"] * 4, [1, 2, 3, 4] * 2)
    assert found.across.mean == 0.625 and found.pooled.value == 0.4
    assert found.pooled.excluded == {MISSING: 3}


def test_what_is_left_out_for_a_reason_is_counted_once() -> None:
    why = {"a judge was silent": 2, "not ended": 1}
    found = replicated_mean([1, None, None, 0], ["a", "a", "b", "c"], [1, 2, 1, 1], excluded=why)
    assert found.pooled.excluded == why and found.pooled.n == 2 and found.across.n == 2


def test_spread_takes_two_runs() -> None:
    one = across_replicates([0.5, None])
    assert (one.n, one.mean, one.sd, one.low) == (1, 0.5, None, None) and "two" in one.no_spread
    assert across_replicates([None, None]).undefined == "undefined in every run"
    assert across_replicates([]).undefined == "no run has ended"
    found = replicated_mean([None, None], ["a", "b"], [1, 1])
    assert found.across.mean is None and found.pooled.value is None
