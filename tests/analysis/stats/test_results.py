import json
from dataclasses import dataclass

import numpy as np
import pytest

from analysis.stats.results import Estimate, Interval, as_json, multiple_label


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), np.float64("nan")])
def test_no_number_that_is_none(bad: float) -> None:
    with pytest.raises(ValueError, match="no result"):
        Estimate(bad, 3)
    with pytest.raises(ValueError, match="no result"):
        Interval(0, bad, 0.95, "t")
    with pytest.raises(ValueError, match="no result"):
        as_json({"x": [bad]})


def test_a_value_or_a_reason() -> None:
    with pytest.raises(ValueError, match="either"):
        Estimate(None, 0)
    with pytest.raises(ValueError, match="either"):
        Estimate(1.0, 1, undefined="but why")
    with pytest.raises(ValueError, match="needs a value"):
        Estimate(None, 0, Interval(0, 1, 0.95, "t"), undefined="nothing")
    assert Estimate.without_value("nothing").undefined == "nothing"


def test_upside_down_interval() -> None:
    with pytest.raises(ValueError, match="upside down"):
        Interval(1, 0, 0.95, "t")


def test_arms_and_half_width() -> None:
    interval = Interval(1.0, 4.0, 0.95, "any")
    assert interval.half_width == 1.5
    assert Estimate(2.0, 5, interval).arms == (1.0, 2.0)
    assert Estimate(2.0, 1, no_interval="one value").arms is None


@pytest.mark.parametrize(
    ("numerator", "denominator", "label"),
    [(0, 3, "0"), (1, 3, "1/3"), (3, 3, "1"), (4, 3, "1 1/3"), (2, 4, "1/2"), (6, 4, "1 1/2")],
)
def test_multiple_label(numerator: int, denominator: int, label: str) -> None:
    assert multiple_label(numerator, denominator) == label


def test_json_of_everything() -> None:
    @dataclass(frozen=True)
    class Both:
        cells: dict[tuple[str, str], Estimate]
        counts: tuple[np.int64, ...]

    estimate = Estimate(np.float64(0.5), 2, Interval(0, 1, 0.95, "t", {"df": 1}))
    got = json.loads(
        json.dumps(as_json(Both({("a", "b"): estimate}, (np.int64(3),))), allow_nan=False)
    )
    assert got["counts"] == [3]
    assert got["cells"]["a / b"]["value"] == 0.5
    assert got["cells"]["a / b"]["interval"]["details"] == {"df": 1}
    with pytest.raises(TypeError, match="no JSON form"):
        as_json(object())
