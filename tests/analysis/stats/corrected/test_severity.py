"""People's scores adjusted for how severe each of them is."""

import numpy as np
import pytest

from analysis.stats.corrected.severity import adjust_for_severity


def test_what_raters_share_tells_them_apart() -> None:
    # b gives one point more than a for the same unit; the mean of all six scores stays 3.5.
    adjusted = adjust_for_severity([1, 1, 2, 2, 3, 3], "ababab", [3, 4, 2, 3, 4, 5])
    assert adjusted == pytest.approx([3.5, 3.5, 2.5, 2.5, 4.5, 4.5])


def test_equals_least_squares_over_units_and_raters() -> None:
    rng = np.random.default_rng(20261129)
    units, raters = rng.integers(0, 30, 200), rng.integers(0, 6, 200)
    scores = rng.normal(3, 1, 200)
    design = np.hstack([np.eye(30)[units], np.eye(6)[raters]])
    parts = np.linalg.lstsq(design, scores, rcond=None)[0][30:]
    expected = scores - parts[raters] + parts[raters].mean()
    adjusted = adjust_for_severity(units.tolist(), raters.tolist(), scores.tolist())
    assert adjusted == pytest.approx(expected)
    assert adjusted is not None and np.mean(adjusted) == pytest.approx(scores.mean())


def test_raters_linked_over_others_are_told_apart() -> None:
    # a and c share no unit; b shares one with each.
    adjusted = adjust_for_severity([1, 1, 2, 2], "abbc", [1, 2, 2, 4])
    assert adjusted is not None and adjusted[0] == pytest.approx(adjusted[1])
    assert adjusted[2] == pytest.approx(adjusted[3])


@pytest.mark.parametrize(
    ("units", "raters", "scores"),
    [([1, 2], "ab", [1, 5]), ([1, 1, 2, 2], "abcd", [1, 2, 4, 5])],
    ids=["nothing shared", "two groups"],
)
def test_raters_who_are_not_linked_cannot_be_adjusted(
    units: list[int], raters: str, scores: list[float]
) -> None:
    assert adjust_for_severity(units, raters, scores) is None


def test_one_rater_and_none() -> None:
    assert adjust_for_severity([1, 2], "aa", [1, 4]) == [1, 4]
    assert adjust_for_severity([], [], []) == []
