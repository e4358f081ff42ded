"""The slope over turns by GEE, by a mixed model, and side by side."""

import json
import pickle
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.results import Estimate, Interval, as_json
from analysis.stats.trends import gee, mixed_models
from analysis.stats.trends.decline import ONE_TASK, within_slope
from analysis.stats.trends.gee import gee_slope
from analysis.stats.trends.mixed_models import UNCONVERGED, mixed_slope
from analysis.stats.trends.slopes import SHARED, slope_models
from analysis.stats.trends.turn_series import NO_SLOPE
from tests.analysis.stats.trends.sleepstudy import REACTIONS
from tests.shared_data import reference_records, shared_rows

Columns = tuple[list[Any], list[float], list[float]]


@cache
def made_turns() -> Columns:
    """120 made trajectories, true slope -0.08, that end early when a score is low."""
    rows = shared_rows("agreement", "synthetic_turns.csv.gz")
    return (
        [row["item"] for row in rows],
        [int(row["turn"]) for row in rows],
        [float(row["score"]) for row in rows],
    )


def reference(model: str) -> dict[str, Any]:
    """The value that R gives, by the beginning of the model's name."""
    records = reference_records(statistic="turn_slope")
    (found,) = [r for r in records if r["params"]["model"].startswith(model)]
    return found


def assert_equals(
    slope: Estimate, interval: Interval | None, record: dict[str, Any], *, within: float
) -> None:
    assert slope.value == pytest.approx(record["value"], abs=within)
    assert interval is not None
    ends = [interval.low, interval.high]
    assert ends == pytest.approx(record["ci"], abs=2 * within)


def series(paths: Sequence[Sequence[float]]) -> Columns:
    rows = [(i, t + 1, s) for i, path in enumerate(paths) for t, s in enumerate(path)]
    ids, turns, values = zip(*rows, strict=True)
    return list(ids), list(turns), list(values)


@pytest.mark.parametrize("structure", ["exchangeable", "independence"])
def test_gee_against_geepack(structure: Any) -> None:
    record = reference(f"GEE Gaussian identity, {structure}")
    result = gee_slope(*made_turns(), structure=structure)
    assert_equals(result.slope, result.slope.interval, record, within=2e-5)
    assert result.intercept == pytest.approx(record["extra"]["intercept"], abs=2e-5)
    assert result.error == pytest.approx(record["extra"]["se"], abs=2e-5)
    assert result.converged and result.slope.n == 120 and result.scores == 1430


def test_mixed_models_against_lme4() -> None:
    record = reference("LMM REML y~t+(1+t|id)")
    result = mixed_slope(*made_turns())
    assert_equals(result.slope, result.wald, record, within=1e-6)
    parts = record["extra"]["sd_components"]
    assert result.sd_intercept == pytest.approx(parts["id (Intercept) NA"], abs=1e-4)
    assert result.sd_slope == pytest.approx(parts["id t NA"], abs=1e-4)
    assert result.correlation == pytest.approx(parts["id (Intercept) t"], abs=1e-3)
    assert result.sd_residual == pytest.approx(parts["Residual NA NA"], abs=1e-4)
    assert result.intercept == pytest.approx(record["extra"]["intercept"], abs=1e-5)
    assert result.converged and not result.singular and result.random == "slope"

    record = reference("LMM REML y~t+(1|id)")
    level = mixed_slope(*made_turns(), random="intercept")
    assert_equals(level.slope, level.wald, record, within=1e-6)
    assert level.sd_slope is None and level.random == "intercept"
    sd = record["extra"]["sd_components"]["id (Intercept) NA"]
    assert level.sd_intercept == pytest.approx(sd, abs=1e-5)

    record = reference("within-item slope")
    split = mixed_slope(*made_turns(), random="intercept", decompose=True)
    assert_equals(split.slope, split.wald, record, within=1e-6)
    assert split.between == pytest.approx(record["extra"]["between"], abs=1e-6)


def test_survivors_mislead_the_pooled_line_alone() -> None:
    ids, turns, values = made_turns()
    names = ["a"] * len(ids), ["d"] * len(ids)
    (found,) = slope_models(*names, ids, turns, values)
    for slope in (found.within, found.gee.slope, found.mixed.slope):
        assert slope.interval is not None
        assert slope.interval.low < -0.08 < slope.interval.high
    pooled = found.pooled.slope
    assert pooled.interval is not None and pooled.interval.low > -0.08
    # Least squares itself, and not only with errors that are too small.
    assert pooled.value == pytest.approx(reference("OLS")["value"], abs=1e-9)
    assert "26 of 120 trajectories reach turn 20" in found.warnings[0]
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(json.dumps(as_json(found), allow_nan=False))["gee"]["converged"] is True


