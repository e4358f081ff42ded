"""Survival by steps, against R's survival and coin, and in cases that leave something undefined."""

import numpy as np
import pytest

from analysis.stats.trends.survival import (
    BROKEN,
    CENSORED,
    OTHER,
    logrank_by_block,
    survival_curve,
)
from tests.analysis.stats.trends.survival_reference import disclosed

# Step, at risk, broken, survival, its error; incidence beside another end, its error: from R.
KEPT = (
    (1, 300, 51, 0.830000000, 0.022621032),
    (2, 213, 34, 0.697511737, 0.027039709),
    (3, 145, 20, 0.601303222, 0.030820161),
    (4, 97, 14, 0.514517190, 0.032743359),
    (5, 65, 10, 0.435360699, 0.035855151),
    (6, 39, 5, 0.379545225, 0.040824402),
    (7, 19, 5, 0.279664902, 0.050414882),
    (8, 6, 1, 0.233054085, 0.048234907),
)
INCIDENCE = (
    (0.170000000, 0.022621032),
    (0.293974961, 0.026949982),
    (0.379977875, 0.031023156),
    (0.451351427, 0.032641557),
    (0.512528758, 0.035147675),
    (0.553313645, 0.038555417),
    (0.624150554, 0.043193296),
    (0.657207778, 0.037253779),
)


def test_curve_and_errors_are_those_of_r() -> None:
    _, tasks, times, ends = disclosed()
    points = survival_curve(times, ends, tasks)
    for point, kept, incidence in zip(points, KEPT, INCIDENCE, strict=True):
        assert (point.time, point.at_risk, point.broken) == kept[:3]
        assert (point.kept.value, point.error) == pytest.approx(kept[3:], abs=1e-8)
        assert (point.incidence, point.incidence_error) == pytest.approx(incidence, abs=1e-8)
        assert point.kept.n == point.at_risk


def test_the_test_within_blocks_is_that_of_coin() -> None:
    agents, tasks, times, ends = disclosed()
    test = logrank_by_block(agents, times, ends, list(range(len(times))), tasks)
    assert (test.statistic, test.p) == pytest.approx((16.882262474, 0.000215806), abs=1e-8)
    assert (test.freedom, test.blocks) == (2, 40)


def test_rows_of_one_unit_count_together() -> None:
    """Rows that are copied within their units change nothing but the scale of the scores."""
    agents, tasks, times, ends = (column * 2 for column in disclosed())
    units = list(range(len(times) // 2)) * 2
    test = logrank_by_block(agents, times, ends, units, tasks)
    assert test.statistic == pytest.approx(16.882262474, abs=1e-8)


def test_undefined_where_nothing_tells() -> None:
    assert survival_curve([], [], []) == ()
    (alone,) = survival_curve([1, 1], [BROKEN, CENSORED], ["a", "a"])
    assert alone.error is None and alone.kept.value == 0.5 and alone.kept.interval is None
    (never,) = survival_curve([1, 1], [CENSORED, OTHER], ["a", "b"])
    assert never.kept.value == 1 and "never broken" in never.kept.no_interval
    (always,) = survival_curve([1, 1], [BROKEN, BROKEN], ["a", "b"])
    assert always.kept.value == 0 and "always broken" in always.kept.no_interval
    assert logrank_by_block(["x", "x"], [1, 2], [1, 0], [1, 2], ["a", "a"]).p is None
    apart = logrank_by_block(["x", "y"], [1, 2], [1, 0], [1, 2], ["a", "b"])
    assert apart.p is None and "no task" in apart.undefined
    alike = logrank_by_block(["x", "y"], [2, 2], [0, 0], [1, 2], ["a", "a"])
    assert alike.p is None


@pytest.mark.parametrize(
    ("times", "ends", "clusters"),
    [([0], [1], ["a"]), ([1.5], [1], ["a"]), ([1], [3], ["a"]), ([1], [1], []), ([1], [], ["a"])],
)
def test_bad_columns_are_refused(times: list[float], ends: list[int], clusters: list[str]) -> None:
    with pytest.raises(ValueError):
        survival_curve(np.array(times), np.array(ends), clusters)
