from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.descriptive.means import mean_t
from analysis.stats.trends.decline import (
    ONE_TRAJECTORY,
    ONE_TURN,
    Curve,
    score_by_turn,
    within_slope,
)
from analysis.stats.trends.turn_series import NO_SLOPE
from tests.shared_data import reference_records, shared_rows

# Trajectory 1 has three turns, its second without a score; trajectory 2 has one; 3 has two.
TRAJECTORIES = [1, 1, 1, 2, 3, 3]
TURNS = [1, 2, 3, 1, 1, 2]
SCORES = [5, None, 3, 2, 4, 4]


def one_agent(align: str = "turn") -> Curve:
    (curve,) = score_by_turn(
        ["a"] * 6,
        ["d"] * 6,
        TRAJECTORIES,
        TURNS,
        SCORES,
        align=align,  # type: ignore[arg-type]
    )
    return curve


def test_by_turn_by_hand() -> None:
    curve = one_agent()
    assert curve.started == 3
    assert [(p.position, p.running, p.mean.n) for p in curve.points] == [
        (1, 3, 3),
        (2, 2, 1),
        (3, 1, 1),
    ]
    # (5 + 2 + 4)/3; turn 2: trajectory 1 ran on without a score; turn 3: trajectory 1 alone.
    assert [p.mean.value for p in curve.points] == [pytest.approx(11 / 3), 4, 3]
    assert curve.points[1].mean.excluded == {"missing value": 1}
    assert curve.points[0].mean.interval == mean_t([5, 2, 4]).interval
    assert curve.points[2].mean.interval is None and curve.points[2].mean.no_interval
    assert "1 of 3 trajectories reaches turn 3" in curve.warnings[0]


def test_from_the_end_by_hand() -> None:
    curve = one_agent("from_end")
    assert [(p.position, p.running, p.mean.n) for p in curve.points] == [
        (0, 3, 3),
        (-1, 2, 1),
        (-2, 1, 1),
    ]
    # Last turns 3, 2, 4; before them trajectory 3 alone has a score; at -2 trajectory 1.
    assert [p.mean.value for p in curve.points] == [3, 4, 5]
    assert "1 of 3 trajectories are 3 turns long" in curve.warnings[0]


def test_agents_and_dimensions_apart() -> None:
    curves = score_by_turn(
        ["a", "a", "b", "b"],
        ["d", "e", "d", "d"],
        [1, 1, 1, 1],
        [1, 1, 1, 2],
        [1, 2, 3, 4],
    )
    got = {(c.agent, c.dimension): [p.mean.value for p in c.points] for c in curves}
    # The same trajectory id under two agents means two trajectories; b has no score on e.
    assert got == {("a", "d"): [1], ("a", "e"): [2], ("b", "d"): [3, 4], ("b", "e"): [None, None]}
    assert all(c.started == 1 and c.warnings == () for c in curves)


def test_nothing() -> None:
    assert score_by_turn([], [], [], [], []) == ()
    assert within_slope([], [], [], [], []) == ()


def test_refused_rows() -> None:
    with pytest.raises(ValueError, match="average the judges first"):
        score_by_turn(["a", "a"], ["d", "d"], [1, 1], [1, 1], [3, 4])
    with pytest.raises(ValueError, match="whole numbers from 1"):
        score_by_turn(["a"], ["d"], [1], [0], [3])
    with pytest.raises(ValueError, match="agents: 1 entries for 2 values"):
        score_by_turn(["a"], ["d", "d"], [1, 2], [1, 1], [3, 4])


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), min_size=1, max_size=8))
def test_running_falls_and_ends_meet(paths: list[list[int]]) -> None:
    rows = [(i, t + 1, s) for i, path in enumerate(paths) for t, s in enumerate(path)]
    ids, turns, values = zip(*rows, strict=True)
    names = ["a"] * len(rows), ["d"] * len(rows)
    (forward,) = score_by_turn(*names, ids, turns, values)
    (backward,) = score_by_turn(*names, ids, turns, values, align="from_end")
    running = [p.running for p in forward.points]
    assert running == sorted(running, reverse=True) and running[0] == len(paths)
    assert running == [p.running for p in backward.points] == [p.mean.n for p in forward.points]
    assert forward.points[0].mean.value == pytest.approx(np.mean([path[0] for path in paths]))
    assert backward.points[0].mean.value == pytest.approx(np.mean([path[-1] for path in paths]))
    assert bool(forward.warnings) == (len({len(path) for path in paths}) > 1)


