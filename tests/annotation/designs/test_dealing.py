"""Dealing: k raters for each item, nobody their own, equal loads, or a reason that holds."""

from collections import Counter
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.designs.dealing import ItemLimits, deal_options
from annotation.designs.types import Allocation, DesignError, DesignOption


def make_options(tasks: int, models: int) -> list[DesignOption]:
    return [
        DesignOption(t * models + m, f"t{t}", f"m{m}") for t in range(tasks) for m in range(models)
    ]


def names(count: int) -> list[str]:
    return [f"a{n}" for n in range(count)]


def loads(dealt: Allocation) -> list[int]:
    return [len(order) for order in dealt.orders.values()]


def test_the_papers_design_is_240_seats_of_30_each() -> None:
    dealt = deal_options(
        options=make_options(24, 10), annotators=names(8), raters=1, seed=1, unit="task"
    )
    assert loads(dealt) == [30] * 8
    assert dealt.assignments == 240
    for order in dealt.orders.values():
        assert Counter(pk // 10 for pk in order).most_common() == [
            (task, 10) for task, _ in Counter(pk // 10 for pk in order).most_common()
        ]
        assert len({pk // 10 for pk in order}) == 3


@st.composite
def wishes(draw: st.DrawFn) -> dict[str, Any]:
    people = names(draw(st.integers(1, 6)))
    count = draw(st.integers(1, 14))
    return {
        "options": [
            DesignOption(n, f"t{draw(st.integers(0, 3))}", f"m{draw(st.integers(0, 2))}")
            for n in range(count)
        ],
        "annotators": people,
        "raters": draw(st.integers(1, len(people))),
        "seed": draw(st.integers(0, 9)),
        "unit": draw(st.sampled_from(["item", "task"])),
        "exclusions": draw(
            st.dictionaries(
                st.sampled_from([*people, "stranger"]), st.sets(st.integers(0, 16)), max_size=3
            )
        ),
    }


@given(wishes())
@settings(max_examples=100)
def test_every_item_has_its_raters_and_nobody_an_excluded_one(wish: dict[str, Any]) -> None:
    options, people, raters = wish["options"], wish["annotators"], wish["raters"]
    excluded: Mapping[str, set[int]] = wish["exclusions"]
    whole = wish["unit"] == "task"
    units: dict[Any, set[int]] = {}
    for option in options:
        units.setdefault(option.task if whole else option.id, set()).add(option.id)
    may = {
        unit: [p for p in people if not excluded.get(p, set()) & ids] for unit, ids in units.items()
    }
    if any(len(allowed) < raters for allowed in may.values()):
        with pytest.raises(DesignError, match="may judge it") as error:
            deal_options(**wish)
        poor = set().union(*(units[unit] for unit, allowed in may.items() if len(allowed) < raters))
        assert set(error.value.options) == poor
        return
    dealt = deal_options(**wish)
    times = Counter(pk for order in dealt.orders.values() for pk in order)
    assert times == {option.id: raters for option in options}
    for name, order in dealt.orders.items():
        assert len(set(order)) == len(order)
        assert not excluded.get(name, set()) & set(order)
        for ids in units.values():
            assert ids <= set(order) or not ids & set(order)
    had = {
        name: sum(ids <= set(order) for ids in units.values())
        for name, order in dealt.orders.items()
    }
    spread = max(had.values()) - min(had.values())
    if not any(set(range(17)) & ids for name, ids in excluded.items() if name in people):
        assert spread <= 1
        assert not dealt.warnings
    assert bool(dealt.warnings) == (spread > 1)


@given(wishes(), st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_the_order_given_does_not_matter(wish: dict[str, Any], chance: Any) -> None:
    mixed = dict(wish)
    for key in ("options", "annotators"):
        mixed[key] = chance.sample(wish[key], len(wish[key]))
    try:
        dealt = deal_options(**wish)
    except DesignError as error:
        with pytest.raises(DesignError) as other:
            deal_options(**mixed)
        assert other.value.problems == error.problems
    else:
        assert deal_options(**mixed) == dealt


def ways(may: list[list[int]], raters: int) -> list[list[int]]:
    """Every possible vector of loads, by trying everything."""
    found = {tuple([0] * 3)}
    for allowed in may:
        chosen = [c for c in product((0, 1), repeat=3) if sum(c) == raters]
        chosen = [c for c in chosen if all(p in allowed for p in range(3) if c[p])]
        found = {
            (a + x, b + y, c + z) for a, b, c in found for x, y, z in chosen
        }  # fmt: skip
    return [list(vector) for vector in found]


@given(
    may=st.lists(st.sets(st.integers(0, 2), min_size=1).map(sorted), min_size=1, max_size=7),
    limits=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=3, max_size=3),
    raters=st.integers(1, 2),
)
@settings(max_examples=100)
def test_limits_are_met_exactly_when_any_dealing_meets_them(
    may: list[list[int]], limits: list[tuple[int, int]], raters: int
) -> None:
    may = [allowed for allowed in may if len(allowed) >= raters] or [[0, 1, 2]]
    capacities = {
        f"a{n}": ItemLimits(least, least + more) for n, (least, more) in enumerate(limits)
    }
    possible = [
        vector
        for vector in ways(may, raters)
        if all(
            c.least <= n <= (c.most or 0) for n, c in zip(vector, capacities.values(), strict=True)
        )
    ]
    wish: dict[str, Any] = {
        "options": [DesignOption(n, f"t{n}") for n in range(len(may))],
        "annotators": names(3), "raters": raters, "seed": 1, "capacities": capacities,
        "exclusions": {
            f"a{p}": {n for n, allowed in enumerate(may) if p not in allowed} for p in range(3)
        },
    }  # fmt: skip
    if not possible:
        with pytest.raises(DesignError) as error:
            deal_options(**wish)
        assert error.value.field == "capacities"
        return
    got = [len(order) for order in deal_options(**wish).orders.values()]
    # as equal as can be: no possible vector has a smaller sum of squares
    assert got in possible
    assert sum(n * n for n in got) == min(sum(n * n for n in vector) for vector in possible)


def test_what_cannot_be_placed_is_named_with_the_reason() -> None:
    wish: dict[str, Any] = {
        "options": make_options(10, 1), "annotators": ["Ann", "Ben", "Cy"], "raters": 1, "seed": 1,
        "exclusions": {"Ann": [0, 1, 2, 3], "Ben": [0, 1, 2, 3]},
        "capacities": {"Cy": ItemLimits(most=3)},
    }  # fmt: skip
    with pytest.raises(DesignError) as error:
        deal_options(**wish)
    assert error.value.options == (0, 1, 2, 3)
    (words,) = error.value.problems
    assert words.startswith(
        "4 items (0, 1, 2, 3) need 4 ratings of Cy, who may take 3 items in all "
        "(nobody else may take more of these)"
    )
    wish["capacities"] = {"Ann": ItemLimits(least=7)}
    with pytest.raises(DesignError, match="Ann are to get at least 7 items, and only 6 can go"):
        deal_options(**wish)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"options": []}, "options"),
        ({"annotators": []}, "annotators"),
        ({"annotators": ["a", "a"]}, "annotators"),
        ({"raters": 3}, "raters"),
        ({"raters": 0}, "raters"),
        ({"capacities": {"z": ItemLimits()}}, "capacities"),
        ({"capacities": {"a": ItemLimits(3, 2)}}, "capacities"),
        ({"capacities": {"a": ItemLimits(1, 3)}, "unit": "task"}, "capacities"),
    ],
)
def test_wishes_that_make_no_sense_are_refused(change: dict[str, Any], field: str) -> None:
    wish: dict[str, Any] = {
        "options": make_options(4, 4), "annotators": ["a", "b"], "raters": 1, "seed": 1,
    }  # fmt: skip
    with pytest.raises(DesignError) as error:
        deal_options(**wish | change)
    assert error.value.field == field


