"""Judges by how far people agree, and the effect of length: planted values and empty groups."""

import numpy as np
import pytest

from analysis.stats.judges.people_agree import (
    AGREE,
    APART,
    GROUPS,
    NEAR,
    NO_ITEM,
    ONE_LENGTH,
    ONE_PERSON,
    judge_by_agreement,
    length_effect,
)

NAN = float("nan")


def test_items_are_grouped_by_the_spread_of_people() -> None:
    people = [[3, 3, NAN], [4, 4, 4], [3, 4, NAN], [1, 3, 5], [2, NAN, NAN]]
    groups = judge_by_agreement("J", [3, 5, 4, 3, 2], people, ["a", "b", "c", "d", "e"])
    by_name = {group.group: group for group in groups}
    assert tuple(by_name) == GROUPS
    assert by_name[AGREE].judge_equal.value == 0.5 and by_name[AGREE].judge_equal.n == 2
    assert by_name[AGREE].people_equal.value == 1 and by_name[AGREE].gap.value == -0.5
    assert by_name[AGREE].distance.value == 0.5
    # The judge equals one of two people who never equal each other: better than they do.
    assert by_name[NEAR].judge_equal.value == 0.5 and by_name[NEAR].gap.value == 0.5
    assert by_name[APART].judge_equal.value == pytest.approx(1 / 3)
    assert by_name[APART].people_equal.value == 0


def test_a_group_without_items_and_single_raters_are_undefined() -> None:
    groups = judge_by_agreement("J", [3, 4], [[3, 3], [4, 4]], ["a", "b"])
    assert groups[1].judge_equal.undefined == NO_ITEM
    alone = judge_by_agreement("J", [3, 4], [[3, NAN], [NAN, 4]], ["a", "b"])
    assert {group.gap.undefined for group in alone} == {ONE_PERSON}
    # A judge who gave no score has nothing to compare.
    none = judge_by_agreement("J", [NAN], [[3, 3]], ["a"])
    assert none[0].gap.undefined == ONE_PERSON


def test_people_who_disagree_everywhere_are_no_error_of_a_judge_like_them() -> None:
    """Of people and a judge who score alike at random, the gap is 0 in each group together."""
    held = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        size = 90
        scores = rng.integers(1, 6, (size, 3)).astype(float)
        tasks = np.repeat(np.arange(size // 3), 3).tolist()
        judge = rng.integers(1, 6, size).astype(float)
        groups = judge_by_agreement("J", judge, scores, tasks)
        # Among those far apart, by construction, people equal each other less than a stranger.
        equal = groups[2].judge_equal
        assert equal.interval is not None
        held.append(equal.interval.holds(0.2))
    assert 0.9 <= np.mean(held) <= 0.99


def test_a_planted_effect_of_length_is_within_its_interval() -> None:
    held = []
    for seed in range(200):
        rng = np.random.default_rng([seed, 1])
        task = np.repeat(np.arange(30), 4)
        words = rng.integers(20, 400, task.size)
        noise = rng.normal(0, 0.4, 30)[task] + rng.normal(0, 0.5, task.size)
        effect = length_effect(1 + 0.2 * np.log2(words) + noise, words, task.tolist())
        assert effect.interval is not None
        held.append(effect.interval.holds(0.2))
    assert 0.9 <= np.mean(held) <= 0.99


def test_length_says_nothing_where_it_does_not_vary() -> None:
    tasks = ["a", "b", "c", "d"]
    assert length_effect([1, 2, 3, 4], [10] * 4, tasks).undefined == ONE_LENGTH
    assert "3 tasks" in length_effect([1, 2, 3, NAN], [1, 2, 3, 4], tasks).undefined
    assert length_effect([1, 2, 3, 4], [2, 4, 8, 16], tasks).value == pytest.approx(1)
