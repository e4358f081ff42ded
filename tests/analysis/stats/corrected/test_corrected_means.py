"""Tests of corrected means against ppi-python and cje-eval, and of data that allow none."""

from dataclasses import replace
from math import nan, sqrt
from typing import Any

import numpy as np
import pytest

from analysis.stats.corrected.corrected_means import (
    CONSTANT_JUDGES,
    CUT_OFF,
    EQUAL_GAPS,
    NO_PROBABILITY,
    NONE_RATED,
    NOT_DRAWN,
    NOT_JUDGED,
    NOTHING_JUDGED,
    ONE_RATED,
    Columns,
    RatedUnits,
    correct_mean,
)
from tests.analysis.stats.corrected.corrected_reference import (
    REFERENCE,
    TOP,
    WEIGHTS,
    made_scores,
)

JUDGES, PEOPLE, PROBABILITY = made_scores()
ROWS = list(range(JUDGES.size))
RATED = ~np.isnan(PEOPLE)
EQUAL = RatedUnits(JUDGES, PEOPLE, np.full(JUDGES.size, RATED.mean()), ROWS)


@pytest.mark.parametrize("weight", [*WEIGHTS, None])
def test_values_are_those_of_ppi_python(weight: float | None) -> None:
    corrected = correct_mean(EQUAL, weight=weight)
    assert corrected.estimate.value == pytest.approx(REFERENCE[f"ppi {weight}"], abs=1e-9)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_values_with_unequal_probabilities_are_those_of_ppi_python(weight: float) -> None:
    corrected = correct_mean(replace(EQUAL, probability=PROBABILITY), weight=weight)
    expected = REFERENCE[f"ppi weighted {weight}"]
    assert corrected.estimate.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_errors_are_those_of_ppi_python(weight: float) -> None:
    n, others = RATED.sum(), (~RATED).sum()
    of_others = REFERENCE[f"ppi others {weight}"] ** 2
    of_rated = REFERENCE[f"ppi error {weight}"] ** 2 - of_others
    # It divides by n, and not by n − 1.
    expected = sqrt(of_rated * n / (n - 1) + of_others * others / (others - 1))
    judges, people, _ = made_scores(alike=True)
    made = replace(EQUAL, judges=judges, people=people)
    assert Columns.of(made).influence(weight).error == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["rows", "clusters"])
def test_all_rated_is_what_cje_eval_says(name: str) -> None:
    y = PEOPLE[RATED]
    tasks = [place // 3 if name == "clusters" else place for place in range(y.size)]
    corrected = correct_mean(RatedUnits(JUDGES[RATED], y, np.ones(y.size), tasks))
    value, _, low, high = (TOP * number for number in REFERENCE[f"cje {name}"])
    interval = corrected.estimate.interval
    assert interval is not None
    assert corrected.estimate.value == pytest.approx(value, abs=1e-9)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-6)


def test_all_rated_is_the_mean_of_the_people_with_students_interval() -> None:
    people = [1.0, 2.0, 4.0, 5.0]
    units = RatedUnits([5.0, 5.0, 5.0, 4.0], people, [1.0] * 4, list("abcd"))
    corrected = correct_mean(units)
    assert corrected.estimate.value == pytest.approx(3.0)
    assert corrected.moved == pytest.approx(3.0 - 4.75)
    interval = corrected.estimate.interval
    # s² = 10/3, t(3; 0.975) = 3.182446.
    assert interval is not None
    assert interval.half_width == pytest.approx(3.182446 * sqrt(10 / 3 / 4), abs=1e-5)


def test_unequal_probabilities_undo_who_was_rated_more_often() -> None:
    """Low plans are rated four times as often; people's plain mean would be too low."""
    rng = np.random.default_rng(1)
    size = 20_000
    truth = rng.normal(3, 1, size)
    chance = np.where(truth < 3, 0.4, 0.1)
    people = np.where(rng.random(size) < chance, truth, nan)
    corrected = correct_mean(RatedUnits(truth + 1, people, chance, range(size)))
    assert np.nanmean(people) < 2.6
    assert corrected.people.value == pytest.approx(3, abs=0.06)
    assert corrected.estimate.value == pytest.approx(truth.mean(), abs=0.001)


def test_useless_judges_leave_the_people_alone() -> None:
    rng = np.random.default_rng(2)
    people = rng.normal(3, 1, 40)
    units = RatedUnits(-people, np.where(np.arange(40) < 20, people, nan), [0.5] * 40, range(40))
    corrected = correct_mean(units)
    assert corrected.weight == 0
    assert corrected.estimate.value == pytest.approx(people[:20].mean())
    assert corrected.estimate.interval == corrected.people.interval