def test_whole_tasks_of_unequal_size_are_packed_into_limits() -> None:
    # 5 + 4 + 3 + 3 + 3: of two people with 9 each only 5 + 4 and 3 + 3 + 3 will do
    sizes = [5, 4, 3, 3, 3]
    options = [
        DesignOption(t * 10 + n, f"t{t}") for t, size in enumerate(sizes) for n in range(size)
    ]
    nine = {"a": ItemLimits(9, 9), "b": ItemLimits(most=9)}
    wish: dict[str, Any] = {
        "options": options, "annotators": ["a", "b"], "raters": 1, "seed": 1, "unit": "task",
        "capacities": nine,
    }  # fmt: skip
    shares = {frozenset(pk // 10 for pk in order) for order in deal_options(**wish).orders.values()}
    assert shares == {frozenset({0, 1}), frozenset({2, 3, 4})}
    wish["capacities"] = {"a": ItemLimits(10, 10), "b": ItemLimits(8, 8)}
    assert sorted(loads(deal_options(**wish))) == [8, 10]  # 4 + 3 + 3 and 5 + 3
    wish["capacities"] = {"a": ItemLimits(1, 2)}
    with pytest.raises(DesignError, match="whole tasks of 3, 4, 5 items cannot be fitted"):
        deal_options(**wish)


def test_unequal_tasks_are_exchanged_until_items_are_even() -> None:
    sizes = [9, 9, 1, 1, 5, 5]
    options = [
        DesignOption(t * 10 + n, f"t{t}") for t, size in enumerate(sizes) for n in range(size)
    ]
    dealt = deal_options(options=options, annotators=["a", "b"], raters=1, seed=3, unit="task")
    assert loads(dealt) == [15, 15]


def test_people_models_tasks_and_pairs_are_spread() -> None:
    options = make_options(24, 10)
    dealt = deal_options(options=options, annotators=names(8), raters=3, seed=5)
    by_model = Counter((name, pk % 10) for name, order in dealt.orders.items() for pk in order)
    assert set(by_model.values()) == {9}
    by_task = Counter((name, pk // 10) for name, order in dealt.orders.items() for pk in order)
    assert max(by_task.values()) <= 6  # 3.75 on average
    own = {name: set(order) for name, order in dealt.orders.items()}
    pairs = [len(own[a] & own[b]) for a in own for b in own if a < b]
    assert max(pairs) - min(pairs) <= 8  # 25.7 on average


def test_many_items_are_dealt_evenly() -> None:
    options = make_options(2_000, 10)
    dealt = deal_options(
        options=options,
        annotators=names(50),
        raters=3,
        seed=1,
        exclusions={name: range(n * 40, n * 40 + 40) for n, name in enumerate(names(50))},
    )
    assert loads(dealt) == [1200] * 50
