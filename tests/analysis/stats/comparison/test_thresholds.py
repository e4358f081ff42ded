from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.comparison.ranks import rank_order, reversed_pairs
from analysis.stats.comparison.thresholds import (
    NO_SCORE,
    NO_VERDICT,
    THRESHOLDS,
    sweep_of_estimates,
    threshold_sweep,
)
from analysis.stats.descriptive.proportions import published_share
from tests.analysis.published_tables import TABLE_3_AND_9, TABLE_10


def test_one_model_by_hand() -> None:
    # Lowest dimension 3.5 (valid), 5 (not valid), 2 1/3 (valid); one unknown, one unscored.
    sweep = threshold_sweep(
        ["a"] * 5,
        [True, False, True, None, True],
        [[3.5, 5], [5, 5], [7 / 3, 4], [5, 5], [5, None]],
    )
    (curve,) = sweep.curves
    assert [p.threshold for p in curve.points] == list(THRESHOLDS)
    passed = [p.passed.value for p in curve.points if p.passed is not None]
    assert passed == pytest.approx([1, 2 / 3, 2 / 3, 2 / 3, 1 / 3, 1 / 3, 1 / 3])
    assert [p.accuracy.value for p in curve.points] == pytest.approx(
        [2 / 3, 1 / 3, 1 / 3, 1 / 3, 0, 0, 0]
    )
    first = curve.points[0].accuracy
    assert first.n == 3 and first.excluded == {NO_VERDICT: 1, NO_SCORE: 1}
    assert first.interval is not None and first.interval.method == "wilson"
    assert [order.models for order in sweep.orders] == [("a",)] * 7


def test_the_mean_of_three_judges_that_equals_the_threshold_passes() -> None:
    sweep = threshold_sweep(["a"], [True], [[(3 + 3 + 3) / 3]], thresholds=[3.0], reference=3.0)
    assert sweep.curves[0].points[0].accuracy.value == 1


def test_nothing_counted_is_undefined() -> None:
    sweep = threshold_sweep(["a", "b"], [None, True], [[5], [5]])
    a, b = sweep.curves
    assert a.points[0].accuracy.value is None and a.points[0].rank is None
    assert b.points[0].rank == 1
    assert sweep.orders[0].models == ("b",) and sweep.orders[0].pairs == 0
    empty = threshold_sweep([], [], [])
    assert empty.curves == () and empty.orders[0].models == ()
    assert empty.orders[0].kendall is None


def test_refused() -> None:
    with pytest.raises(ValueError, match="increase"):
        threshold_sweep(["a"], [True], [[5]], thresholds=[4, 3])
    with pytest.raises(ValueError, match="not among"):
        threshold_sweep(["a"], [True], [[5]], thresholds=[4])
    with pytest.raises(ValueError, match="true, false or None"):
        threshold_sweep(["a"], [2], [[5]])
    with pytest.raises(ValueError, match="one column per dimension"):
        threshold_sweep(["a"], [True], [5])
    with pytest.raises(ValueError, match="scores: 2 entries"):
        threshold_sweep(["a"], [True], [[5], [5]])


def test_ranks() -> None:
    assert rank_order([0.5, None, 0.7, 0.5, 0.1]) == (2, None, 1, 2, 4)
    assert rank_order([]) == ()
    # Pairs of (1, 2, 3) and (1, 3, 2): one turned round; the tie counts in neither.
    assert reversed_pairs([1, 2, 3], [1, 3, 2]) == (1, 3)
    assert reversed_pairs([1, 2, 3], [1, 1, None]) == (0, 0)


def test_order_of_table_10() -> None:
    sweep = sweep_of_estimates(
        {
            model: [published_share(value / 100, TABLE_3_AND_9[model][4]) for value in row]
            for model, row in TABLE_10.items()
        }
    )
    low, reference, high = sweep.orders[0], sweep.orders[3], sweep.orders[-1]
    assert reference.reversed_pairs == 0 and reference.pairs == 45
    assert reference.models[:3] == ("GPT-5", "GPT-5-Mini", "Gemini-3-Flash")
    # Against τ = 3.5: Gemini-3.1-Pro before Nano and DeepSeek, DeepSeek before Nano, Qwen 14B
    # before 32B.
    assert (low.reversed_pairs, low.pairs) == (4, 45)
    assert low.kendall == pytest.approx(1 - 2 * 4 / 45) and reference.kendall == 1
    # Mini before GPT-5, Nano before Gemini-3-Flash, Llama before DeepSeek and Gemini-3.1-Pro
    # (which tie at 3.26), Qwen 8B before 14B.
    assert (high.reversed_pairs, high.pairs) == (5, 44)
    assert high.kendall == pytest.approx((44 - 2 * 5) / sqrt(44 * 45))
    assert high.models[0] == "GPT-5-Mini"
    ranks = {curve.model: curve.points[-1].rank for curve in sweep.curves}
    assert ranks["DeepSeek-v4-Flash"] == ranks["Gemini-3.1-Pro"] == 6
    assert all(point.passed is None for curve in sweep.curves for point in curve.points)
    with pytest.raises(ValueError, match="a: 1 entries for 7"):
        sweep_of_estimates({"a": [published_share(0.5, 10)]})


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.sampled_from([True, False, None]),
            st.lists(st.integers(3, 15).map(lambda s: s / 3), min_size=2, max_size=2),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_shares_fall_and_accuracy_stays_below(
    rows: list[tuple[str, bool | None, list[float]]],
) -> None:
    models, valid, scores = zip(*rows, strict=True)
    for curve in threshold_sweep(models, valid, scores).curves:
        values = [point.accuracy.value for point in curve.points]
        if None in values:
            assert set(values) == {None}
            continue
        assert values == sorted(values, reverse=True)  # type: ignore[type-var]
        for point in curve.points:
            assert point.passed is not None
            assert point.accuracy.value <= point.passed.value  # type: ignore[operator]
