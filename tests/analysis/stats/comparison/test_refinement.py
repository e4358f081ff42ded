import pytest

from analysis.stats.comparison.refinement import (
    BY_CONSTRUCTION,
    NO_PASS,
    NO_TRAJECTORY,
    refinement_curves,
)

GOOD, WEAK, BROKEN, UNKNOWN = (True, True), (True, False), (False, False), (True, None)
# Accurate at once; mended at the first extra turn; broken, then mended; never; not judged.
CHAINS = [[GOOD], [WEAK, GOOD], [WEAK, BROKEN, GOOD], [WEAK, BROKEN, BROKEN], [UNKNOWN]]


def test_by_hand() -> None:
    (curve,) = refinement_curves(["a"] * 5, list("vwxyz"), CHAINS, most=2)
    assert (curve.counted, curve.refined, curve.warnings) == (5, 3, ())
    zero, one, two = curve.points
    assert [p.refining for p in curve.points] == [0, 3, 2]
    # Out of four: the fifth lacks a judge's score.
    assert [p.accuracy.value for p in curve.points] == [0.25, 0.5, 0.75]
    assert zero.accuracy.excluded == {NO_PASS: 1}
    assert [p.valid.value for p in curve.points] == [1, 0.6, 0.8]
    assert (one.recovered, one.lost, two.recovered, two.lost) == (1, 2, 2, 1)
    assert zero.accuracy_change.value == 0 and zero.accuracy_change.interval is None
    assert two.accuracy_change.value == 0.5 and two.accuracy_change.n == 4
    assert two.valid_change.value == pytest.approx(-0.2)


def test_among_the_refined_the_start_is_by_construction() -> None:
    (curve,) = refinement_curves(["a"] * 5, list("vwxyz"), CHAINS, most=2, among="refined")
    assert curve.counted == 3 and curve.warnings == (BY_CONSTRUCTION,)
    assert [p.accuracy.value for p in curve.points] == pytest.approx([0, 1 / 3, 2 / 3])
    assert curve.points[0].valid.value == 1


def test_nobody_refined_and_refused() -> None:
    (curve,) = refinement_curves(["a"], ["t"], [[GOOD]], among="refined")
    assert curve.points[0].accuracy.undefined == NO_TRAJECTORY and curve.warnings == ()
    (unknown,) = refinement_curves(["a"], ["t"], [[UNKNOWN]], most=1)
    assert unknown.points[1].accuracy.undefined == NO_PASS
    assert refinement_curves([], [], []) == ()
    with pytest.raises(ValueError, match="1 to 2 are expected"):
        refinement_curves(["a"], ["t"], [[WEAK, WEAK, WEAK]], most=1)
    with pytest.raises(ValueError, match="all or refined"):
        refinement_curves([], [], [], among="some")  # type: ignore[arg-type]
