"""Limits of agreement: the textbook, by hand, and where there are none."""

import numpy as np
import pytest

from analysis.stats.rater_agreement.bland_altman import (
    NO_SPREAD,
    TOO_FEW,
    bland_altman,
    paired_points,
)

# Bland & Altman 1986, Lancet 327:307: peak flow of 17 people by two meters, first readings.
WRIGHT = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]


def test_the_textbook() -> None:
    # Printed: mean −2.1, SD 38.8; limits −79.7 and 75.5 with twice the SD.
    limits = bland_altman(WRIGHT, MINI, share=0.9545)  # 2 standard deviations
    assert limits.bias.value == pytest.approx(-2.1, abs=0.05)
    assert limits.sd == pytest.approx(38.8, abs=0.05)
    assert limits.lower.value == pytest.approx(-79.7, abs=0.1)
    assert limits.upper.value == pytest.approx(75.5, abs=0.1)
    assert limits.bias.interval is not None
    # Printed: from −22.0 to 17.8.
    ends = (limits.bias.interval.low, limits.bias.interval.high)
    assert ends == pytest.approx((-22.0, 17.8), abs=0.1)


def test_undefined_and_without_interval() -> None:
    for first, second in (([], []), ([3], [4]), ([3, None], [4, 5])):
        limits = bland_altman(first, second)
        assert limits.sd is None
        for estimate in (limits.bias, limits.lower, limits.upper):
            assert estimate.undefined == TOO_FEW
    equal = bland_altman([3, 4, 5], [2, 3, 4])
    assert (equal.bias.value, equal.lower.value, equal.upper.value) == (1, 1, 1)
    assert equal.lower.no_interval == NO_SPREAD


def test_tasks_that_repeat_are_drawn() -> None:
    rng = np.random.default_rng(1)
    shift = np.repeat(rng.integers(-1, 2, 30), 5)
    first, second = 3 + shift, np.full(150, 3)
    tasks = np.repeat(np.arange(30), 5).tolist()
    free, bound = bland_altman(first, second), bland_altman(first, second, clusters=tasks, seed=1)
    for name in ("bias", "lower", "upper"):
        one, other = getattr(free, name), getattr(bound, name)
        assert one.value == pytest.approx(other.value)
        assert other.interval.details["clusters"] == 30
        assert other.interval.half_width > one.interval.half_width


def test_points_are_counted_and_rounded_where_there_are_many() -> None:
    # Means and differences of (1, 2), (1, 2), (3, 3): two points, one of them twice.
    found = paired_points([1, 1, 3, np.nan], [2, 2, 3, 1])
    assert (found.means, found.differences, found.counts) == ((1.5, 3.0), (-1.0, 0.0), (2, 1))
    assert found.rounded == 0
    assert paired_points([np.nan], [1]).counts == ()
    first = np.random.default_rng(3).uniform(1, 100, 5000)
    many = paired_points(first, first[::-1], most=200)
    assert len(many.counts) <= 200 and sum(many.counts) == 5000 and many.rounded > 0
    # No point lies further from its pairs than half a step of the grid: the extremes stay.
    assert max(many.means) == pytest.approx(
        ((first + first[::-1]) / 2).max(), abs=many.rounded + 1e-9
    )