def units(people: list[Any], **columns: Any) -> RatedUnits:
    """Return units with judges' scores 1, 2, 3, …, one task each, half of them drawn."""
    size = len(people)
    known = {
        "judges": [1.0 + place for place in range(size)],
        "people": people,
        "probability": [0.5] * size,
        "tasks": list(range(size)),
    }
    return RatedUnits(**{**known, **columns})


SIX = [1.0, 3.0, 2.0, 5.0, nan, nan]


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (units([nan] * 6), NONE_RATED),
        (units([2.0] + [nan] * 5), ONE_RATED),
        (units(SIX, tasks=["a"] * 6), "all that people rated belongs to one task"),
        (
            units(SIX, tasks=list("aabcde")),
            "what people rated belongs to 3 tasks only; at least 4 are needed",
        ),
        (units(SIX, probability=[0.0] + [0.5] * 5), "a probability of being drawn is 0;"),
        (units(SIX, probability=[0.5] * 5 + [1.5]), "a probability of being drawn is 1.5;"),
        (units(SIX, probability=[0.5] * 5 + [-1]), "a probability of being drawn is -1;"),
        (units(SIX, probability=[nan] * 6), NOT_DRAWN),
        (units(SIX, judges=[3.0] * 6), CONSTANT_JUDGES),
        (units(SIX, judges=[nan] * 6), NOTHING_JUDGED),
        (units([]), NOTHING_JUDGED),
    ],
)
def test_what_cannot_be_corrected_is_undefined_with_its_reason(
    made: RatedUnits, reason: str
) -> None:
    for weight in (None, 0.0, 1.0):
        corrected = correct_mean(made, weight=weight)
        assert corrected.estimate.value is None
        assert corrected.estimate.undefined.startswith(reason)
        assert corrected.weight is None
        assert corrected.moved is None


def test_what_is_left_out_is_counted() -> None:
    made = units(
        [1.0, 3.0, 2.0, 5.0, 4.0, 2.0, nan],
        probability=[0.5] * 5 + [nan, nan],
        judges=[1.0, 2.0, 3.0, 4.0, nan, 2.0, 5.0],
    )
    corrected = correct_mean(made)
    assert corrected.estimate.excluded == {NOT_JUDGED: 1, NO_PROBABILITY: 1}
    assert (corrected.rated, corrected.rated_tasks, corrected.estimate.n) == (4, 4, 6)


def test_equal_differences_give_a_value_without_an_interval() -> None:
    corrected = correct_mean(units([2.0, 3.0, 4.0, 5.0, nan, nan]), weight=1)
    assert corrected.estimate.value == pytest.approx(4.5)
    assert corrected.estimate.no_interval == EQUAL_GAPS


def test_an_estimate_outside_the_scale_is_cut_off_with_a_warning() -> None:
    made = units([1.0, 1.2, 1.0, 1.1, nan, nan], judges=[5.0, 4.9, 5.0, 5.0, 1.0, 1.1])
    corrected = correct_mean(made, weight=1, scale=(1, 5))
    assert corrected.estimate.value == 1
    assert corrected.estimate.warnings == (CUT_OFF,)
    assert corrected.estimate.interval is not None
    assert corrected.estimate.interval.low == 1


@pytest.mark.parametrize("weight", [-0.1, 1.1])
def test_weights_outside_0_to_1_are_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        correct_mean(EQUAL, weight=weight)


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="people: 1 entries for 2 values"):
        correct_mean(RatedUnits([1, 2], [1], [0.5, 0.5], [1, 2]))


@pytest.mark.parametrize(
    ("tasks", "rated"), [(12, 12), (40, 20), (40, 40)], ids=["few", "one each", "three each"]
)
def test_intervals_hold_the_truth_and_are_no_wider_than_those_of_people(
    tasks: int, rated: int
) -> None:
    """The full simulation is in docs/statistics.md; this one notices a wrong variance."""
    held = held_people = sets = 0
    for number in range(200):
        rng = np.random.default_rng((7, tasks, rated, number))
        trials = 3 if rated == tasks == 40 else 1
        task = np.repeat(np.arange(tasks), trials)
        quality = 3 + rng.normal(0, 0.5, tasks)[task] + rng.normal(0, 0.4, task.size)
        judges = quality + 0.8 + rng.normal(0, 0.3, task.size)
        people = np.full(task.size, nan)
        drawn = rng.choice(task.size, rated, replace=False)
        people[drawn] = quality[drawn] + rng.normal(0, 0.3, rated)
        chances = np.full(task.size, rated / task.size)
        one = correct_mean(RatedUnits(judges, people, chances, task.tolist()))
        assert one.estimate.interval is not None
        assert one.people.interval is not None
        assert one.estimate.interval.half_width <= 1.02 * one.people.interval.half_width
        held += one.estimate.interval.holds(3.0)
        held_people += one.people.interval.holds(3.0)
        sets += 1
    assert 0.9 <= held / sets <= 0.99
    assert 0.9 <= held_people / sets <= 0.99
