"""Drift of a rater: by hand, and what must not move it."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from analysis.stats.annotators.drift import THIRDS_EQUAL, Drift, drift


def alone(scores: list[float | None], **options: object) -> Drift:
    """Drift of a rater whose items the judges all scored 3."""
    sheets = [("a", i, [score]) for i, score in enumerate(scores)]
    judges = {i: [3.0] for i in range(len(scores))}
    return drift(sheets, judges=judges, seed=1, **options)["a"]


def test_welch_by_hand() -> None:
    # Early differences −2, 0 and late 0, 2 (from 3): d = 2, both variances 2, so s²/n = 1 each.
    # Standard error √2, ν = (1 + 1)²/(1/1 + 1/1) = 2; t(2; 0.975) = 4.302653.
    result = alone([1, 3, 3, 3, 3, 5], minimum=2)
    assert (result.difference.value, result.difference.n) == (2, 4)
    assert (result.reference, result.early, result.late) == ("judges", 2, 2)
    interval = result.difference.interval
    assert interval is not None and interval.method == "Welch t"
    half = 4.302653 * sqrt(2)
    assert (interval.low, interval.high) == pytest.approx((2 - half, 2 + half), abs=1e-5)


def test_welch_of_scipy() -> None:
    early, late = [1, 5, 2, 3, 3], [4, 4, 4, 5, 4]
    result = alone([*early, 3, 3, 3, 3, 3, *late])
    expected = ttest_ind(late, early, equal_var=False).confidence_interval()
    interval = result.difference.interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_permutation_by_hand() -> None:
    # Differences 0, 0 | 0, 0 | 1, 1: d = 1, and ±1 needs both ones in one of the outer thirds: 2 of
    # C(6, 2) = 15 places for them, p = 2/15 but for chance.
    result = alone([3, 3, 3, 3, 4, 4], minimum=2, permutations=20_000)
    assert result.difference.value == 1
    assert result.difference.no_interval == THIRDS_EQUAL
    assert result.p_value == pytest.approx(2 / 15, abs=0.01)


def test_no_difference_at_all() -> None:
    result = alone([3] * 15)
    assert (result.difference.value, result.p_value) == (0, 1)


def test_against_other_people_by_hand() -> None:
    # Raters b and c score every item 2 and 4 (mean 3) on the first question and leave the second
    # out. Rater a gives 3 early, 4 in the middle and 5 late: +2. For b the others are a and c:
    # 2 − 3.5 early, 2 − 4.5 late: −1; the same for c.
    sheets = []
    for i, score in enumerate([3] * 5 + [4] * 5 + [5] * 5):
        sheets += [("a", i, [score, 5]), ("b", i, [2, None]), ("c", i, [4, None])]
    result = drift(sheets, judges={i: [1, 1] for i in range(15)}, seed=1)
    assert {rater: one.difference.value for rater, one in result.items()} == pytest.approx(
        {"a": 2, "b": -1, "c": -1}
    )
    assert {one.reference for one in result.values()} == {"other people"}
    assert result["a"].p_value is not None and result["a"].p_value < 0.01


def test_people_and_judges_are_not_mixed() -> None:
    # Somebody else scored the first items only, two points lower than the judges: for rater a, who
    # always agrees with the judges, a mixture would look like a fall.
    sheets = [("a", i, [4]) for i in range(15)] + [("b", i, [2]) for i in range(5)]
    result = drift(sheets, judges={i: [4] for i in range(15)}, seed=1)["a"]
    assert (result.reference, result.difference.value) == ("judges", 0)


def test_undefined_below_the_minimum() -> None:
    result = alone([3, 3, 3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5])
    assert result.difference.value is None and result.p_value is None and result.reference is None
    assert "need 5 items each" in result.difference.undefined
    assert "there are 4 and 4" in result.difference.undefined
    nobody = drift([("a", i, [3]) for i in range(30)], seed=1)["a"]
    assert "there are 0 and 0" in nobody.difference.undefined
    assert nobody.difference.excluded == {"scored by no other person": 20}


def test_items_without_a_reference_keep_their_place() -> None:
    # 18 items: thirds of 6. The judges did not score item 1 (early) and item 8 (middle).
    sheets = [("a", i, [3]) for i in range(18)]
    judges = {i: [3] for i in range(18) if i not in (1, 8)}
    result = drift(sheets, judges=judges, seed=1)["a"]
    assert (result.early, result.late) == (5, 6)
    assert result.difference.excluded == {"not scored by the judges": 1}


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="scores 1 twice"):
        drift([("a", 1, [3]), ("a", 1, [4])], seed=1)
    with pytest.raises(ValueError, match="2 scores and 1"):
        drift([("a", 1, [3]), ("b", 1, [4, 4])], seed=1)
    with pytest.raises(ValueError, match="1 scores and 2 means"):
        drift([("a", 1, [3])], judges={1: [3, 3]}, seed=1)
    with pytest.raises(ValueError, match="2 items in each third"):
        drift([], minimum=1, seed=1)


@given(st.lists(st.integers(1, 5), min_size=6, max_size=24), st.integers(-2, 2))
def test_turning_the_order_round_turns_the_sign(scores: list[int], shift: int) -> None:
    sheets = [("a", i, [score]) for i, score in enumerate(scores)]
    judges = {i: [3.0 + i % 2] for i in range(len(scores))}
    moved = {i: [means[0] + shift] for i, means in judges.items()}
    forth = drift(sheets, judges=judges, minimum=2, seed=1, permutations=100)["a"]
    back = drift(sheets[::-1], judges=judges, minimum=2, seed=1, permutations=100)["a"]
    level = drift(sheets, judges=moved, minimum=2, seed=1, permutations=100)["a"]
    assert forth.difference.value is not None and back.difference.value is not None
    assert back.difference.value == pytest.approx(-forth.difference.value)
    # Where the reference lies does not matter, only how the rater moves against it.
    assert level.difference.value == pytest.approx(forth.difference.value)
    assert level.p_value == forth.p_value


def test_false_alarms_are_as_rare_as_stated() -> None:
    # 200 raters without drift: p ≤ 0.05 for 10 on average (standard deviation 3.1).
    rng = np.random.default_rng(11)
    sheets = [(r, (r, i), [int(rng.integers(1, 6))]) for r in range(200) for i in range(30)]
    judges = {item: [3.0] for _, item, _ in sheets}
    found = drift(sheets, judges=judges, seed=1, permutations=200)
    alarms = sum(one.p_value is not None and one.p_value <= 0.05 for one in found.values())
    assert 2 <= alarms <= 20
