"""Numbers and intervals in words and cells."""

from typing import Any

import pytest

from analysis.reports.content import estimate_cell, how_interval, number_cell
from analysis.reports.formatting import (
    counted,
    difference,
    ends,
    left_out_sentence,
    listed,
    number,
    plural,
    stated,
    stated_change,
)
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate, Interval
from benchmarks.templatetags.planjury import unbroken


@pytest.mark.parametrize(
    ("value", "unit", "signed", "expected"),
    [
        (0.781, "share", False, "78.1 %"),
        (1.0, "share", False, "100.0 %"),
        (4.816, "points", False, "4.82"),
        (-0.29, "points", True, "−0.29"),
        (0.29, "points", True, "+0.29"),
        # What is shown as zero has no sign.
        (-0.001, "points", True, "0.00"),
        (123.4, "number", False, "123"),
        (12.34, "number", False, "12.3"),
        (1.234, "number", False, "1.23"),
        # An amount below 0.1 keeps two digits that say something.
        (0.002978, "amount", False, "0.0030"),
        (0.0000361, "amount", False, "0.000036"),
        (0.25, "amount", False, "0.25"),
        (0.0, "amount", False, "0.00"),
        (-0.004, "amount", True, "−0.0040"),
    ],
)
def test_number(value: float, unit: str, signed: bool, expected: str) -> None:
    assert number(value, unit, signed=signed) == expected  # type: ignore[arg-type]


def test_a_change_and_its_interval_have_the_same_signs() -> None:
    fall = Estimate(-0.111, 9, Interval(-0.435, 0.221, 0.95, "t"))
    assert stated_change(fall, "share") == "−11.1 points (95 % interval −43.5 to +22.1)"
    assert stated_change(Estimate(-1, 9, no_interval="one"), "points") == "−1.00"
    assert stated_change(Estimate.without_value("no task"), "share") == "undefined (no task)"


def test_intervals_name_their_unit_once() -> None:
    interval = Interval(0.612, 0.89, 0.95, "wilson")
    assert ends(interval, "share") == "61.2 to 89.0 %"
    assert ends(Interval(-0.5, 0.25, 0.95, "t"), "points", signed=True) == "−0.50 to +0.25"
    estimate = Estimate(0.75, 8, interval)
    assert stated(estimate, "share") == "75.0 % (95 % interval 61.2 to 89.0 %)"
    assert stated(Estimate.without_value("no scores"), "share") == "undefined (no scores)"


def test_lists_and_counts() -> None:
    assert listed(["a"]) == "a"
    assert listed(["a", "b"]) == "a and b"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"
    assert plural(1, "task") == "1 task" and plural(1200, "task") == "1,200 tasks"
    assert counted({"no judge": 1200, "late": 2}) == "1,200 (no judge), 2 (late)"


def test_a_cell_keeps_the_exact_numbers_for_the_csv() -> None:
    # 3 of 4: p = 0.75; Wilson by hand with z = 1.959964 gives 0.3006 to 0.9544.
    cell = estimate_cell(share(3, 4, excluded={"unscored": 2}), "share", show_n=True)
    assert cell.text == "75.0 %" and cell.sub == "30.1 to 95.4\nn = 4"
    value, low, high, n, note = cell.data
    assert (value, n) == (0.75, 4) and note == "left out: 2 (unscored)"
    assert low == pytest.approx(0.300642, abs=1e-6) and high == pytest.approx(0.954413, abs=1e-6)


def test_an_undefined_cell_is_a_reason_and_never_a_zero() -> None:
    cell = estimate_cell(Estimate.without_value("no scores", excluded={"unscored": 2}), "points")
    assert cell.text == "" and cell.reason == "no scores"
    assert cell.data == (None, None, None, 0, "no scores")
    assert number_cell(None, "points", reason="absent").reason == "absent"


def test_how_tells_seed_and_resamples() -> None:
    details = {"seed": 11, "resamples": 200, "clusters": 3}
    interval = Interval(1, 3, 0.95, "task bootstrap (percentile)", details)
    estimate = Estimate(2, 4, interval)
    assert how_interval([estimate]) == "task bootstrap (percentile), 200 resamples, seed 11"


def test_a_number_stays_in_one_line_with_its_letter() -> None:
    shown = unbroken("With ε = 0.1, n = 32 of 80 % (p < 0.001); rate = 3, 5 of 6").replace(
        "\u00a0", "_"
    )
    assert shown == "With ε_=_0.1, n_=_32 of 80_% (p_<_0.001); rate = 3, 5 of 6"


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.143, "share", "14.3 points"),
        (14.3, "percent", "14.3 points"),
        (0.0312, "share", "3.1 points"),
        (1.0, "percent", "1.0 points"),
        (0.0, "share", "0 points"),
        (0.14, "number", "0.14"),
    ],
)
def test_differences_of_percentages_are_in_points(value: float, unit: Any, expected: str) -> None:
    assert difference(value, unit) == expected


def test_what_is_left_out_in_a_sentence() -> None:
    reasons = {"waits for a person": 3, "cancelled": 1}
    assert left_out_sentence(reasons) == "Left out: 3 (waits for a person), 1 (cancelled)."
    assert left_out_sentence(reasons, "Acc").startswith("Left out of Acc: 3 (waits")
    assert left_out_sentence({}, "Acc") == "Nothing is left out of Acc."
    assert left_out_sentence({}, nothing="No turn") == "No turn is left out."
