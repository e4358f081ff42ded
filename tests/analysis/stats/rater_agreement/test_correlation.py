from math import atanh, sqrt, tanh

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from analysis.stats.rater_agreement.correlation import (
    CONSTANT,
    MANY_CELLS,
    ON_A_LINE,
    SAME_ORDER,
    THREE_PAIRS,
    TOO_FEW,
    _concordance,
    _rank_correlation,
    kendall,
    pearson,
    spearman,
)
from tests.analysis.published_tables import TABLE_3_AND_9


@pytest.mark.parametrize(("column", "expected"), [(2, 0.8975), (3, 0.9188)])
def test_table_3(column: int, expected: float) -> None:
    # The paper prints 0.898 and 0.919; recomputed from the rounded rows of Table 3.
    rows = list(TABLE_3_AND_9.values())
    result = pearson([row[0] for row in rows], [row[column] for row in rows])
    assert result.value == pytest.approx(expected, abs=5e-5)
    assert result.n == 10 and "only 10 models" in result.warnings[0]
    # Fisher: tanh(atanh r ± 1.959964/√7)
    assert result.interval is not None and result.value is not None
    assert result.interval.low == pytest.approx(tanh(atanh(result.value) - 1.959964 / sqrt(7)))
    assert result.interval.high == pytest.approx(tanh(atanh(result.value) + 1.959964 / sqrt(7)))


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=4, max_size=30))
def test_values_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    result = pearson(x, y)
    expected = scipy_stats.pearsonr(x, y)
    assert result.value == pytest.approx(expected.statistic, abs=1e-9)
    if result.interval is None:
        assert abs(expected.statistic) == pytest.approx(1) and result.no_interval == ON_A_LINE
    else:
        ends = expected.confidence_interval()
        assert (result.interval.low, result.interval.high) == pytest.approx(
            (ends.low, ends.high), abs=1e-6
        )
    mirrored = pearson(y, [-value for value in x])
    assert mirrored.value == pytest.approx(-expected.statistic, abs=1e-9)


def test_undefined() -> None:
    for x, y in (([], []), ([1, 2], [2, 1]), ([1, None, 3], [1, 2, None])):
        result = pearson(x, y)
        assert result.value is None and result.undefined == TOO_FEW
    for a, b in (([1.0, 1, 1], [1.0, 2, 3]), ([1.0, 2, 3], [0.1 + 0.2, 0.3, 0.3])):
        result = pearson(a, b)
        assert result.value is None and result.undefined == CONSTANT


def test_without_an_interval() -> None:
    three = pearson([1, 2, 3], [1, 3, 2])
    assert three.value == pytest.approx(0.5) and three.no_interval == THREE_PAIRS
    line = pearson([1, 2, 3, 4], [2, 4, 6, 8])
    assert line.value == pytest.approx(1) and line.no_interval == ON_A_LINE


def test_incomplete_pairs_are_counted() -> None:
    result = pearson([1, 2, 3, 4, None], [1, 3, 2, 5, 9])
    assert result.n == 4 and result.excluded == {"incomplete pair": 1}
    with pytest.raises(ValueError, match="y: 1 entries for 2 values"):
        pearson([1, 2], [1])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=5, max_size=20))
def test_ranks_of_scipy_and_of_tables(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    for function, expected in (
        (spearman, scipy_stats.spearmanr(x, y).statistic),
        (kendall, scipy_stats.kendalltau(x, y).statistic),
    ):
        result = function(x, y)
        assert result.value == pytest.approx(expected, abs=1e-12)
        if result.interval is None:
            assert result.no_interval == SAME_ORDER
        # Only the order counts: any rising change of one side leaves it.
        assert function([v**3 for v in x], y).value == pytest.approx(expected, abs=1e-12)
    # What resamples are computed from: tables of counts.
    x_values, rows = np.unique(x, return_inverse=True)
    y_values, columns = np.unique(y, return_inverse=True)
    table = np.zeros((1, x_values.size, y_values.size))
    np.add.at(table[0], (rows, columns), 1)
    assert _rank_correlation(table)[0] == pytest.approx(spearman(x, y).value, abs=1e-12)
    assert _concordance(table)[0] == pytest.approx(kendall(x, y).value, abs=1e-12)


@pytest.mark.parametrize("function", [pearson, spearman, kendall])
def test_tasks_that_repeat_are_drawn(function) -> None:
    rng = np.random.default_rng(1)
    truth = np.repeat(rng.integers(1, 6, 30), 5)
    x, y = (np.clip(truth + rng.integers(-1, 2, 150), 1, 5) for _ in range(2))
    tasks = np.repeat(np.arange(30), 5).tolist()
    free, bound = function(x, y), function(x, y, clusters=tasks, seed=1)
    assert free.value == bound.value
    assert free.interval is not None and bound.interval is not None
    assert bound.interval.method == "task bootstrap (percentile)"
    assert bound.interval.half_width > 0.7 * free.interval.half_width
    assert function(x, y, clusters=list(range(150)), seed=1) == free


def test_too_many_values_for_a_table_are_told() -> None:
    x, tasks = np.arange(200.0), np.repeat(np.arange(50), 4).tolist()
    result = spearman(x, np.roll(x, 7), clusters=tasks, seed=1)
    assert result.value is not None and result.no_interval == MANY_CELLS.format(most=4_000)


def test_many_values_go_another_way() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    y = np.round(x + rng.normal(size=100), 1)
    assert kendall(x, y).value == pytest.approx(scipy_stats.kendalltau(x, y).statistic, abs=1e-12)
    assert spearman(x, y).value == pytest.approx(scipy_stats.spearmanr(x, y).statistic, abs=1e-12)


def test_rank_correlations_of_few_pairs() -> None:
    for function in (spearman, kendall):
        assert function([1, 2], [1, 2]).undefined == TOO_FEW
        assert function([3, 3, 3], [1, 2, 3]).undefined == CONSTANT
    assert spearman([1, 2, 3], [1, 3, 2]).no_interval == THREE_PAIRS
    assert "needs five" in kendall([1, 2, 3, 4], [1, 3, 2, 4]).no_interval
