"""Two arms that were drawn at random: by hand, against least squares, and on planted influence."""

import numpy as np
import pytest

from analysis.stats.annotators.influence import FEW_TASKS, ONE_ARM, compare_arms
from tests.analysis.stats.annotators.simulate_influence import found_share, simulate_decisions


def test_by_hand() -> None:
    # Ann scores a point lower than Bob; with marks each goes up by 1 and by 0.
    arms = compare_arms(
        [2, 3, 4, 4], [False, True, False, True], ["ann", "ann", "bob", "bob"], ["a", "b", "c", "d"]
    )
    assert (arms.withheld.value, arms.seen.value) == (3, 3.5)
    assert arms.difference.value == pytest.approx(0.5)
    assert arms.difference.interval is not None and arms.difference.interval.holds(0)
    assert arms.p is not None and arms.p > 0.05


def test_it_is_the_coefficient_beside_an_intercept_for_everybody() -> None:
    rng = np.random.default_rng(4)
    people = rng.integers(0, 5, 60)
    seen, values = rng.integers(0, 2, 60), rng.normal(size=60) + people
    arms = compare_arms(values, seen, people.tolist(), rng.integers(0, 9, 60).tolist())
    design = np.column_stack([seen, *(people == person for person in range(5))])
    expected = np.linalg.lstsq(design.astype(float), values, rcond=None)[0][0]
    assert arms.difference.value == pytest.approx(expected)


def test_what_cannot_be_compared_is_undefined() -> None:
    tasks = ["a", "b", "c", "d"]
    one_arm = compare_arms([1, 2, 3, 4], [True] * 4, ["ann"] * 4, tasks)
    assert one_arm.difference.undefined == ONE_ARM and one_arm.p is None
    assert one_arm.withheld.value is None and one_arm.seen.value == 2.5
    apart = compare_arms([1, 2, 3, 4], [True, True, False, False], ["a", "a", "b", "b"], tasks)
    assert apart.difference.undefined == ONE_ARM  # between people nothing is compared
    few = compare_arms([1, 2, 3, 4], [True, False] * 2, ["ann"] * 4, ["a", "b", "c", "c"])
    assert few.difference.undefined == FEW_TASKS.format(n=3, least=4)
    none = compare_arms([float("nan")] * 4, [True, False] * 2, ["ann"] * 4, tasks)
    assert none.difference.value is None
    equal = compare_arms([3, 3, 3, 3], [True, False] * 2, ["ann"] * 4, tasks)
    assert equal.difference.value == 0 and equal.p is None and equal.difference.no_interval


def test_planted_influence_is_found_and_none_is_not() -> None:
    design = (24, 8, 30)
    found, nearer = found_share(design, 0.5, 20)
    assert found >= 0.9 and nearer < -0.1
    false_alarms, _ = found_share(design, 0.0, 80)
    assert false_alarms <= 0.1


def test_planted_influence_on_decisions_is_found_and_none_is_not() -> None:
    design = (24, 8, 30)
    found, nearer = found_share(design, 0.5, 20, simulate_decisions)
    assert found >= 0.9 and nearer > 0.05
    false_alarms, _ = found_share(design, 0.0, 80, simulate_decisions)
    assert false_alarms <= 0.1
