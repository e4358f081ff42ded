"""pass^k: by hand, and that it is unbiased where (c/n)^k is not."""

from itertools import pairwise
from math import comb

import pytest

from analysis.stats.descriptive.trials import TrialCounts, count_trials, pass_power, success_rate


def test_counting() -> None:
    counts = count_trials([1, 0, None, 1, float("nan")], ["a", "a", "a", "b", "c"])
    # Task c has no trial with an outcome, so it is no task here; two trials had none.
    assert counts == TrialCounts(("a", "b"), (2, 1), (1, 1), missing=2)
    assert counts.most == 2


def test_by_hand() -> None:
    # Task a: 3 of 4, task b: 1 of 4, task c: 4 of 4.
    counts = TrialCounts(("a", "b", "c"), (4, 4, 4), (3, 1, 4))
    # k = 1: (3/4 + 1/4 + 1)/3 = 2/3. k = 2: C(3,2)/C(4,2) = 3/6, 0, 1: mean 1/2.
    # k = 3: C(3,3)/C(4,3) = 1/4, 0, 1: mean 5/12. k = 4: 0, 0, 1: mean 1/3.
    expected = {1: 2 / 3, 2: 1 / 2, 3: 5 / 12, 4: 1 / 3}
    for k, value in expected.items():
        estimate = pass_power(counts, k)
        assert estimate.value == pytest.approx(value)
        assert estimate.n == 3
        assert estimate.interval is not None
        assert estimate.interval.method.endswith(" by task (CR2)")


def test_tasks_with_too_few_trials_are_counted_not_failed() -> None:
    counts = TrialCounts(("a", "b"), (3, 1), (3, 1), missing=2)
    estimate = pass_power(counts, 2, excluded={"being played": 1})
    assert (estimate.value, estimate.n) == (1.0, 1)
    assert estimate.excluded == {"being played": 1, "missing value": 2, "fewer than 2 trials": 1}
    nothing = pass_power(counts, 4)
    assert nothing.value is None and nothing.undefined == "no task has 4 trials"


def test_it_is_unbiased() -> None:
    # One task with success probability p: over all outcomes of n = 4 trials, the mean of
    # C(c, 2)/C(4, 2) under the binomial distribution is p², that of (c/4)² is larger by p(1−p)/4.
    p, n, k = 0.3, 4, 2
    weights = {c: comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)}
    mean = 0.0
    for c, weight in weights.items():
        estimate = pass_power(TrialCounts(("a",), (n,), (c,)), k)
        assert estimate.value is not None
        mean += weight * estimate.value
    assert mean == pytest.approx(p**k)


def test_it_falls_with_k() -> None:
    counts = TrialCounts(tuple(range(9)), (8,) * 9, tuple(range(9)))
    values = [pass_power(counts, k).value for k in range(1, 9)]
    assert all(a is not None and b is not None and a > b for a, b in pairwise(values))


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_k_is_a_whole_number_from_one(k: float) -> None:
    with pytest.raises(ValueError, match="whole number from 1"):
        pass_power(TrialCounts(("a",), (2,), (1,)), k)  # type: ignore[arg-type]


def test_outcomes_are_yes_or_no() -> None:
    with pytest.raises(ValueError, match="0, 1 or missing"):
        count_trials([0.5], ["a"])
    with pytest.raises(ValueError, match="2 entries for 1 values"):
        count_trials([1], ["a", "b"])


def test_one_trial_each_has_wilsons_interval() -> None:
    # x = 1, n = 4, z = 1.96: 4.6 to 69.9 % (as in the tests of shares).
    found = success_rate([1, 0, 0, 0, None], list("abcde"), excluded={"waits": 2})
    assert found.value == 0.25 and found.interval is not None
    assert found.interval.method == "wilson"
    assert found.interval.low == pytest.approx(0.0456, abs=1e-4)
    assert found.excluded == {"waits": 2, "missing value": 1}


def test_intervals_of_several_trials_are_by_task() -> None:
    # Task a has 2 of 2, task b 0 of 1: 2/3, residuals ±2/3, CR2 variance (4/3 + 2/3)/9 with 1 df.
    found = success_rate([1, 1, 0], ["a", "a", "b"])
    assert found.value == pytest.approx(2 / 3) and found.interval is not None
    assert found.interval.method.startswith("Wilson by task")
    assert (found.interval.low, found.interval.high) == pytest.approx(
        (0.002738, 0.999314), abs=1e-5
    )


def test_no_trial_is_undefined_for_the_first_reason() -> None:
    assert success_rate([], [], excluded={"waits": 2}).undefined == "waits"
    assert success_rate([], []).undefined == "no observations"
