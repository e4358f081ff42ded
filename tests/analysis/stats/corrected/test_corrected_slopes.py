"""Tests of corrected changes per turn."""

from math import nan
from typing import Any

import numpy as np
import pytest

from analysis.stats.corrected.corrected_means import (
    CONSTANT_JUDGES,
    EQUAL_GAPS,
    FEWEST_TASKS,
    NONE_RATED,
    NOT_DRAWN,
    ONE_RATED,
    WRONG_PROBABILITY,
)
from analysis.stats.corrected.corrected_slopes import NO_RATED_SLOPE, corrected_slope
from analysis.stats.trends.mixed_models import mixed_slope
from analysis.stats.trends.turn_series import NO_SLOPE
from tests.bench.correcting import made_turns


@pytest.mark.parametrize("ending", ["random", "high", "low"])
def test_judges_who_grow_milder_are_put_right(ending: str) -> None:
    corrected = corrected_slope(*made_turns(ending, 300, 150, 0.08, (1,)))
    interval, people = corrected.estimate.interval, corrected.people.interval
    assert corrected.judges == pytest.approx(0.07, abs=0.02)
    assert interval is not None
    assert people is not None
    assert interval.holds(0)
    assert not interval.holds(corrected.judges)
    assert interval.half_width < people.half_width
    assert (corrected.rated, corrected.estimate.n) == (150, 300)


def test_coverage_is_nominal_where_endings_depend_on_judges() -> None:
    held = []
    for number in range(60):
        interval = corrected_slope(*made_turns("high", 40, 20, 0.08, (2, number))).estimate.interval
        assert interval is not None
        held.append(interval.holds(0))
    assert 0.85 <= np.mean(held) <= 1


def test_the_judges_slope_is_that_of_the_mixed_model() -> None:
    """But for the grid of variances and the correlation of levels and slopes."""
    trajectories, _, turn, judges, *_ = turns = made_turns("random", 60, 30, 0.08, (2,))
    fit = mixed_slope(trajectories, turn, judges, random="intercept")
    assert corrected_slope(*turns).judges == pytest.approx(fit.slope.value, abs=2e-3)


def test_the_variances_do_not_depend_on_where_turns_begin() -> None:
    trajectories, tasks, turn, *rest = made_turns("random", 60, 30, 0.08, (3,))
    first = corrected_slope(trajectories, tasks, turn, *rest)
    later = corrected_slope(trajectories, tasks, turn + 7, *rest)
    assert later.estimate.value == pytest.approx(first.estimate.value, abs=1e-9)


def test_people_who_are_judges_and_a_line_need_no_interval() -> None:
    trajectories, tasks, turn, judges, _, chance = made_turns("random", 40, 20, 0.0, (3,))
    people = judges - 0.1 * turn
    corrected = corrected_slope(trajectories, tasks, turn, judges, people, np.ones(chance.size))
    assert corrected.judges is not None
    assert corrected.estimate.value == pytest.approx(corrected.judges - 0.1, abs=1e-6)
    assert corrected.weight == pytest.approx(1, abs=1e-6)


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
        (
            made([3, nan, 2, nan, 4, nan, 5, nan, 1, nan]),
            NO_RATED_SLOPE.format(n=0, least=FEWEST_TASKS),
        ),
        (
            made(RATED, turns=[1] * 10, trajectories=list(range(10)), tasks=list(range(10))),
            NO_SLOPE,
        ),
        (made(RATED, judges=[3] * 10), CONSTANT_JUDGES),
        (made(RATED, probability=[1.5] * 10), WRONG_PROBABILITY.format(value=1.5)),
        (made(RATED, probability=[0.0] * 10), WRONG_PROBABILITY.format(value=0)),
        (made(RATED, probability=[nan] * 10), NOT_DRAWN),
    ],
)
def test_what_has_no_corrected_slope_says_why(columns: list[Any], reason: str) -> None:
    corrected = corrected_slope(*columns)
    assert corrected.estimate.value is None
    assert corrected.estimate.undefined == reason
    assert corrected.weight is None


def test_equal_slopes_everywhere_have_no_interval() -> None:
    corrected = corrected_slope(*made([2, 3] * 5, judges=[2, 3] * 5, probability=[1.0] * 10))
    assert corrected.estimate.value == pytest.approx(1)
    assert corrected.estimate.no_interval == EQUAL_GAPS


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (made(RATED, tasks=[1, 2] * 5), "belongs to one task"),
        (made(RATED, probability=[0.5, 0.6] * 5), "drawn with one probability"),
        (made(RATED[:-1]), "people"),
    ],
)
def test_contradicting_columns_are_refused(columns: list[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        corrected_slope(*columns)
