"""Warnings: each at its threshold and just beside it, with the words that people read."""

from analysis.stats.annotators.drift import Drift, drift
from analysis.stats.annotators.rater_quality import gold_accuracy, speeding
from analysis.stats.annotators.rater_warnings import Sign, quality_warnings
from analysis.stats.annotators.straight_lining import straight_lining
from analysis.stats.descriptive.proportions import share
from analysis.stats.results import Estimate

UNDEFINED = Estimate.without_value("too few")


def moved(change: float, p: float) -> Drift:
    return Drift(Estimate(change, 20), p, "judges", 10, 10, 1, 2000)


def test_no_results_and_undefined_ones_give_no_warnings() -> None:
    assert quality_warnings() == ()
    sheets = [("a", 1, [None, None, None])]
    assert (
        quality_warnings(
            gold=gold_accuracy(sheets, {}),
            drifts=drift(sheets, seed=1),
            straight=straight_lining(sheets),
            speeds=speeding([("a", 1, None)]),
        )
        == ()
    )


def test_gold() -> None:
    gold = {"a": share(3, 10), "b": share(8, 10), "c": share(0, 4), "d": UNDEFINED}
    (found,) = quality_warnings(gold=gold)
    assert (found.rater, found.sign, found.value, found.threshold) == ("a", Sign.GOLD, 0.3, 0.8)
    assert found.text == "3 of 10 known answers (30 %) are right; 80 % or more are expected."
    both = quality_warnings(gold=gold, gold_answers=4)
    assert [warning.rater for warning in both] == ["a", "c"]
    assert quality_warnings(gold=gold, least_gold=0.3) == ()


def test_drift() -> None:
    drifts = {"a": moved(-0.8, 0.004), "b": moved(0.8, 0.02), "c": moved(0.4, 0.001)}
    # Three are tested: 0.004 · 3 = 0.012 and 0.02 · 3 = 0.06; c moved by less than half a point.
    (found,) = quality_warnings(drifts=drifts)
    assert (found.rater, found.sign, found.value) == ("a", Sign.DRIFT, -0.8)
    assert found.text == (
        "Compared with the judges' scores of the same items, those of the last third are 0.80 "
        "points lower than in the first (p = 0.012, corrected for 3 tested); noted from 0.5 points "
        "on."
    )
    (alone,) = quality_warnings(drifts={"b": moved(0.8, 0.02)})
    assert "higher" in alone.text
    assert len(quality_warnings(drifts=drifts, most_drift=0.3, drift_p=0.1)) == 3


def test_straight_lines() -> None:
    # Rater a gives 4 to everything in 10 items; the others' answers spread and change.
    sheets = [("a", i, [4, 4, 4]) for i in range(10)]
    patterns = {"b": [1, 3, 5], "c": [1, 2, 3], "d": [2, 3, 5], "e": [1, 2, 4]}
    for rater, pattern in patterns.items():
        sheets += [(rater, i, pattern[:: (-1) ** i]) for i in range(10)]
    found = quality_warnings(straight=straight_lining(sheets))
    assert [(w.rater, w.sign) for w in found] == [
        ("a", Sign.EQUAL),
        ("a", Sign.RUN),
        ("a", Sign.SPREAD),
    ]
    assert found[0].text == (
        "10 of 10 items (100 %) have the same answer to every question; noted above 50 %."
    )
    assert found[1].text == "10 items in a row have exactly the same answers; noted from 5 on."
    assert "(0.00 points on average, " in found[2].text and "noted from -3 down" in found[2].text
    assert quality_warnings(straight=straight_lining(sheets), items=11) == ()
    (run,) = quality_warnings(
        straight=straight_lining(sheets), most_equal=1, longest_run=10, least_spread_z=-99
    )
    assert run.sign is Sign.RUN
    assert [
        w.sign
        for w in quality_warnings(
            straight=straight_lining(sheets), most_equal=1, longest_run=11, least_spread_z=-99
        )
    ] == []


def test_speed() -> None:
    # The study's median is 60 s; rater a needs 10 s for 8 of 10 items, 60 s for two.
    times = [("a", i, 10.0 if i < 8 else 60.0) for i in range(10)]
    times += [("b", i, [50.0, 60.0, 72.0][i % 3]) for i in range(30)]
    found = quality_warnings(speeds=speeding(times))
    assert [(w.rater, w.sign) for w in found] == [("a", Sign.FAST), ("a", Sign.PACE)]
    assert found[0].text == (
        "8 of 10 items (80 %) took under 20 s, which is 33.3 % of the study's median time; noted "
        "above 20 % of items."
    )
    assert found[1].text.startswith("The median time of an item is 10 s, the study's is 60 s (-")
    assert quality_warnings(speeds=speeding(times), items=11) == ()
    assert quality_warnings(speeds=speeding(times), most_fast=0.8, least_pace_z=-20) == ()
