"""Tests of corrected changes per turn."""

from math import nan
from typing import Any

import numpy as np
import pytest

from analysis.stats.corrected.corrected_means import EQUAL_GAPS, NONE_RATED, ONE_RATED
from analysis.stats.corrected.corrected_slopes import (
    NO_RATED_SLOPE,
    WorkingCovariance,
    corrected_slope,
)
from analysis.stats.trends.mixed_models import mixed_slope
from analysis.stats.trends.turn_series import NO_SLOPE
from tests.bench.correcting import made_turns


def test_judges_who_grow_milder_are_put_right() -> None:
    turns = made_turns("at random", 150, 80, (1,))
    corrected = corrected_slope(*turns)
    interval = corrected.estimate.interval
    assert corrected.judges == pytest.approx(0.08, abs=0.02)
    assert interval is not None
    assert interval.holds(0)
    assert not interval.holds(0.08)
    assert (corrected.rated, corrected.estimate.n) == (80, 150)


def test_the_judges_slope_is_that_of_the_mixed_model() -> None:
    trajectories, _, turn, judges, *_ = turns = made_turns("at random", 60, 30, (2,))
    fit = mixed_slope(trajectories, turn, judges)
    assert corrected_slope(*turns).judges == pytest.approx(fit.slope.value, abs=1e-6)


def test_all_rated_without_judges_is_the_slope_of_the_people() -> None:
    trajectories, tasks, turn, judges, _, chance = made_turns("at random", 40, 20, (3,))
    people = judges - 0.1 * turn
    turns = (trajectories, tasks, turn, judges, people, np.ones(chance.size))
    corrected = corrected_slope(*turns, weight=0)
    assert corrected.estimate.value == pytest.approx(corrected.judges - 0.1, abs=1e-9)


def made(people: Any, **columns: Any) -> list[Any]:
    """Return five trajectories of two turns, one task each."""
    known: dict[str, Any] = {
        "trajectories": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
        "tasks": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5],
        "turns": [1, 2] * 5,
        "judges": [3, 4, 2, 2, 4, 3, 5, 4, 1, 2],
        "people": people,
        "probability": [0.8] * 10,
    }
    return list({**known, **columns}.values())


RATED = [3, 3, 2, 1, 4, 3, 5, 5, nan, nan]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (made([nan] * 10), NONE_RATED),
        (made([3, 3] + [nan] * 8), ONE_RATED),
        (made([3, nan, 2, nan, 4, nan, 5, nan, 1, nan]), NO_RATED_SLOPE),
        (
            made(RATED, turns=[1] * 10, trajectories=list(range(10)), tasks=list(range(10))),
            NO_SLOPE,
        ),
        (made(RATED, tasks=[1, 1, 1, 1, 2, 2, 3, 3, 3, 3]), "what people rated belongs to 3 tasks"),
        (made(RATED, probability=[0.0] * 10), "a probability of being drawn is 0"),
        (made(RATED, probability=[1.2] * 10), "a probability of being drawn is 1.2"),
    ],
)
def test_what_cannot_be_corrected_is_undefined_with_its_reason(
    columns: list[Any], reason: str
) -> None:
    corrected = corrected_slope(*columns)
    assert corrected.estimate.value is None
    assert corrected.estimate.undefined.startswith(reason)


def test_equal_differences_give_no_interval() -> None:
    judges = [3, 4, 2, 2, 4, 3, 5, 4, 1, 2]
    people = [score - 1 for score in judges[:8]] + [nan, nan]
    corrected = corrected_slope(*made(people), weight=1)
    assert corrected.estimate.no_interval == EQUAL_GAPS


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("tasks", [1, 2, 2, 2, 3, 3, 4, 4, 5, 5], "one task"),
        ("probability", [0.1, 0.2] + [0.8] * 8, "one probability"),
        ("turns", [1, 2, 3], "turns: 3 entries"),
    ],
)
def test_columns_that_contradict_each_other_are_refused(
    column: str, value: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        corrected_slope(*made(RATED, **{column: value}))


def test_without_a_mixed_model_the_slope_is_that_within_trajectories() -> None:
    within = WorkingCovariance.of([1, 1, 2, 2], np.array([1.0, 2, 1, 2]), np.array([1.0, 2, 3, 4]))
    assert within.slope == 0
    assert within.level / within.noise > 1e5
