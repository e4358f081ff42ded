import numpy as np
import pytest

from analysis.stats.descriptive.means import mean_t
from analysis.stats.trends.matched_turns import NO_HORIZON, matched_turns
from tests.shared_data import shared_rows

# Two last three turns, one has a gap, two end early and began lower.
PATHS: dict[str, list[float | None]] = {
    "a": [5, 4, 3],
    "b": [4, 4, 2],
    "c": [5, None, 4],
    "d": [2],
    "e": [1, 1],
}
ROWS = [(name, t + 1, s) for name, path in PATHS.items() for t, s in enumerate(path)]


def test_the_same_trajectories_throughout_by_hand() -> None:
    ids, turns, scores = zip(*ROWS, strict=True)
    (curve,) = matched_turns(["x"] * len(ROWS), ["d"] * len(ROWS), ids, turns, scores)
    # Three of five reach turn 3: at least half.
    assert curve.horizon == 3
    assert [p.value for p in curve.points] == [4.5, 4, 2.5] and curve.points[0].n == 2
    assert curve.change.value == -2 and curve.change.n == 2
    assert curve.change.excluded == {
        "ended before turn 3": 2,
        "a turn up to 3 without a score": 1,
    }
    assert curve.change.no_interval  # -2 and -2
    assert (curve.stayed.value, curve.left.value) == (4.5, 1.5)


def test_intervals_of_few_trajectories_stay_on_the_scale() -> None:
    paths = {"a": [5, 2], "b": [4, 3], "c": [5, 5]}
    rows = [(name, t + 1, s) for name, path in paths.items() for t, s in enumerate(path)]
    ids, turns, scores = zip(*rows, strict=True)
    columns = ["x"] * len(rows), ["d"] * len(rows), ids, turns, scores
    (open_ended,) = matched_turns(*columns)
    assert open_ended.change.interval is not None and open_ended.change.interval.low < -4
    (curve,) = matched_turns(*columns, scale=(1, 5))
    assert curve.change.interval is not None and curve.change.interval.low == -4
    first, second = (point.interval for point in curve.points)
    assert first is not None and second is not None
    assert first.high == 5 and (second.low, second.high) == (1, 5)


def test_a_horizon_that_nobody_or_everybody_reaches() -> None:
    ids, turns, scores = zip(*ROWS, strict=True)
    columns = ["x"] * len(ROWS), ["d"] * len(ROWS), ids, turns, scores
    (far,) = matched_turns(*columns, horizon=4)
    assert far.change.value is None and "each of the first 4 turns" in far.change.undefined
    assert far.left.n == 5 and far.points == ()
    (one,) = matched_turns(["x"], ["d"], ["a"], [1], [3])
    assert one.change.undefined == NO_HORIZON
    with pytest.raises(ValueError, match="two turns"):
        matched_turns(*columns, horizon=1)
    assert matched_turns([], [], [], [], []) == ()


def test_survivors_of_made_turns_are_named_and_do_not_move_the_means() -> None:
    rows = shared_rows("agreement", "synthetic_turns.csv.gz")
    ids = [row["item"] for row in rows]
    turns = [int(row["turn"]) for row in rows]
    scores = [float(row["score"]) for row in rows]
    (curve,) = matched_turns(["x"] * len(ids), ["d"] * len(ids), ids, turns, scores)
    # 60 of 120 reach turn 13; they began higher.
    assert curve.horizon == 13 and curve.change.n == 60
    assert "began" in curve.warnings[0] and "higher" in curve.warnings[0]
    long = {i for i, t in zip(ids, turns, strict=True) if t == 13}
    firsts = [s for i, t, s in zip(ids, turns, scores, strict=True) if i in long and t == 1]
    assert curve.points[0].interval == mean_t(firsts).interval
    # Twelve turns at -0.08 are -0.96: inside the interval of the same 60, not of the means by turn.
    assert curve.change.interval is not None
    assert curve.change.interval.low < -0.96 < curve.change.interval.high
    by_turn = [np.mean([s for s, t in zip(scores, turns, strict=True) if t == k]) for k in (1, 13)]
    assert by_turn[1] - by_turn[0] > curve.change.interval.high
