import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from analysis.stats.descriptive.means import (
    MeanTable,
    cluster_quotient,
    mean_by_cluster,
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


def test_missing_values_are_counted() -> None:
    result = mean_t([1, None, 3, float("nan")], excluded={"skipped": 1})
    assert (result.value, result.n) == (2, 2)
    assert result.excluded == {"skipped": 1, "missing value": 2}


def test_nothing_one_and_equal() -> None:
    for nothing in (mean_t([]), mean_t([None, None])):
        assert nothing.value is None and nothing.undefined
    for one in (mean_t([4]),):
        assert one.value == 4 and one.interval is None and one.no_interval == ONE_VALUE
    for equal in (mean_t([0.1] * 10),):
        assert equal.interval is None and equal.no_interval == ALL_EQUAL
    assert mean_t([0.1] * 10).value == 0.1


def test_infinity_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        mean_t([1, float("inf")])


def test_two_clusters_by_hand() -> None:
    # Residuals ±1/2, h = 1/2: CR2 variance 1/4 with 1 df, t = 12.706: f = 161.4, and Wilson's
    # (1/2 + 80.72 ± √(161.4/4 + 80.72²))/162.4.
    result = mean_by_cluster([0, 1], ["a", "b"])
    assert result.value == 0.5 and ends(result) == pytest.approx((0.001541, 0.998459), abs=1e-5)
    assert result.interval is not None
    assert result.interval.details == {"clusters": 2}
    assert result.interval.method == "Wilson by task (CR2)"
    assert not result.warnings


def bell_mccaffrey(values: list[float], clusters: list[str]) -> tuple[float, float]:
    """CR2 variance and degrees of freedom of a mean, by matrices as in the definition."""
    n = len(values)
    hat = np.full((n, n), 1 / n)
    rest = np.eye(n) - hat
    residuals = rest @ np.array(values)
    variance, columns = 0.0, []
    for name in dict.fromkeys(clusters):
        rows = np.array([one == name for one in clusters])
        own = rest[np.ix_(rows, rows)]
        roots, vectors = np.linalg.eigh(own)
        half = vectors @ np.diag(roots**-0.5) @ vectors.T
        weights = half @ np.ones(rows.sum()) / n
        variance += float(weights @ residuals[rows]) ** 2
        columns.append(rest[:, rows] @ weights)
    inner = np.array(columns) @ np.array(columns).T
    return variance, float(np.trace(inner) ** 2 / np.trace(inner @ inner))


def test_the_error_is_bell_and_mccaffreys() -> None:
    values, clusters = [1.0, 4, 2, 5, 3, 3, 1, 2], list("aaabbcdd")
    sums, sizes = [7.0, 8, 3, 3], [3, 2, 1, 2]
    value, error, df = cluster_quotient(sums, sizes)
    assert value == pytest.approx(21 / 8)
    assert (error**2, df) == pytest.approx(bell_mccaffrey(values, clusters))
    # Clusters of one size: s²/K of their means, K − 1.
    _, error, df = cluster_quotient([2, 6, 4], [2, 2, 2])
    assert (error**2, df) == pytest.approx((1 / 3, 2))


def test_no_interval_leaves_the_scale() -> None:
    # 2.17 ± 12.706·0.5 by t with 1 df would be −4.19 to 8.52.
    assert ends(mean_t([5 / 3, 8 / 3])) == pytest.approx((-4.1864, 8.5198), abs=1e-3)
    assert ends(mean_t([5 / 3, 8 / 3], scale=(1, 5))) == (1, 5)
    assert ends(mean_by_cluster([5 / 3, 8 / 3], "ab", scale=(1, 5))) == (1, 5)
    assert ends(mean_by_cluster([1, 9], "ab", scale=(0, None)))[0] == 0


def test_copies_in_a_cluster_do_not_narrow_the_interval(rng: np.random.Generator) -> None:
    values = rng.integers(1, 6, size=40)
    once = mean_by_cluster(values, range(40))
    tenfold = mean_by_cluster(np.repeat(values, 10), list(np.repeat(range(40), 10)))
    assert ends(tenfold) == pytest.approx(ends(once))
    assert tenfold.n == 400


def test_single_values_as_clusters_agree_with_t(rng: np.random.Generator) -> None:
    values = rng.normal(size=1000)
    assert ends(mean_by_cluster(values, range(1000))) == pytest.approx(ends(mean_t(values)))


def test_clusters_without_an_interval() -> None:
    assert "one task" in mean_by_cluster([1, 2], ["a", "a"]).no_interval
    assert mean_by_cluster([1], ["a"]).no_interval == ONE_VALUE
    assert mean_by_cluster([3, 3, 3], ["a", "b", "b"]).no_interval == ALL_EQUAL
    assert "same mean" in mean_by_cluster([1, 5, 5, 1], ["a", "a", "b", "b"]).no_interval
    assert mean_by_cluster([], []).value is None
    left = mean_by_cluster([1, None, 2], ["a", "b", "c"])
    assert (left.n, left.excluded) == (2, {"missing value": 1})
    assert left.interval is not None and left.interval.details["clusters"] == 2
    with pytest.raises(ValueError, match="clusters: 1 entries for 2 values"):
        mean_by_cluster([1, 2], ["a"])


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


def test_many_clusters() -> None:
    # 0 and 1 in clusters of one: the interval of a share, p ± 1.96·√(p(1 − p)/n).
    values = np.arange(20_000) % 4 == 0
    result = mean_by_cluster(values, list(range(20_000)))
    assert result.value == 0.25 and result.interval is not None
    assert result.interval.half_width == pytest.approx(1.96 * 0.0030619, rel=0.001)
    assert result.interval.details == {"clusters": 20_000}