def test_sleepstudy() -> None:
    ids, days, values = series(REACTIONS)
    record = reference("Reaction~Days+(Days|Subject)")
    result = mixed_slope(ids, [day - 1 for day in days], values)
    assert_equals(result.slope, result.wald, record, within=1e-5)
    # Nobody left the study: the likelihood's curvature says what Wald's error says.
    assert result.error == pytest.approx(record["extra"]["se"], rel=0.02)
    assert result.intercept == pytest.approx(251.405, abs=1e-3)
    spread = (result.sd_intercept, result.sd_slope, result.correlation, result.sd_residual)
    # Bates et al. 2015, page 12.
    assert spread == pytest.approx((24.74, 5.92, 0.07, 25.59), abs=0.01)


def test_errors_grow_where_low_scores_end_trajectories() -> None:
    result = mixed_slope(*made_turns())
    assert result.wald is not None and result.slope.interval is not None
    # By simulation of such data the estimates scatter about 1.5 times as much as Wald's error says.
    assert 1.1 < result.slope.interval.half_width / result.wald.half_width < 2


def test_what_does_not_converge_is_said(rng: np.random.Generator) -> None:
    # Noise a million times smaller than the differences between trajectories.
    noise = rng.normal(0, 1e-6, (8, 5))
    paths = [[3 + i - 0.1 * t + noise[i, t] for t in range(5)] for i in range(8)]
    result = mixed_slope(*series(paths))
    assert result.random == "intercept" and result.converged is False
    assert mixed_models.FALLBACK.format(reason=UNCONVERGED) in result.slope.warnings
    assert result.slope.value == pytest.approx(-0.1, abs=1e-4)


def test_gee_with_a_correlation_out_of_range_falls_back_to_independence() -> None:
    # 31 short trajectories that alternate, and one long one: two scores of the short ones
    # correlate with about −1/3, but twelve of one trajectory cannot lie below −1/11. Held at
    # 0.99 × that, the long one has 1/(1 − 0.99) = 100 times the weight: a "clear" fall of
    # −0.096 (−0.105 to −0.087), where the 31 others rise by 0.065.
    short = [[2, 4, 2, 4]] * 18 + [[4, 2, 4, 2]] * 13
    long = [3] * 7 + [2] * 5
    found = gee_slope(*series([*short, long]))
    alike = gee_slope(*series([*short, long]), structure="independence")
    assert found.structure == "independence" and found.correlation is None
    assert gee.OUT_OF_RANGE in found.slope.warnings and "independence" in found.slope.method
    assert (found.slope.value, found.error) == (alike.slope.value, alike.error)
    interval = found.slope.interval
    assert interval is not None and interval.low < 0 < interval.high


def test_gee_that_does_not_converge_falls_back_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gee, "ROUNDS", 1)
    found = gee_slope(*series([[3, 2, 2], [5, 4, 4, 1], [2, 3]]))
    assert found.structure == "independence" and found.converged is False
    assert gee.NOT_CONVERGED in found.slope.warnings and found.slope.value is not None


def test_gee_errors_by_task() -> None:
    # Two copies of each trajectory in one task: errors are as with one copy, not smaller by √2.
    ids, turns, values = series([[3, 2, 2], [5, 4, 4, 1], [2, 3]])
    twice = [(i, c) for c in "xy" for i in ids], turns * 2, values * 2
    once = gee_slope(ids, turns, values)
    by_task = gee_slope(*twice, tasks=ids * 2)
    assert by_task.error == pytest.approx(once.error)
    alone = gee_slope(*twice)
    assert once.error is not None and alone.error == pytest.approx(once.error / np.sqrt(2))
    names = ["a"] * len(twice[0]), ["d"] * len(twice[0])
    (shared,) = slope_models(*names, *twice, tasks=ids * 2)
    (own,) = within_slope(["a"] * len(ids), ["d"] * len(ids), ids, turns, values)
    assert shared.within.interval is not None and own.slope.interval is not None
    assert shared.within.interval.half_width == pytest.approx(own.slope.interval.half_width)
    assert shared.gee == by_task and SHARED in shared.warnings
    (one_task,) = within_slope(*names, *twice, tasks=["t"] * len(twice[0]))
    assert one_task.slope.no_interval == ONE_TASK
    with pytest.raises(ValueError, match="belongs to one task"):
        gee_slope(ids, turns, values, tasks=list(range(len(ids))))


