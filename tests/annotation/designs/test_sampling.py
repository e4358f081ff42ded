"""Samples: what was asked for and no more, the same for one seed, shortage said per stratum."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.designs.sampling import Sample, Sampled, sample_options
from annotation.designs.types import DesignError, DesignOption

# 12 tasks of five models; two thirds of the tasks are of level low
OPTIONS = [
    DesignOption(
        task * 10 + model,
        f"t{task}",
        f"m{model}",
        {"level": "high" if task % 3 == 0 else "low", "ending": "valid" if model < 2 else "early"},
    )
    for task in range(12)
    for model in range(5)
]


def draw(options: Sequence[DesignOption] = OPTIONS, seed: int = 1, **wish: Any) -> Sampled:
    return sample_options(options=options, sample=Sample(**wish), seed=seed)


def test_all_is_all() -> None:
    assert draw().options == tuple(sorted(OPTIONS, key=lambda option: option.id))


def test_so_many_of_each_model_and_of_each_task() -> None:
    of_models = draw(way="per_model", count=4).options
    assert Counter(option.model for option in of_models) == {f"m{n}": 4 for n in range(5)}
    of_tasks = draw(way="per_task", count=2).options
    assert Counter(option.task for option in of_tasks) == {f"t{n}": 2 for n in range(12)}


def test_whole_tasks_come_with_all_their_models() -> None:
    sampled = draw(way="total", count=3, whole_tasks=True)
    assert sampled.unit == "task"
    assert set(Counter(option.task for option in sampled.options).values()) == {5}
    assert len(sampled.options) == 15


def test_shares_of_strata_by_largest_remainder() -> None:
    # 4 of 12 tasks are high: of 7, shares are 2⅓ and 4⅔, so the second gets the one left over
    rows = draw(way="stratified", count=7, strata=("level",), whole_tasks=True).report
    assert {row.stratum: (row.available, row.taken) for row in rows} == {
        ("high",): (4, 2),
        ("low",): (8, 5),
    }


def test_equal_strata_of_two_keys() -> None:
    sampled = draw(
        way="stratified", count=22, strata=("level", "ending"), allocation="equal"
    )  # fmt: skip
    taken = [row.taken for row in sampled.report]
    assert sorted(taken) == [5, 5, 6, 6]
    assert sampled.keys == ("level", "ending")


def test_shortage_is_an_error_that_names_the_strata_or_is_reported() -> None:
    wish: dict[str, Any] = {
        "way": "stratified", "count": 12, "strata": ("level",), "allocation": "equal",
        "whole_tasks": True,
    }  # fmt: skip
    with pytest.raises(DesignError, match="level high: 6 tasks are asked for, and there are 4"):
        draw(**wish)
    sampled = draw(**wish, take_fewer=True)
    assert [(row.stratum, row.short) for row in sampled.report] == [(("high",), 2), (("low",), 0)]


@pytest.mark.parametrize(
    ("wish", "field", "words"),
    [
        ({"way": "total", "count": 61}, "count", "61 items are asked for, and there are 60"),
        ({"way": "total"}, "count", "1 or more"),
        ({"count": 3}, "count", "leave the number empty"),
        ({"way": "per_model", "count": 1, "whole_tasks": True}, "whole_tasks", "single items"),
        ({"way": "stratified", "count": 1}, "strata", "name the keys"),
        ({"way": "stratified", "count": 1, "strata": ("x",)}, "strata", "no 'x'; it has ending"),
        (
            {"way": "stratified", "count": 1, "strata": ("model",), "whole_tasks": True},
            "strata",
            "task t0 lies in 5 strata",
        ),
        (
            {"way": "stratified", "count": 99, "strata": ("level",)},
            "count",
            "99 items are asked for, and there are 60",
        ),
    ],
)
def test_wishes_that_make_no_sense_are_refused(
    wish: dict[str, Any], field: str, words: str
) -> None:
    with pytest.raises(DesignError, match=words) as error:
        draw(**wish)
    assert error.value.field == field


def test_one_id_for_two_options_is_refused() -> None:
    with pytest.raises(DesignError, match="two different options have the id 1"):
        draw([DesignOption(1, "a"), DesignOption(1, "b")])


@given(st.permutations(OPTIONS), st.integers(0, 5), st.integers(1, 59))
@settings(max_examples=20)
def test_a_sample_depends_on_seed_alone_and_a_larger_one_holds_it(
    mixed: list[DesignOption], seed: int, count: int
) -> None:
    small = draw(mixed, seed, way="total", count=count)
    assert small.options == draw(OPTIONS, seed, way="total", count=count).options
    larger = draw(mixed, seed, way="total", count=count + 1).options
    assert {option.id for option in small.options} < {option.id for option in larger}


@given(st.integers(1, 60), st.sampled_from([("level",), ("model", "level"), ("ending", "task")]))
def test_shares_add_up_and_miss_the_exact_share_by_less_than_one(
    count: int, strata: tuple[str, ...]
) -> None:
    rows = draw(way="stratified", count=count, strata=strata).report
    assert sum(row.taken for row in rows) == count
    assert all(abs(row.taken - count * row.available / 60) < 1 for row in rows)
