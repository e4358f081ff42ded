"""Orders: nothing lost, the balance that is promised, tasks apart, the same for one seed."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.designs.colouring import colour_edges
from annotation.designs.dealing import deal_options
from annotation.designs.orders import POOL, Method, order_options, order_pool, williams_row
from annotation.designs.types import Allocation, DesignOption

METHODS: list[Method] = ["random", "blocks", "latin"]


def deal(
    *, tasks: int, models: int, people: int, raters: int, seed: int = 1, unit: str = "task"
) -> Allocation:
    return deal_options(
        options=[
            DesignOption(t * models + m, f"t{t}", f"m{m}")
            for t in range(tasks)
            for m in range(models)
        ],
        annotators=[f"a{n}" for n in range(people)],
        raters=raters,
        seed=seed,
        unit=unit,  # type: ignore[arg-type]
    )


def listed(dealt: Allocation) -> list[list[DesignOption]]:
    known = {option.id: option for option in dealt.options}
    return [[known[pk] for pk in order] for order in dealt.orders.values()]


options_strategy = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=25
).map(lambda pairs: [DesignOption(n, f"t{t}", f"m{m}") for n, (t, m) in enumerate(pairs)])


@pytest.mark.parametrize("method", METHODS)
@given(options=options_strategy, people=st.integers(1, 4), seed=st.integers(0, 9))
@settings(max_examples=30)
def test_an_order_keeps_everybodys_items_and_depends_on_seed_alone(
    method: Method, options: list[DesignOption], people: int, seed: int
) -> None:
    names = [f"a{n}" for n in range(people)]
    dealt = deal_options(options=options, annotators=names, raters=1, seed=seed)
    ordered = order_options(dealt=dealt, method=method)
    assert {name: tuple(sorted(order)) for name, order in ordered.orders.items()} == dealt.orders
    turned = Allocation(
        {name: dealt.orders[name][::-1] for name in names[::-1]},
        dealt.options[::-1],
        dealt.method,
        seed,
        dealt.warnings,
    )
    assert order_options(dealt=turned, method=method).orders == ordered.orders


# --- blocks


def test_blocks_hold_every_model_once_and_keep_tasks_apart() -> None:
    ordered = order_options(dealt=deal(tasks=24, models=10, people=8, raters=1), method="blocks")
    for items in listed(ordered):
        for block in range(0, 30, 10):
            assert len({option.model for option in items[block : block + 10]}) == 10
            # ten items of three tasks
            tasks = Counter(option.task for option in items[block : block + 10])
            assert sorted(tasks.values()) == [3, 3, 4]
        assert all(one.task != two.task for one, two in pairwise(items))
    assert ordered.warnings == ()


@given(options=options_strategy, seed=st.integers(0, 5))
@settings(max_examples=50)
def test_blocks_are_sound_for_any_mixture(options: list[DesignOption], seed: int) -> None:
    pool = order_pool(options=options, method="blocks", seed=seed)
    (items,) = listed(pool)
    most = max(Counter(option.model for option in items).values())
    # sizes of blocks differ by at most one and their order is by lot: find some cut that fits
    size = len(items) // most
    starts = {0}
    for _ in range(most):
        ends = {start + n for start in starts for n in (size, size + 1)}
        starts = {
            end
            for end in ends
            for start in (end - size, end - size - 1)
            if start in starts and end <= len(items)
            and len({option.model for option in items[start:end]}) == end - start
        }  # fmt: skip
    models = {option.model for option in items}
    assert len(items) in starts or len(models) == 1
    adjacent = sum(one.task == two.task for one, two in pairwise(items))
    assert bool(pool.warnings) == (adjacent > 0)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20), st.integers(0, 5))
def test_without_models_tasks_are_side_by_side_only_as_often_as_they_must(
    tasks: list[int], seed: int
) -> None:
    pool = order_pool(
        options=[DesignOption(n, f"t{task}") for n, task in enumerate(tasks)],
        method="blocks",
        seed=seed,
    )
    (items,) = listed(pool)
    most = max(Counter(tasks).values())
    adjacent = sum(one.task == two.task for one, two in pairwise(items))
    assert adjacent == max(0, 2 * most - len(tasks) - 1)
    assert all("no order has fewer" in words for words in pool.warnings)


def test_a_task_that_makes_up_half_of_a_long_list_is_still_kept_apart() -> None:
    tasks = [0] * 101 + list(range(1, 101))
    options = [DesignOption(n, f"t{task}") for n, task in enumerate(tasks)]
    for seed in range(10):
        (items,) = listed(order_pool(options=options, method="blocks", seed=seed))
        assert [option.task == "t0" for option in items] == [n % 2 == 0 for n in range(201)]


# --- Latin square


@pytest.mark.parametrize("models", [1, 2, 3, 4, 5, 8, 9, 10])
def test_williams_rows_balance_position_and_predecessor(models: int) -> None:
    count = models if models % 2 == 0 else 2 * models
    rows = [williams_row(models, index) for index in range(count)]
    for column in zip(*rows[:models], strict=True):
        assert sorted(column) == list(range(models))
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    assert len(pairs) == models * (models - 1)
    assert set(pairs.values()) <= {count // models}


@pytest.mark.parametrize(
    ("tasks", "models", "people"), [(3, 10, 10), (4, 4, 8), (2, 3, 6), (3, 5, 10), (1, 2, 2)]
)
def test_where_numbers_divide_the_square_is_exact(tasks: int, models: int, people: int) -> None:
    ordered = order_options(
        dealt=deal(tasks=tasks, models=models, people=people, raters=people), method="latin"
    )
    assert ordered.warnings == ()
    places: Counter[tuple[str, str, int]] = Counter()
    followed: Counter[tuple[str, str]] = Counter()
    blocks: Counter[tuple[str, int]] = Counter()
    for items in listed(ordered):
        for block in range(tasks):
            part = items[block * models : (block + 1) * models]
            assert len({option.task for option in part}) == 1
            blocks[part[0].task, block] += 1
            places.update((o.task, o.model, place) for place, o in enumerate(part))
            followed.update((one.model, two.model) for one, two in pairwise(part))
    # for each task, each model stands at each position equally often
    assert len(places) == tasks * models * models
    assert set(places.values()) == {people // models}
    # and follows each other model equally often (odd squares need 2 × models raters)
    if models % 2 == 0 or people % (2 * models) == 0:
        assert len(followed) == models * (models - 1)
        assert len(set(followed.values())) == 1
    # tasks rotate: over people, each stands at each place among the tasks as often as any, up to
    # what does not divide
    assert len(blocks) == tasks * tasks
    if people % tasks == 0 and tasks % 2 == 0:
        assert len(set(blocks.values())) == 1


def test_where_numbers_do_not_divide_rows_differ_by_one_and_it_is_said() -> None:
    # the paper's: 24 task blocks of one rater each, ten rows
    ordered = order_options(dealt=deal(tasks=24, models=10, people=8, raters=1), method="latin")
    places = Counter(
        (option.model, place % 10)
        for items in listed(ordered)
        for place, option in enumerate(items)
    )
    assert set(places.values()) == {2, 3}
    (words,) = ordered.warnings
    assert "24 have a number of raters that does not divide by 10 models" in words
    assert words.endswith("they are balanced only nearly")
    even = order_options(dealt=deal(tasks=20, models=10, people=10, raters=1), method="latin")
    places = Counter(
        (option.model, place % 10) for items in listed(even) for place, option in enumerate(items)
    )
    assert set(places.values()) == {2}
    assert even.warnings[0].endswith("they are balanced exactly")


def test_broken_task_blocks_follow_their_row_and_it_is_said() -> None:
    options = [DesignOption(n, f"t{n // 4}", f"m{n % 4}") for n in range(12) if n != 5]
    options.append(DesignOption(99, "t0", "m0"))  # a second trial
    ordered = order_pool(options=options, method="latin", seed=3)
    assert "2 of 3 task blocks do not hold each of the 4 models once" in ordered.warnings[0]
    (items,) = listed(ordered)
    assert sum(one.task != two.task for one, two in pairwise(items)) == 2


def test_a_pool_is_one_list() -> None:
    options = [DesignOption(n, f"t{n // 5}", f"m{n % 5}") for n in range(40)]
    for method in METHODS:
        pool = order_pool(options=options, method=method, seed=2)
        assert list(pool.orders) == [POOL]
        assert sorted(pool.orders[POOL]) == list(range(40))
        assert pool == order_pool(options=options[::-1], method=method, seed=2)
        assert pool.orders != order_pool(options=options, method=method, seed=3).orders


# --- the engine


@given(
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 7)), max_size=60),
    colours=st.integers(1, 7),
    chance=st.randoms(use_true_random=False),
)
def test_colours_are_equitable_at_every_vertex_and_in_all(
    edges: list[tuple[int, int]], colours: int, chance: object
) -> None:
    coloured = colour_edges(edges=edges, colours=colours, chance=chance)  # type: ignore[arg-type]
    at: dict[tuple[int, int], Counter[int]] = {}
    for edge, colour in zip(edges, coloured.colours, strict=True):
        for side, vertex in enumerate(edge):
            at.setdefault((side, vertex), Counter())[colour] += 1
    for counts in [*at.values(), Counter(coloured.colours)]:
        sizes = [counts[colour] for colour in range(colours)]
        assert max(sizes) - min(sizes) <= 1
    full = Counter((edge[1], part) for edge, part in zip(edges, coloured.parts, strict=True))
    for (vertex, part), count in full.items():
        if count == colours:
            inside = {
                colour
                for edge, colour, own in zip(edges, coloured.colours, coloured.parts, strict=True)
                if (edge[1], own) == (vertex, part)
            }
            assert len(inside) == colours
