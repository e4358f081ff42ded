import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from analysis.stats.means import (
    MeanTable,
    mean_by_cluster,
    mean_from_sums,
    mean_t,
    mean_table,
)
from analysis.stats.results import ALL_EQUAL, ONE_VALUE, Estimate

scores = st.lists(st.integers(1, 5), min_size=2, max_size=60)


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval.low, estimate.interval.high


def test_three_values_by_hand() -> None:
    # Mean 2, s = 1, standard error 1/√3; t(2; 0.975) = 4.302653 → ± 2.484138.
    result = mean_t([1, 2, 3])
    assert result.value == 2
    assert ends(result) == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-6)
    assert result.interval is not None and result.interval.details == {"df": 2}


@given(scores, st.sampled_from([0.8, 0.95]))
def test_interval_of_scipy(values: list[int], level: float) -> None:
    result = mean_t(values, level=level)
    if len(set(values)) == 1:
        assert result.value == values[0] and result.interval is None
        assert result.no_interval == ALL_EQUAL
        return
    expected = scipy_stats.t.interval(
        level, len(values) - 1, loc=np.mean(values), scale=scipy_stats.sem(values)
    )
    assert ends(result) == pytest.approx(expected, abs=1e-9)
    sums = mean_from_sums(
        len(values), sum(values), sum(value * value for value in values), level=level
    )
    assert sums.value == pytest.approx(result.value)
    assert ends(sums) == pytest.approx(ends(result), abs=1e-9)


def test_missing_values_are_counted() -> None:
    result = mean_t([1, None, 3, float("nan")], excluded={"skipped": 1})
    assert (result.value, result.n) == (2, 2)
    assert result.excluded == {"skipped": 1, "missing value": 2}


def test_nothing_one_and_equal() -> None:
    for nothing in (mean_t([]), mean_t([None, None]), mean_from_sums(0, 0, 0)):
        assert nothing.value is None and nothing.undefined
    for one in (mean_t([4]), mean_from_sums(1, 4, 16)):
        assert one.value == 4 and one.interval is None and one.no_interval == ONE_VALUE
    for equal in (mean_t([0.1] * 10), mean_from_sums(10, 40, 160)):
        assert equal.interval is None and equal.no_interval == ALL_EQUAL
    assert mean_t([0.1] * 10).value == 0.1


def test_infinity_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        mean_t([1, float("inf")])


def test_two_clusters_by_hand() -> None:
    # Resampled means are 0, 1/2, 1 with probabilities 1/4, 1/2, 1/4: the 2.5 % and 97.5 %
    # quantiles are 0 and 1.
    result = mean_by_cluster([0, 1], ["a", "b"], seed=5)
    assert result.value == 0.5 and ends(result) == (0, 1)
    assert result.interval is not None
    assert result.interval.details == {"seed": 5, "resamples": 2000, "clusters": 2}
    assert result.interval.method == "task bootstrap (percentile)"
    assert "only 2 tasks" in result.warnings[0]


def test_the_seed_decides(rng: np.random.Generator) -> None:
    values, tasks = rng.normal(size=90), list(np.repeat(range(30), 3))
    first = mean_by_cluster(values, tasks, seed=1)
    assert first == mean_by_cluster(values, tasks, seed=1)
    assert ends(first) != ends(mean_by_cluster(values, tasks, seed=2))
    assert first.warnings == ("only 30 tasks: the interval may be too narrow",)


def test_copies_in_a_cluster_do_not_narrow_the_interval(rng: np.random.Generator) -> None:
    values = rng.integers(1, 6, size=40)
    once = mean_by_cluster(values, range(40), seed=3)
    tenfold = mean_by_cluster(np.repeat(values, 10), list(np.repeat(range(40), 10)), seed=3)
    assert ends(tenfold) == pytest.approx(ends(once))
    assert tenfold.n == 400


def test_single_values_as_clusters_agree_with_t(rng: np.random.Generator) -> None:
    values = rng.normal(size=1000)
    low, high = ends(mean_by_cluster(values, range(1000), seed=4, resamples=4000))
    t_low, t_high = ends(mean_t(values))
    # Quantiles of 4,000 resamples: standard error about 4 % of the half width.
    assert high - low == pytest.approx(t_high - t_low, rel=0.1)


def test_clusters_without_an_interval() -> None:
    assert "one task" in mean_by_cluster([1, 2], ["a", "a"], seed=0).no_interval
    assert mean_by_cluster([1], ["a"], seed=0).no_interval == ONE_VALUE
    assert mean_by_cluster([3, 3, 3], ["a", "b", "b"], seed=0).no_interval == ALL_EQUAL
    assert "same mean" in mean_by_cluster([1, 5, 5, 1], ["a", "a", "b", "b"], seed=0).no_interval
    assert mean_by_cluster([], [], seed=0).value is None
    left = mean_by_cluster([1, None, 2], ["a", "b", "c"], seed=0)
    assert (left.n, left.excluded) == (2, {"missing value": 1})
    assert left.interval is not None and left.interval.details["clusters"] == 2
    with pytest.raises(ValueError, match="clusters: 1 entries for 2 values"):
        mean_by_cluster([1, 2], ["a"], seed=0)
    with pytest.raises(ValueError, match="100 resamples"):
        mean_by_cluster([1, 2], ["a", "b"], seed=0, resamples=1)


def test_table_of_means() -> None:
    table = mean_table(
        ["m", "m", "m", "n", "n"],
        ["safety", "safety", "safety", "autonomy", "safety"],
        [4, 5, None, 3, 2],
    )
    assert isinstance(table, MeanTable)
    assert (table.rows, table.columns) == (("m", "n"), ("safety", "autonomy"))
    assert table.cells["m", "safety"].value == 4.5
    assert table.cells["m", "safety"].excluded == {"missing value": 1}
    # Every pair is there; the one without scores says so.
    assert table.cells["m", "autonomy"].value is None and table.cells["m", "autonomy"].undefined
    assert table.cells["n", "safety"].no_interval == ONE_VALUE
    assert mean_table([], [], []).cells == {}


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 5)), max_size=40))
def test_table_cells_are_plain_means(rows: list[tuple[str, int]]) -> None:
    table = mean_table([name for name, _ in rows], ["d"] * len(rows), [v for _, v in rows])
    for name in table.rows:
        alone = mean_t([value for other, value in rows if other == name])
        cell = table.cells[name, "d"]
        assert cell.n == alone.n and cell.value == pytest.approx(alone.value)
        assert (cell.interval is None) == (alone.interval is None)


def test_many_clusters_are_drawn_by_their_kinds() -> None:
    # 0 and 1 in clusters of one: the interval of a share, p ± 1.96·√(p(1 − p)/n).
    values = np.arange(20_000) % 4 == 0
    result = mean_by_cluster(values, list(range(20_000)), seed=1)
    assert result.value == 0.25 and result.interval is not None
    assert result.interval.half_width == pytest.approx(1.96 * 0.0030619, rel=0.08)
    assert result.interval.details == {"seed": 1, "resamples": 2000, "clusters": 20_000}
