"""Extremes: what may be said of the highest and lowest, by hand and with groups that are equal."""

import numpy as np
import pytest

from analysis.reports.extremes import standing
from analysis.stats.comparison.detectable import smallest_difference
from analysis.stats.comparison.extremes import (
    clear_differences,
    find_extreme,
    group_differences,
    paired_groups,
    pairs_of,
    separate_groups,
)

TASKS = list(range(20))


def means(columns: dict[str, list[float]]) -> dict[str, float | None]:
    return {name: sum(column) / len(column) for name, column in columns.items()}


def paired(columns: dict[str, list[float]], *, comparisons: int | None = None):  # type: ignore[no-untyped-def]
    names = [name for name, column in columns.items() for _ in column]
    tasks = [task for column in columns.values() for task in range(len(column))]
    values = [value for column in columns.values() for value in column]
    size = comparisons or pairs_of(len(columns))
    return paired_groups(names, tasks, values, comparisons=size, most=1.0)


def test_every_verdict() -> None:
    ones, zeros, half = [1.0] * 20, [0.0] * 20, [1.0] * 10 + [0.0] * 10
    for columns, verdict, names, words in (
        ({}, "none", (), "no agent has a value"),
        ({"a": half}, "alone", ("a",), "a has 50.0 %, with no other agent to compare"),
        ({"a": zeros, "b": zeros}, "equal", ("a", "b"), "both agents have 0.0 %"),
        ({"a": ones, "b": half}, "clear", ("a",), "a leads with 100.0 %, 50.0 points above b ("),
        ({"a": ones, "b": ones, "c": half}, "clear", ("a", "b"), "a and b share 100.0 %, 50.0"),
        ({"a": ones, "b": ones[:-1] + [0.0]}, "unclear", ("a",), "no agent clearly leads; a has"),
    ):
        found = find_extreme(means(columns), paired(columns))
        assert (found.verdict, found.names) == (verdict, names)
        assert standing(found, "share").startswith(words)
    # The one that is next may be clearly apart while another, with few common tasks, is not.
    columns = {"a": ones, "b": half, "c": [0.0, 0.0]}
    assert find_extreme(means(columns), paired(columns)).rivals == ("c",)


def test_a_difference_on_fewer_tasks_than_the_values_is_named_as_such() -> None:
    # On the two tasks that both have, "a" has 1 and "b" 0; over all tasks 0.75 and 0.
    columns = {"a": [1.0, 1.0, 0.0, 1.0], "b": [0.0, 0.0]}
    found = find_extreme(means(columns), paired(columns))
    assert not found.same_tasks
    words = standing(found, "share")
    assert "a has 75.0 %, 100.0 points above b on the tasks of both (95 % interval " in words
    assert words.endswith("n = 2 tasks)")
    same = find_extreme({"a": 1.0, "b": 0.0}, paired({"a": [1.0] * 3, "b": [0.0] * 3}))
    assert same.same_tasks and "of both" not in standing(same, "share")


def test_the_lowest_is_an_extreme_too() -> None:
    columns = {"a": [1.0] * 20, "b": [0.0] * 20}
    found = find_extreme(means(columns), paired(columns), lowest=True)
    assert found.is_clear and found.names == ("b",) and found.next == "a"
    assert standing(found, "share", lowest=True).startswith(
        "b is lowest at 0.0 %, 100.0 points below"
    )


def test_kinds_of_task_share_no_task_and_need_several() -> None:
    # Wilson's intervals of 10 of 10 and 0 of 10 give Newcombe's interval of their difference.
    names, tasks = ["easy"] * 10 + ["hard"] * 10, list(range(20))
    found = group_differences(names, tasks, [1.0] * 10 + [0.0] * 10, comparisons=1)("easy", "hard")
    assert found.value == 1 and found.n == 20 and found.interval is not None
    low = 10 / (10 + 1.959964**2)
    assert found.interval.low == pytest.approx(1 - np.sqrt(2) * (1 - low), abs=1e-5)
    # Two tasks, tried five times each: nothing is said however often they were tried.
    few = separate_groups(
        ["a"] * 10 + ["b"] * 10, [1] * 5 + [2] * 5 + [3] * 5 + [4] * 5,
        [1.0] * 10 + [1.0] + [0.0] * 9, comparisons=1,
    )("a", "b")  # fmt: skip
    assert not few.is_clear
    one = separate_groups(["a", "b", "b"], [1, 2, 3], [1.0, 0.0, 1.0], comparisons=1)("a", "b")
    assert one.interval is None


def test_of_groups_that_are_equal_in_truth_hardly_one_is_named() -> None:
    rng = np.random.default_rng(7)
    named = apart = 0
    for _ in range(200):
        columns = {f"a{k}": (rng.random(20) < 0.4).astype(float).tolist() for k in range(5)}
        difference = paired(columns)
        named += any(
            find_extreme(means(columns), difference, lowest=lowest).is_clear
            for lowest in (False, True)
        )
        apart += bool(clear_differences(list(columns), difference))
    assert named <= apart <= 10 + 8


def test_the_smallest_difference_is_found_with_its_power() -> None:
    rng = np.random.default_rng(8)
    first = rng.normal(size=40)
    names = ["a"] * 40 + ["b"] * 40
    tasks = [*range(40), *range(40)]
    noise = rng.normal(size=40)
    plain = paired_groups(names, tasks, [*(first + noise), *first], comparisons=3)("a", "b")
    size = smallest_difference(plain)
    assert size is not None
    hits = 0
    for _ in range(200):
        moved = first + rng.normal(scale=noise.std(), size=40) + size
        hits += paired_groups(names, tasks, [*moved, *first], comparisons=3)("a", "b").is_clear
    assert 140 <= hits <= 180
