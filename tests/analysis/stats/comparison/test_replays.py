"""Effects of an answer on replays, and which turn lost a trajectory."""

import pytest

from analysis.stats.comparison.replays import decisive_turns, newcombe_interval, replay_effect
from analysis.stats.results import ALL_EQUAL


def rates(right: int, n: int = 10) -> list[float | None]:
    return [1.0] * right + [0.0] * (n - right)


def test_the_interval_of_a_difference_is_newcombes() -> None:
    # Newcombe 1998, Table II, contrasts (a) 56/70 - 48/80 and (h) 10/10 - 0/10, method 10.
    assert newcombe_interval(56, 70, 48, 80) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe_interval(10, 10, 0, 10) == pytest.approx((0.6075, 1.0), abs=5e-5)


def test_rates_are_compared_exactly() -> None:
    effect = replay_effect(rates(9), [*rates(2), None], rate=True)
    assert effect.difference.value == pytest.approx(0.7)
    assert effect.difference.excluded == {"missing value": 1} and effect.second.n == 10
    # R: fisher.test(matrix(c(9, 1, 2, 8), 2))$p.value
    assert effect.p_value == pytest.approx(0.005477, abs=1e-6)
    interval = effect.difference.interval
    assert interval is not None and interval.method == "Newcombe hybrid score"


def test_means_are_compared_by_welch() -> None:
    effect = replay_effect([5, 4, 4, 5, 3], [2, 2, 3, 1, 2], rate=False)
    # mean 4.2, s² 0.7; mean 2, s² 0.5: se = sqrt(0.24), df = 0.24² / (0.14²/4 + 0.1²/4) = 7.784
    assert effect.difference.value == pytest.approx(2.2)
    interval = effect.difference.interval
    assert interval is not None
    assert interval.half_width == pytest.approx(2.3172 * 0.24**0.5, abs=1e-3)
    assert effect.p_value is not None and effect.p_value < 0.01


def test_what_says_nothing_has_no_interval() -> None:
    same = replay_effect([3, 3], [4, 4], rate=False)
    assert same.difference.no_interval == ALL_EQUAL and same.p_value is None
    copies = replay_effect(rates(10), rates(0), rate=True, copies=True)
    assert copies.difference.value == 1 and copies.difference.interval is None
    assert copies.p_value is None
    none = replay_effect([None], rates(1), rate=True)
    assert none.difference.undefined and none.p_value is None


def test_the_turn_that_lost_a_trajectory_is_named() -> None:
    result = decisive_turns([rates(9), rates(9), rates(0), rates(1)], rates(0))
    assert result.decisive == 2
    second = result.turns[1]
    # One-sided: C(11, 1)·1/C(20, 9)… of 9 right against none: R gives 5.95e-5.
    assert second.p_value == pytest.approx(5.954e-5, rel=1e-3)
    assert second.p_adjusted == pytest.approx(4 * second.p_value)
    assert [test.clear for test in result.turns] == [False, True, False, False]


def test_no_turn_is_named_where_none_decided_or_nothing_was_left_to_chance() -> None:
    assert decisive_turns([rates(5), rates(6), rates(4)], rates(5)).decisive is None
    assert decisive_turns([rates(0), rates(0)], rates(0)).decisive is None
    assert decisive_turns([rates(10), rates(0)], rates(0), copies=True).decisive is None
