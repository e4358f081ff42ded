"""Intraclass correlations: the textbook, and what cannot be computed."""

from typing import get_args

import numpy as np
import pytest

from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.icc import (
    FEW_ANSWERED,
    FEW_ITEMS,
    INCOMPLETE,
    NO_DIFFERENCE,
    NO_ERROR,
    NO_VARIATION,
    ONE_RATER,
    TOO_LOW,
    Form,
    intraclass,
    intraclass_one_way,
)

N = None
# Shrout & Fleiss 1979, Table 2: six targets, four judges; Table 4 prints the six values.
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
PRINTED = {"ICC1": 0.17, "ICC2": 0.29, "ICC3": 0.71, "ICC1k": 0.44, "ICC2k": 0.62, "ICC3k": 0.91}


@pytest.mark.parametrize("form", get_args(Form))
def test_the_textbook(form: Form) -> None:
    result = intraclass(TARGETS, form=form)
    assert result.value == pytest.approx(PRINTED[form], abs=5e-3)
    assert result.n == 6 and form in result.method and "k = 4" in result.method
    assert result.interval is not None
    assert result.interval.low < result.value < result.interval.high  # type: ignore[operator]


def test_only_complete_items_count_and_it_is_said() -> None:
    result = intraclass([*TARGETS, [1, N, 2, 3], [N, N, N, 9]], form="ICC2")
    assert result.value == pytest.approx(intraclass(TARGETS, form="ICC2").value)
    assert result.n == 6 and result.excluded == {INCOMPLETE: 2}
    assert result.warnings == ("complete items only (6 of 8)",)


def test_severity_is_disagreement_for_absolute_agreement_only() -> None:
    scores = np.array([[1, 2], [2, 3], [3, 4], [4, 5]])
    assert intraclass(scores, form="ICC3").value == pytest.approx(1)
    assert intraclass(scores, form="ICC3").no_interval == NO_ERROR
    # B = 10/3, J = 2, E = 0: ICC2 = (10/3)/(10/3 + 2·2/4).
    assert intraclass(scores, form="ICC2").value == pytest.approx((10 / 3) / (10 / 3 + 1))


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([[3], [4]], ONE_RATER),
        ([[3, 4]], FEW_ITEMS.format(k=2)),
        ([[3, N], [N, 4]], FEW_ITEMS.format(k=2)),
        ([[3, 3], [3, 3]], NO_VARIATION),
        ([], FEW_ITEMS.format(k=0)),
    ],
)
def test_undefined(scores: list[list[int | None]], reason: str) -> None:
    for form in get_args(Form):
        result = intraclass(scores, form=form)
        assert result.value is None and result.undefined == reason


def test_averages_of_raters_who_disagree() -> None:
    # B = 0: all items have the mean 3.
    assert intraclass([[1, 5], [5, 1], [3, 3]], form="ICC1k").undefined == NO_DIFFERENCE
    opposed = [[1, 5, 3], [5, 1, 2], [2, 4, 5], [4, 1, 1]]
    single, average = (intraclass(opposed, form=form) for form in ("ICC2", "ICC2k"))
    assert single.interval is not None and single.interval.low < -0.5
    assert average.value is not None and average.no_interval == TOO_LOW


def test_one_way_is_icc1_where_all_items_have_equally_many() -> None:
    answers = answers_of_scores(TARGETS, scale=(1, 10))
    for average, form in ((False, "ICC1"), (True, "ICC1k")):
        free, block = intraclass_one_way(answers, average=average), intraclass(TARGETS, form=form)
        assert free.value == pytest.approx(block.value)
        assert free.interval is not None and block.interval is not None
        assert free.interval.low == pytest.approx(block.interval.low)
        assert free.interval.high == pytest.approx(block.interval.high)


def test_one_way_of_unequal_numbers_by_hand() -> None:
    # Items (1, 1, 2) and (4, 5): N = 5, Σx = 13, Σx² = 47, Σ (Σx)²/m = 16/3 + 81/2.
    # W = (47 − 275/6)/3 = 7/18; B = 275/6 − 169/5 = 361/30; m₀ = 5 − 13/5 = 2.4.
    between, within, m = 361 / 30, 7 / 18, 2.4
    answers = answers_of_scores([[1, 1, 2], [4, 5, N]], scale=(1, 5))
    expected = (between - within) / (between + (m - 1) * within)
    assert intraclass_one_way(answers).value == pytest.approx(expected)
    assert intraclass_one_way(answers, average=True).value == pytest.approx(1 - within / between)


def test_one_way_undefined() -> None:
    for scores in ([[3, 4]], [[3, N], [N, 4]], []):
        result = intraclass_one_way(answers_of_scores(scores, scale=(1, 5)))
        assert result.undefined == FEW_ANSWERED
    equal = intraclass_one_way(answers_of_scores([[3, 3], [3, 3]], scale=(1, 5)))
    assert equal.undefined == NO_VARIATION


def test_tasks_that_repeat_are_drawn() -> None:
    scores = np.array(TARGETS * 8) + np.random.default_rng(1).integers(-1, 2, (48, 4))
    bound = intraclass(scores, form="ICC2", clusters=[n // 2 for n in range(48)], seed=1)
    assert bound.value == pytest.approx(intraclass(scores, form="ICC2").value)
    assert bound.interval is not None and bound.interval.details["clusters"] == 24
    answers = answers_of_scores(np.clip(scores, 1, 10), scale=(1, 10))
    drawn = intraclass_one_way(answers, clusters=[n // 2 for n in range(48)], seed=1)
    assert drawn.value == intraclass_one_way(answers).value
    assert drawn.interval is not None and drawn.interval.details["clusters"] == 24
