"""Coverage by step, against values counted by hand."""

import pytest

from analysis.stats.descriptive.proportions import coverage_by_step, kept_to


def test_parts_count_from_their_first_find() -> None:
    # Of four parts: a at step 1, b at step 3 (and again at 4); z was not asked for.
    finds = [(4, "b"), (1, "a"), (3, "b"), (2, "z")]
    assert coverage_by_step("abcd", finds, 5) == (0.25, 0.25, 0.5, 0.5, 0.5)


def test_nothing_found_is_0_and_nothing_asked_for_is_undefined() -> None:
    assert coverage_by_step("ab", [], 2) == (0.0, 0.0)
    assert coverage_by_step("", [(1, "a")], 2) == (None, None)
    assert coverage_by_step("ab", [], 0) == ()


@pytest.mark.parametrize("step", [0, 3])
def test_a_find_outside_the_steps_is_refused(step: int) -> None:
    with pytest.raises(ValueError, match="of 2 steps"):
        coverage_by_step("a", [(step, "a")], 2)


def test_the_last_value_is_carried_on() -> None:
    assert kept_to((0.25, 0.5), 4) == (0.25, 0.5, 0.5, 0.5)
    assert kept_to((0.25, 0.5), 2) == (0.25, 0.5)
    assert kept_to((), 2) == (None, None)
