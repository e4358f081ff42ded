"""Judges asked again, mapped onto people, put together in panels: by hand, and what must hold."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.judges.calibration import calibrate, monotone_fit
from analysis.stats.judges.panel_choice import NO_PERSON, PanelChoice, panel_choice
from analysis.stats.judges.rejudging import NEITHER, NO_COMMON, NO_SCORES, ONE_ONLY, score_change
from analysis.stats.judges.rejudging import verdict_change as verdicts
from analysis.stats.judges.repeats import NO_PAIR, ONE_REPLY, repeat_consistency

FAST: Any = {"seed": 1, "resamples": 100}
Table = list[list[float | None]]
SCORE = st.integers(1, 5)


# --- Consistency ----------------------------------------------------------------------------------


def test_replies_by_hand() -> None:
    scores: Table = [[4, 4, 5], [2, 4, None], [3, 3, 3], [1, None, None]]
    found = repeat_consistency(scores, tasks="abcd", **FAST)
    # Of the pairs 1 of 3, 0 of 1 and 3 of 3 are equal; within one 3 of 3, 0 of 1, 3 of 3.
    assert found.equal.value == pytest.approx((1 / 3 + 0 + 1) / 3)
    assert found.within_one.value == pytest.approx(2 / 3)
    # Squares around means 13/3, 3 and 3 are 2/3, 2 and 0; degrees of freedom 2 + 1 + 2.
    assert found.sd.value == pytest.approx(np.sqrt((2 / 3 + 2) / 5))
    assert (found.unreadable.hits, found.unreadable.of) == (3, 12)
    assert (found.replicates, found.items) == (3, 3)
    # One-way: N = 9, Σx = 29; W = (8/3)/5, m₀ = (9 − 23/9)/3, B = (Σ(Σx)²/m − 29²/9)/3.
    within, m = 8 / 15, (9 - 23 / 9) / 3
    between = (169 / 3 + 18 + 27 + 1 - 29**2 / 9) / 3
    assert found.icc.value == pytest.approx((between - within) / (between + (m - 1) * within))


def test_one_reply_says_nothing_of_consistency_but_may_be_unreadable() -> None:
    found = repeat_consistency([[4], [None]], tasks=[1, 2], **FAST)
    assert found.equal.undefined == found.icc.undefined == found.sd.undefined == ONE_REPLY
    assert found.unreadable.wilson.value == 0.5
    pairless = repeat_consistency([[4, None]], tasks=[1], **FAST)
    assert pairless.kappa.undefined == NO_PAIR
    # What was not asked for is no unreadable reply.
    asked = repeat_consistency([[4, None]], tasks=[1], asked=[[True, False]], **FAST)
    assert (asked.unreadable.hits, asked.unreadable.of) == (0, 1)
    assert asked.equal.undefined == ONE_REPLY
    with pytest.raises(ValueError, match="different shapes"):
        repeat_consistency([[4, 4]], tasks=[1], asked=[[True]], **FAST)


@settings(max_examples=5)
@given(st.lists(st.tuples(SCORE, SCORE, SCORE), min_size=3, max_size=8), st.permutations(range(3)))
def test_order_of_replies_and_a_second_copy_do_not_matter(
    rows: list[tuple[int, int, int]], order: list[int]
) -> None:
    tasks = list(range(len(rows)))
    found = repeat_consistency(rows, tasks=tasks, **FAST)
    turned = [[row[k] for k in order] for row in rows]
    other = repeat_consistency([*turned, *turned], tasks=[*tasks, *tasks], **FAST)
    for name in ("equal", "within_one", "sd", "kappa"):
        mine, theirs = getattr(found, name).value, getattr(other, name).value
        assert mine == pytest.approx(theirs), name


# --- Two judgings ---------------------------------------------------------------------------------


def test_a_second_judging_by_hand() -> None:
    first, second = [4, 3, 5, 2, None, None], [5, 3, 3, 2, 4, None]
    found = score_change(first, second, tasks="aabbcc", **FAST)
    # Differences 1, 0, −2, 0.
    assert found.difference.value == -0.25 and found.absolute.value == 0.75
    assert (found.changed.hits, found.changed.of) == (2, 4)
    assert (found.n, found.up, found.down) == (4, 1, 1)
    assert found.difference.excluded == {ONE_ONLY: 1, NEITHER: 1}
    # Weights 1 − d²/16, by chance over all pairs of a first with a second score.
    seen, chance = (
        (15 + 16 + 12 + 16) / 64,
        1 - sum((a - b) ** 2 for a in (4, 3, 5, 2) for b in (5, 3, 3, 2)) / (16 * 16),
    )
    assert found.kappa.value == pytest.approx((seen - chance) / (1 - chance))
    means = score_change([4.5, 3], [4, 3], tasks="ab", **FAST)
    assert means.kappa.undefined == NO_SCORES and means.down == 1
    nothing = score_change([4], [None], tasks="a", **FAST)
    assert nothing.difference.undefined == nothing.changed.wilson.undefined == NO_COMMON


def test_verdicts_that_turn() -> None:
    found = verdicts([True, True, False, None], [True, False, True, True], tasks="abca")
    assert (found.flipped.hits, found.flipped.of) == (2, 3)
    assert (found.gained, found.lost, found.difference.value) == (1, 1, 0)
    assert found.difference.excluded == {ONE_ONLY: 1}


@settings(max_examples=5)
@given(st.lists(st.tuples(SCORE, SCORE), min_size=2, max_size=10))
def test_looking_from_the_other_side_turns_the_sign(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    tasks = list(range(len(pairs)))
    there = score_change(first, second, tasks=tasks, **FAST)
    back = score_change(second * 2, first * 2, tasks=tasks * 2, **FAST)
    assert there.difference.value == pytest.approx(-(back.difference.value or 0))
    assert (2 * there.up, 2 * there.down) == (back.down, back.up)
    assert there.changed.clustered.value == back.changed.clustered.value
    assert there.kappa.value == pytest.approx(back.kappa.value)


# --- Calibration ----------------------------------------------------------------------------------


def test_the_closest_map_that_never_falls() -> None:
    # Means 1, 4 (two values), 2.5 and 5: the fall from 4 to 2.5 is pooled to 10.5/3.
    places, fitted = monotone_fit([1, 2, 2, 3, 4], [1, 3, 5, 2.5, 5])
    assert places.tolist() == [1, 2, 3, 4]
    assert fitted == pytest.approx([1, 3.5, 3.5, 5])


@settings(max_examples=15)
@given(st.lists(st.tuples(SCORE, SCORE), min_size=1, max_size=20))
def test_monotone_maps_rise_and_keep_the_mean(pairs: list[tuple[int, int]]) -> None:
    x, y = map(np.array, zip(*pairs, strict=True))
    places, fitted = monotone_fit(x, y)
    assert all(a <= b + 1e-12 for a, b in pairwise(fitted.tolist()))
    assert np.interp(x, places, fitted).mean() == pytest.approx(y.mean())


def test_a_judge_that_is_one_point_high_is_mapped_onto_people() -> None:
    people = [1 + n % 4 for n in range(40)]
    judge = [said + 1 for said in people]
    tasks = [n // 2 for n in range(40)]
    for form in ("linear", "monotone"):
        found = calibrate(judge, people, tasks=tasks, form=form, seed=1)
        assert (found.n, found.tasks, found.folds) == (40, 20, 5)
        assert (found.bias.value, found.error.value) == (1, 1)
        assert found.error_after.value == pytest.approx(0, abs=1e-9)
        assert found.gain.value == pytest.approx(-1) and (found.worth.value or 0) < -0.9
        assert dict(found.curve)[3] == pytest.approx(2)
    # No score of 1 occurs: the monotone map stays what it is at 2, the line is cut at the scale.
    assert found.curve[0] == (1, 1)


def test_a_judge_that_says_nothing_is_worth_nothing_and_few_items_give_no_map() -> None:
    people: list[float | None] = [2 + n % 3 for n in range(42)]
    found = calibrate([3] * 42, people, tasks=list(range(42)), seed=1)
    assert found.worth.value == pytest.approx(0) and found.warnings == ()
    few = calibrate([3, 4, None], [3, None, 4], tasks="abc", seed=1)
    assert "only 1 item of 1 task" in few.gain.undefined and few.curve == ()
    assert few.bias.value == 0 and few.bias.excluded == {"no person scored it": 1,
                                                         "the judge gave no score": 1}  # fmt: skip
    with pytest.raises(ValueError, match="unknown form"):
        calibrate([1], [1], tasks="a", form="cubic", seed=1)


@settings(max_examples=5)
@given(st.lists(st.tuples(SCORE, SCORE), min_size=30, max_size=32))
def test_every_item_twice_changes_no_map(pairs: list[tuple[int, int]]) -> None:
    judge, people = zip(*pairs, strict=True)
    tasks = [n % 11 for n in range(len(pairs))]
    once = calibrate(judge, people, tasks=tasks, seed=1)
    twice = calibrate(judge * 2, people * 2, tasks=tasks * 2, seed=1)
    assert dict(once.curve) == pytest.approx(dict(twice.curve))
    assert once.gain.value == pytest.approx(twice.gain.value)


# --- Panels ---------------------------------------------------------------------------------------


def choice(table: Table, people: list[float | None], names: str = "abc") -> PanelChoice:
    tasks = list(range(len(table)))
    return panel_choice(names, table, people, tasks=tasks, **FAST,
                        costs={"a": 1.0, "b": 0.5})  # fmt: skip


def test_every_panel_by_hand() -> None:
    # a says what people say, b one more, c three more: means of a and b are 0.5 off.
    people: list[float | None] = [1 + n % 2 for n in range(12)]
    table: Table = [[p, p + 1, p + 3] for p in people if p is not None]
    found = choice([*table, [1, None, 4]], [*people, 2])
    assert len(found.panels) == 7 and found.full.judges == ("a", "b", "c")
    errors = {"".join(panel.judges): panel for panel in found.panels}
    assert found.best == errors["a"] and errors["a"].error.value == 0
    assert errors["ab"].error.value == 0.5 and errors["abc"].error.value == pytest.approx(4 / 3)
    assert errors["ab"].change.value == pytest.approx(0.5 - 4 / 3)
    # All judges together are 4/3 over people, a and b 1/2.
    assert errors["ab"].distance.value == pytest.approx(4 / 3 - 0.5)
    assert (errors["ab"].cost, errors["abc"].cost) == (1.5, None)
    assert (found.items, found.complete, found.scored) == (13, 12, 12)
    assert (found.choosing, found.held_out) == (6, 6)


def test_without_people_panels_are_held_against_all_judges_alone() -> None:
    found = choice([[1, 2, 3]] * 4, [None, None, None, 3])
    assert found.best is None and "only 1 task" in found.full.error.undefined
    assert found.panels[1].distance.value == 0.5 and found.full.distance.value == 0
    many = [*[[1.0, 2, 3]] * 12, [3.0, 2, 1]]
    some = choice(many, [*[2.0] * 12, None])
    assert some.full.error.excluded[NO_PERSON] == 1
    with pytest.raises(ValueError, match="1 to 8 judges"):
        panel_choice("abcdefghi", [[1] * 9], [1], tasks=[1], **FAST)
    with pytest.raises(ValueError, match="named twice"):
        panel_choice("aa", [[1, 1]], [1], tasks=[1], **FAST)


@settings(max_examples=5)
@given(
    st.lists(st.tuples(SCORE, SCORE, SCORE, SCORE), min_size=12, max_size=14),
    st.permutations(range(3)),
)
def test_names_and_order_of_judges_do_not_matter(
    rows: list[tuple[int, int, int, int]], order: list[int]
) -> None:
    people: list[float | None] = [row[3] for row in rows]
    found = choice([list(row[:3]) for row in rows], people)
    other = choice(
        [[row[k] for k in order] for row in rows], people, "".join("abc"[k] for k in order)
    )
    theirs = {frozenset(panel.judges): panel for panel in other.panels}
    for panel in found.panels:
        twin = theirs[frozenset(panel.judges)]
        assert panel.chosen == pytest.approx(twin.chosen)
        assert panel.error.value == pytest.approx(twin.error.value)
        assert panel.distance.value == pytest.approx(twin.distance.value)
