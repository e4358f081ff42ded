import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from analysis.stats.descriptive.proportions import (
    NO_OBSERVATIONS,
    WALD_COLLAPSED,
    WALD_OUTSIDE,
    published_share,
    share,
    share_of,
)
from analysis.stats.results import ONE_VALUE
from tests.analysis.published_tables import TABLE_3_AND_9
from tests.shared_data import reference_records

counts = st.integers(2, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize("model", TABLE_3_AND_9)
def test_wald_of_table_9(model: str) -> None:
    accuracy, plus_minus, _, _, n = TABLE_3_AND_9[model]
    successes = round(accuracy / 100 * n)
    result = share(successes, n, method="wald")
    assert result.value is not None and result.interval is not None
    assert round(100 * result.value, 2) == accuracy
    assert round(100 * result.interval.half_width, 2) == plus_minus
    printed = published_share(accuracy / 100, n)
    assert printed.interval is not None
    assert round(100 * printed.interval.half_width, 2) == plus_minus


# The four proportions on which Newcombe 1998 (Stat. Med. 17:857) compares methods, and his Wilson
# limits; the Wald limits are p ± 1.959964·sqrt(p(1-p)/n), unclipped.
@pytest.mark.parametrize(
    ("successes", "n", "wald", "wilson"),
    [
        (81, 263, (0.2522, 0.3638), (0.2553, 0.3662)),
        (15, 148, (0.0527, 0.1500), (0.0624, 0.1605)),
        (0, 20, (0.0, 0.0), (0.0, 0.1611)),
        (1, 29, (-0.0319, 0.1009), (0.0061, 0.1718)),
    ],
)
def test_newcombe(
    successes: int, n: int, wald: tuple[float, float], wilson: tuple[float, float]
) -> None:
    for method, (low, high) in (("wald", wald), ("wilson", wilson)):
        interval = share(successes, n, method=method).interval  # type: ignore[arg-type]
        assert interval is not None and interval.method == method
        assert interval.low == pytest.approx(low, abs=5e-5)
        assert interval.high == pytest.approx(high, abs=5e-5)


def test_values_of_r() -> None:
    checked = 0
    for statistic in (
        "proportion",
        "exact_agreement",
        "within_1",
        "precision",
        "recall",
        "fnr",
        "fpr",
    ):
        for record in reference_records(statistic=statistic):
            params = record["params"]
            result = share(params["x"], params["n"], method=params["method"])
            assert result.interval is not None
            assert result.value == pytest.approx(record["value"], abs=1e-6)
            assert [result.interval.low, result.interval.high] == pytest.approx(
                record["ci"], abs=1e-6
            )
            checked += 1
    assert checked == 66


@given(counts, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_of_scipy(count: tuple[int, int], level: float) -> None:
    got = share(*count, level=level).interval
    expected = binomtest(*count).proportion_ci(level, method="wilson")
    assert got is not None
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(counts)
def test_wilson_stays_inside_and_mirrors(count: tuple[int, int]) -> None:
    successes, n = count
    got, other = share(successes, n), share(n - successes, n)
    assert got.interval is not None and other.interval is not None and got.value is not None
    assert 0 <= got.interval.low <= got.value <= got.interval.high <= 1
    assert got.interval.low < got.interval.high
    assert got.interval.low == pytest.approx(1 - other.interval.high, abs=1e-12)


def test_nothing_and_one() -> None:
    nothing = share(0, 0, excluded={"judge failed": 2})
    assert nothing.value is None and nothing.interval is None
    assert nothing.undefined == NO_OBSERVATIONS and nothing.excluded == {"judge failed": 2}
    for method in ("wald", "wilson"):
        one = share(1, 1, method=method)
        assert one.value == 1 and one.interval is None and one.no_interval == ONE_VALUE


def test_wald_says_where_it_misleads() -> None:
    assert share(0, 20, method="wald").warnings == (WALD_COLLAPSED,)
    assert share(20, 20, method="wald").warnings == (WALD_COLLAPSED,)
    assert share(1, 29, method="wald").warnings == (WALD_OUTSIDE,)
    assert share(10, 20, method="wald").warnings == ()
    assert share(20, 20).warnings == ()


def test_outcomes_one_by_one() -> None:
    result = share_of([True, False, None, 1, 0, float("nan")], excluded={"endpoint down": 1})
    assert (result.value, result.n) == (0.5, 4)
    assert result.excluded == {"endpoint down": 1, "missing value": 2}
    with pytest.raises(ValueError, match="true, false or None"):
        share_of([0.5])


@pytest.mark.parametrize("wrong", [(-1, 3), (4, 3), (1.5, 3)])
def test_impossible_counts(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="no share"):
        share(*wrong)


def test_impossible_settings() -> None:
    with pytest.raises(ValueError, match="level"):
        share(1, 2, level=95)
    with pytest.raises(ValueError, match="unknown interval"):
        share(1, 2, method="exact")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no share"):
        published_share(67.75, 307)
