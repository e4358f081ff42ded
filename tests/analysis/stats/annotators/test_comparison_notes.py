"""Notes on differences: each at its threshold and just beside it, in the words people read."""

from analysis.stats.annotators.comparison_notes import Comparison, comparison_notes
from analysis.stats.annotators.drift import Drift, drift
from analysis.stats.annotators.rater_quality import speeding
from analysis.stats.annotators.straight_lining import straight_lining
from analysis.stats.results import Estimate


def moved(change: float, p: float) -> Drift:
    return Drift(Estimate(change, 20), p, "judges", 10, 10, 1, 2000)


def test_no_results_and_undefined_ones_give_no_notes() -> None:
    assert comparison_notes() == ()
    sheets = [("a", 1, [None, None, None])]
    assert (
        comparison_notes(
            drifts=drift(sheets, seed=1),
            straight=straight_lining(sheets),
            speeds=speeding([("a", 1, None)]),
        )
        == ()
    )


def test_drift() -> None:
    drifts = {"a": moved(-0.8, 0.004), "b": moved(0.8, 0.02), "c": moved(0.4, 0.001)}
    # Three are tested: 0.004 · 3 = 0.012 and 0.02 · 3 = 0.06; c moved by less than half a point.
    (found,) = comparison_notes(drifts=drifts)
    assert (found.rater, found.sign, found.value) == ("a", Comparison.DRIFT, -0.8)
    assert found.text == (
        "Compared with the judges' scores of the same items, those of the last third are 0.80 "
        "points lower than in the first (p = 0.012, corrected for 3 tested); noted from 0.5 points "
        "on."
    )
    (alone,) = comparison_notes(drifts={"b": moved(0.8, 0.02)})
    assert "higher" in alone.text
    assert len(comparison_notes(drifts=drifts, most_drift=0.3, drift_p=0.1)) == 3


def test_spread() -> None:
    # Rater a gives 4 to everything in 10 items; the others' answers spread and change.
    sheets = [("a", i, [4, 4, 4]) for i in range(10)]
    patterns = {"b": [1, 3, 5], "c": [1, 2, 3], "d": [2, 3, 5], "e": [1, 2, 4]}
    for rater, pattern in patterns.items():
        sheets += [(rater, i, pattern[:: (-1) ** i]) for i in range(10)]
    (found,) = comparison_notes(straight=straight_lining(sheets))
    assert (found.rater, found.sign) == ("a", Comparison.SPREAD)
    assert "(0.00 points on average, " in found.text and "noted from -3 down" in found.text
    assert comparison_notes(straight=straight_lining(sheets), items=11) == ()
    assert comparison_notes(straight=straight_lining(sheets), least_spread_z=-99) == ()


def test_speed() -> None:
    # The study's median is 60 s; rater a needs 10 s for 8 of 10 items, 60 s for two.
    times = [("a", i, 10.0 if i < 8 else 60.0) for i in range(10)]
    times += [("b", i, [50.0, 60.0, 72.0][i % 3]) for i in range(30)]
    found = comparison_notes(speeds=speeding(times))
    assert [(w.rater, w.sign) for w in found] == [("a", Comparison.FAST), ("a", Comparison.PACE)]
    assert found[0].text == (
        "8 of 10 items (80 %) took under 20 s, which is 33.3 % of the study's median time; noted "
        "above 20 % of items."
    )
    assert found[1].text.startswith("The median time of an item is 10 s, the study's is 60 s (-")
    assert comparison_notes(speeds=speeding(times), items=11) == ()
    assert comparison_notes(speeds=speeding(times), most_fast=0.8, least_pace_z=-20) == ()