def test_slope_by_hand() -> None:
    # Slopes 1 and 3 over two turns each. Σt̃² = 1, b = 2; residual sums -1/2 and 1/2, so
    # SE = √(2/1 · 1/2) = 1 and the interval is 2 ± t(1; 0.975) = 2 ± 12.706205.
    (result,) = within_slope(["a"] * 4, ["d"] * 4, [1, 1, 2, 2], [1, 2, 1, 2], [1, 2, 1, 4])
    assert result.slope.value == pytest.approx(2)
    assert result.slope.n == 2 and result.slope.interval is not None
    assert result.slope.interval.half_width == pytest.approx(12.706205, rel=1e-6)


def test_slope_is_not_moved_by_who_survives() -> None:
    # Both lose one point a turn, the better one lasts longer: the mean by turn rises.
    rows = [(1, 1, 2), (1, 2, 1), (2, 1, 5), (2, 2, 4), (2, 3, 3)]
    ids, turns, values = zip(*rows, strict=True)
    (result,) = within_slope(["a"] * 5, ["d"] * 5, ids, turns, values)
    assert result.slope.value == pytest.approx(-1)
    assert result.slope.interval is None and "same rate" in result.slope.no_interval
    (curve,) = score_by_turn(["a"] * 5, ["d"] * 5, ids, turns, values)
    assert [p.mean.value for p in curve.points] == [3.5, 2.5, 3]


def test_slope_without_enough() -> None:
    (none,) = within_slope(["a"] * 2, ["d"] * 2, [1, 2], [1, 1], [3, 4])
    assert none.slope.value is None and none.slope.undefined == NO_SLOPE
    assert none.slope.excluded == {ONE_TURN: 2}
    (alone,) = within_slope(["a"] * 3, ["d"] * 3, [1, 1, 2], [1, 2, 1], [3, 4, 5])
    assert alone.slope.value == 1 and alone.slope.no_interval == ONE_TRAJECTORY
    assert alone.slope.excluded == {ONE_TURN: 1}


def test_informative_ending_against_r() -> None:
    # 120 made trajectories with a true slope of -0.08 that end early when a score is low.
    rows = shared_rows("agreement", "synthetic_turns.csv.gz")
    columns = (
        ["a"] * len(rows),
        ["d"] * len(rows),
        [row["item"] for row in rows],
        [int(row["turn"]) for row in rows],
        [float(row["score"]) for row in rows],
    )
    (curve,) = score_by_turn(*columns)
    expected = reference_records(statistic="turn_means")[0]["value"]
    assert [p.mean.value for p in curve.points] == pytest.approx(expected["mean"], abs=1e-9)
    assert [p.running for p in curve.points] == expected["n"]
    (result,) = within_slope(*columns)
    slopes = reference_records(statistic="turn_slope", dataset="synthetic_turns")
    # The within part of lme4's within-between model is the same least squares.
    within = next(r for r in slopes if r["params"]["model"].startswith("within-item"))
    assert result.slope.value == pytest.approx(within["value"], abs=1e-6)
    assert result.slope.interval is not None
    assert result.slope.interval.low < -0.08 < result.slope.interval.high
    # Clustered errors are of the size of geepack's sandwich, and pooled least squares is outside.
    sandwich = next(r for r in slopes if "exchangeable" in r["params"]["model"])
    assert result.slope.interval.half_width / 1.98 == pytest.approx(
        sandwich["extra"]["se"], rel=0.15
    )
    pooled = np.polyfit(columns[3], columns[4], 1)[0]
    assert pooled > result.slope.interval.high


def test_slope_error_against_a_direct_sandwich(rng: np.random.Generator) -> None:
    # The same estimator with explicit dummy columns and matrices.
    ids = np.repeat(np.arange(12), rng.integers(2, 7, 12))
    turns = np.concatenate([np.arange(1, n + 1) for n in np.bincount(ids)])
    values = 4 - 0.1 * turns + rng.normal(size=ids.size)
    design = np.column_stack([turns, np.eye(12)[ids]])
    bread = np.linalg.inv(design.T @ design)
    residuals = values - design @ bread @ design.T @ values
    meat = sum(
        np.outer(v, v) for v in (design[ids == i].T @ residuals[ids == i] for i in range(12))
    )
    error = sqrt((bread @ meat @ bread)[0, 0] * 12 / 11)
    (result,) = within_slope(["a"] * ids.size, ["d"] * ids.size, list(ids), turns, values)
    assert result.slope.interval is not None
    # t(11; 0.975) = 2.200985
    assert result.slope.interval.half_width == pytest.approx(2.200985 * error, rel=1e-6)