def test_random_slopes_are_given_up_with_a_note() -> None:
    two = mixed_slope(*series([[3, 2], [4, 4], [5, 3], [2, 2]]))
    assert two.random == "intercept"
    assert any(mixed_models.NO_THIRD_TURN in warning for warning in two.slope.warnings)
    # The same path at three levels: slopes differ less than their noise would make them.
    calm = mixed_slope(*series([[3, 2.2, 1, 0.1], [5, 4.2, 3, 2.1], [4, 3.2, 2, 1.1]]))
    assert calm.random == "intercept"
    assert any(mixed_models.NO_SLOPE_VARIANCE in warning for warning in calm.slope.warnings)
    own = mixed_slope(*series([[1, 2, 3], [5, 5, 5], [3, 2, 1, 0]]))
    assert any(mixed_models.ALL_ON_LINES in warning for warning in own.slope.warnings)
    assert own.slope.interval is not None


def test_what_cannot_be_fitted() -> None:
    for fit in (gee_slope, mixed_slope):
        none = fit([1, 2], [1, 1], [3, None])
        assert none.slope.value is None and none.slope.undefined == NO_SLOPE
        assert none.slope.excluded == {"turn: missing value": 1}
        with pytest.raises(ValueError, match="average the judges first"):
            fit([1, 1], [1, 1], [3, 4])
    alone = gee_slope([1, 1], [1, 2], [3, 4])
    assert alone.slope.value == pytest.approx(1)
    assert alone.slope.no_interval == gee.ONE_UNIT.format(unit="trajectory")
    assert mixed_slope([1, 1], [1, 2], [3, 4]).slope.undefined == mixed_models.ONE_TRAJECTORY
    few = mixed_slope([1, 1, 2], [1, 2, 1], [3, 4, 5])
    assert few.slope.undefined == mixed_models.TOO_FEW_SCORES
    flat = gee_slope(*series([[3, 3], [3, 3, 3]])).slope
    assert (flat.value, flat.no_interval) == (0, gee.NO_SCATTER)
    parallel = series([[5, 4, 3], [2, 1]])
    assert mixed_slope(*parallel).slope.no_interval == mixed_models.ON_LINES
    assert mixed_slope(*parallel).slope.value == pytest.approx(-1)


paths = st.lists(
    st.lists(st.integers(1, 5), min_size=2, max_size=5), min_size=3, max_size=8
).filter(lambda paths: any(len(path) > 2 for path in paths))


@settings(max_examples=4, deadline=None)
@given(paths, st.sampled_from([-2.0, 0.5, 3.0]))
def test_slopes_move_with_the_scale_and_not_with_names(
    paths: list[list[int]], factor: float
) -> None:
    ids, turns, values = series(paths)
    order = list(reversed(range(len(ids))))
    renamed = ([f"t{9 - ids[i]}" for i in order], [turns[i] for i in order])
    moved = [factor * values[i] + 7 for i in order]
    for fit in (gee_slope, mixed_slope):
        first, second = fit(ids, turns, values), fit(*renamed, moved)
        assert second.slope.value == pytest.approx(factor * (first.slope.value or 0), abs=1e-3)


def test_missing_scores_are_left_out() -> None:
    ids, turns, values = series([[3, 2, 1], [5, 4, 4], [2, 3, 1]])
    extra = [*ids, 0, 1], [*turns, 4, 4], [*values, None, float("nan")]
    for fit in (gee_slope, mixed_slope):
        with_gaps = fit(*extra).slope
        assert with_gaps.value == pytest.approx(fit(ids, turns, values).slope.value)
        assert with_gaps.excluded == {"turn: missing value": 2}
    (a, b) = slope_models(["a"] * 9 + ["b"] * 9, ["d"] * 18, ids * 2, turns * 2, values * 2)
    assert (a.gee, a.mixed, a.within) == (b.gee, b.mixed, b.within)
    (within,) = within_slope(["a"] * 9, ["d"] * 9, ids, turns, values)
    assert a.within == within.slope
