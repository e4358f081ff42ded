"""Intraclass correlations by REML: mean squares where nothing is missing, and where they end."""

import numpy as np
import pytest

from analysis.stats.rater_agreement.icc import FEW_ANSWERED, NO_VARIATION, ONE_RATER, intraclass
from analysis.stats.rater_agreement.icc_reml import (
    AT_END,
    FEW_OVERLAPS,
    NO_RATER_INTERVAL,
    NO_RESIDUAL,
    intraclass_reml,
)

# Shrout & Fleiss 1979, Table 2: six targets, four judges; their Table 4 has 0.17, 0.29 and 0.71.
SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
)
NONE = np.nan


def made(items: int, raters: int, seed: int, *, missing: float) -> np.ndarray:
    """Items of variance 1, raters 0.25, error 0.5: ICC2 is 1/1.75, ICC3 1/1.5."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((items, 1)) + rng.standard_normal((1, raters)) / 2
    scores = scores + np.sqrt(0.5) * rng.standard_normal((items, raters))
    scores[rng.random(scores.shape) < missing] = NONE
    return np.asarray(scores)


def test_complete_data_give_the_mean_squares() -> None:
    # Balanced data with positive variances: REML equals the analysis of variance.
    found = intraclass_reml(SHROUT_FLEISS)
    for form, published in (("ICC1", 0.17), ("ICC2", 0.29), ("ICC3", 0.71)):
        value = found[form].value  # type: ignore[index]
        assert value == pytest.approx(published, abs=0.005)
        assert value == pytest.approx(intraclass(SHROUT_FLEISS, form=form).value, abs=1e-6)  # type: ignore[arg-type]


def test_missing_cells_by_hand() -> None:
    # Two raters; three items scored by both, (1, 1), (2, 3), (4, 4), and a fourth by one alone
    # with a score at their mean: with one-way REML of the first three, B and W are the mean squares
    # and ICC1 is (B − W)/(B + W). Means 1, 2.5, 4 around 2.5: B = 2·(1.5² + 0 + 1.5²)/2 = 4.5;
    # W = 0.5/3. An item with one answer changes it, as its variance has a part between items.
    table = [[1, 1], [2, 3], [4, 4]]
    value = intraclass_reml(table)["ICC1"].value
    assert value == pytest.approx((4.5 - 1 / 6) / (4.5 + 1 / 6), abs=1e-6)
    more = intraclass_reml([*table, [2.5, NONE]])["ICC1"]
    assert more.n == 4 and more.value is not None and more.value < (value or 0)
    # An item without any answer changes nothing, and is counted.
    same = intraclass_reml([*table, [NONE, NONE]])["ICC1"]
    assert same.value == pytest.approx(value, abs=1e-6) and sum(same.excluded.values()) == 1


def test_the_truth_is_found_with_a_third_missing() -> None:
    # 40 raters, 400 items: the standard error of either value is under 0.03.
    found = intraclass_reml(made(400, 40, 2, missing=0.35))
    assert found["ICC2"].value == pytest.approx(1 / 1.75, abs=0.08)
    assert found["ICC3"].value == pytest.approx(1 / 1.5, abs=0.06)
    assert found["ICC1"].value == pytest.approx(1 / 1.75, abs=0.08)
    interval = found["ICC3"].interval
    assert interval is not None and interval.low < 1 / 1.5 < interval.high
    assert found["ICC2"].no_interval == NO_RATER_INTERVAL


def test_the_order_of_raters_and_the_unit_of_scores_do_not_matter() -> None:
    table = made(30, 4, 2, missing=0.3)
    one, other = intraclass_reml(table), intraclass_reml(1000 + 7 * table[:, ::-1])
    for form, estimate in one.items():
        assert other[form].value == pytest.approx(estimate.value, abs=1e-5)


def test_clusters_are_left_out_together() -> None:
    table = np.repeat(made(30, 4, 3, missing=0.2), 3, axis=0)
    tasks = np.repeat(np.arange(30), 3).tolist()
    free, bound = intraclass_reml(table)["ICC3"], intraclass_reml(table, clusters=tasks)["ICC3"]
    assert free.value == pytest.approx(bound.value)
    assert free.interval is not None and bound.interval is not None
    # Three copies of each item are no new evidence.
    assert bound.interval.half_width > 1.3 * free.interval.half_width
    assert bound.interval.details["clusters"] == 30 and bound.interval.unit == "task"
    assert any("only 30 tasks" in warning for warning in bound.warnings)


def test_undefined() -> None:
    for table, why in (
        ([[1], [2]], ONE_RATER),
        ([[1, NONE], [NONE, 2], [3, NONE]], FEW_ANSWERED),
        ([[4, 4], [4, 4], [4, NONE]], NO_VARIATION),
        ([[NONE, NONE]], FEW_ANSWERED),
    ):
        assert all(e.undefined == why for e in intraclass_reml(table).values())
    # Two raters who differ by 1 throughout: nothing is left once raters are known.
    constant = intraclass_reml([[1, 2], [3, 4], [2, 3], [5, 6]])
    assert constant["ICC1"].value is not None and constant["ICC3"].undefined == NO_RESIDUAL
    # One item scored by two of them: one difference cannot tell raters from error.
    few = intraclass_reml([[1, 2], [3, NONE], [NONE, 5]])
    assert few["ICC2"].undefined == few["ICC3"].undefined == FEW_OVERLAPS


def test_raters_who_agree_less_than_by_chance_give_nothing_below_0() -> None:
    table = [[1, 5], [5, 1], [2, 4], [4, 2], [1, 4], [5, 2]]
    found = intraclass_reml(table)["ICC1"]
    assert intraclass(table, form="ICC1").value < 0  # type: ignore[operator]
    assert found.value == pytest.approx(0, abs=1e-4) and found.no_interval == AT_END
