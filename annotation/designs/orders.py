"""Order each person's items: at random, in balanced blocks, or by a Latin square."""

import heapq
import random
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal

from annotation.designs.colouring import colour_edges
from annotation.designs.types import Allocation, DesignOption, index_options, name_some
from benchmarks.core.digests import derive_seed

Method = Literal["random", "blocks", "latin"]

# The name under which a pool is ordered, as if one person were to judge it all.
POOL = "pool"
# Lists longer than this are arranged once; shorter ones again when tasks are left side by side.
LONG = 2_000
ATTEMPTS = 8


def order_options(*, dealt: Allocation, method: Method) -> Allocation:
    """Put everybody's items in order, by the seed they were dealt by; who judges what stays.

    ``random``: a shuffle each. ``blocks``: successive blocks hold each model at most once, tasks
    apart. ``latin``: task by task, models in the rows of a Williams square, rows and tasks in
    rotation. docs/making-studies.md says what is exact.
    """
    seed = dealt.seed
    known = {option.id: option for option in dealt.options}
    people = {
        name: [known[pk] for pk in sorted(dealt.orders[name])] for name in sorted(dealt.orders)
    }
    warnings: list[str] = []
    orders: dict[str, tuple[int, ...]]
    if method == "random":
        orders = {name: _shuffled(items, seed, name) for name, items in people.items()}
    elif method == "blocks":
        orders = {
            name: _order_blocks(items, seed, name, warnings) for name, items in people.items()
        }
    else:
        orders = _order_latin(people, seed, warnings)
    return replace(
        dealt,
        orders=orders,
        method=f"{dealt.method}, order {method}",
        warnings=(*dealt.warnings, *warnings),
    )


def order_pool(*, options: Iterable[DesignOption], method: Method, seed: int) -> Allocation:
    """Return the rank of every option in a pool from which people take the next item, as one
    list.
    """
    known = index_options(options)
    pool = Allocation({POOL: tuple(known)}, tuple(known.values()), "pool", seed)
    return order_options(dealt=pool, method=method)


def _shuffled(items: Sequence[DesignOption], seed: int, name: str) -> tuple[int, ...]:
    ids = [option.id for option in items]
    random.Random(derive_seed(seed, "order", name)).shuffle(ids)
    return tuple(ids)


# --- balanced blocks


def _order_blocks(
    items: Sequence[DesignOption], seed: int, name: str, warnings: list[str]
) -> tuple[int, ...]:
    """Return the best of a few arrangements: fewest tasks side by side, no fewer than there must
    be.
    """
    if not items:
        return ()
    most = max(Counter(option.task for option in items).values())
    least = max(0, 2 * most - len(items) - 1)
    best: list[DesignOption] = []
    fewest = len(items)
    for attempt in range(ATTEMPTS if len(items) <= LONG else 1):
        chance = random.Random(derive_seed(seed, "blocks", name, attempt))
        tried = _arrange_blocks(items, chance)
        adjacent = sum(first.task == two.task for first, two in pairwise(tried))
        if adjacent < fewest:
            best, fewest = tried, adjacent
        if fewest <= least:
            break
    if fewest:
        bound = "no order has fewer" if fewest == least else f"no order has fewer than {least}"
        warnings.append(
            f"{name}: {fewest} of {len(items) - 1} pairs of neighbours share a task; {bound}"
        )
    return tuple(option.id for option in best)


def _arrange_blocks(items: Sequence[DesignOption], chance: random.Random) -> list[DesignOption]:
    per_model = Counter(option.model for option in items)
    mixed = list(items)
    chance.shuffle(mixed)
    if len(per_model) == 1:
        return _keep_apart(mixed, None, chance)
    # Colours are blocks: no model twice in one, each task's items spread evenly over them.
    blocks: list[list[DesignOption]] = [[] for _ in range(max(per_model.values()))]
    coloured = colour_edges(
        edges=[(option.model, option.task) for option in mixed], colours=len(blocks), chance=chance
    )
    for option, colour in zip(mixed, coloured.colours, strict=True):
        blocks[colour].append(option)
    chance.shuffle(blocks)
    arranged: list[DesignOption] = []
    for block in blocks:
        chance.shuffle(block)  # colours come in an order that is much the same in every block
        arranged += _keep_apart(block, arranged[-1].task if arranged else None, chance)
    return arranged


def _keep_apart(
    items: Sequence[DesignOption], last: str | None, chance: random.Random
) -> list[DesignOption]:
    """Order ``items`` with as few neighbours of one task as can be, ``last`` being the task before.

    A task must come next when more than half of what is left belongs to it; all else is chance.
    """
    of_task: dict[str, list[DesignOption]] = defaultdict(list)
    for option in items:
        of_task[option.task].append(option)
    waiting = deque(option.task for option in items)
    ahead: Counter[str] = Counter()  # taken before their turn, to be passed over
    largest = [(-len(members), chance.random(), task) for task, members in of_task.items()]
    heapq.heapify(largest)
    arranged: list[DesignOption] = []
    for left in range(len(items), 0, -1):
        while -largest[0][0] != len(of_task[largest[0][2]]):
            _, lot, task = heapq.heappop(largest)
            heapq.heappush(largest, (-len(of_task[task]), lot, task))
        count, heaviest = -largest[0][0], largest[0][2]
        if count > left // 2 and heaviest != last:
            task = heaviest
            ahead[task] += 1
        else:
            task = _next_but(waiting, ahead, last)
        arranged.append(of_task[task].pop())
        last = task
    return arranged


def _next_but(waiting: deque[str], ahead: Counter[str], last: str | None) -> str:
    """Take the first waiting task that is not ``last``, or ``last`` where nothing else is left."""
    held: list[str] = []
    chosen = None
    while waiting and chosen is None:
        task = waiting.popleft()
        if ahead[task]:
            ahead[task] -= 1
        elif task == last:
            held.append(task)
        else:
            chosen = task
    if chosen is None:
        chosen = held.pop()
    waiting.extendleft(held)
    return chosen


# --- Latin square


def _order_latin(
    people: Mapping[str, Sequence[DesignOption]], seed: int, warnings: list[str]
) -> dict[str, tuple[int, ...]]:
    """Order items task by task; rows of the square are given to (person, task) by an equitable
    colouring.

    So every row is used equally often, up to one, for each task, for each person, and in all; and
    of as many tasks in succession of one person as there are rows, each has another row.
    """
    names = sorted(people)
    tasks = sorted({option.task for items in people.values() for option in items})
    models = sorted({option.model for items in people.values() for option in items})
    chance = random.Random(derive_seed(seed, "latin"))
    for drawn in (names, tasks, models):
        chance.shuffle(drawn)
    if not models:
        return dict.fromkeys(people, ())
    rank = {task: number for number, task in enumerate(tasks)}
    task_orders = _rotate_tasks(names, people, rank)
    edges = [(name, task) for name in names for task in task_orders[name]]
    coloured = colour_edges(edges=edges, colours=len(models), chance=chance)
    cells: dict[tuple[str, str], dict[str, list[int]]] = {}
    for name, items in people.items():
        for option in items:
            cell = cells.setdefault((name, option.task), {})
            cell.setdefault(option.model, []).append(option.id)
    orders: dict[str, list[int]] = {name: [] for name in people}
    for edge, row, part in zip(edges, coloured.colours, coloured.parts, strict=True):
        # Of an odd square every other set of rows runs backwards, which balances predecessors.
        index = row + len(models) * ((rank[edge[1]] + part) % 2)
        row_order = [models[place] for place in williams_row(len(models), index)]
        cell = cells[edge]
        for trials in cell.values():
            random.Random(derive_seed(seed, "trials", *edge, *trials)).shuffle(trials)
        for trial in range(max(len(trials) for trials in cell.values())):
            orders[edge[0]] += [
                cell[model][trial] for model in row_order if trial < len(cell.get(model, ()))
            ]
    warnings += _nearly_latin(edges, cells, models)
    return {name: tuple(order) for name, order in sorted(orders.items())}


def _rotate_tasks(
    names: Sequence[str], people: Mapping[str, Sequence[DesignOption]], rank: Mapping[str, int]
) -> dict[str, list[str]]:
    """Return everybody's tasks by a row of a Williams square of their own; people with the same
    tasks take successive rows.
    """
    alike: Counter[tuple[str, ...]] = Counter()
    rotated: dict[str, list[str]] = {}
    for name in names:
        own = tuple(sorted({option.task for option in people[name]}, key=rank.__getitem__))
        rotated[name] = [own[place] for place in williams_row(len(own), alike[own])] if own else []
        alike[own] += 1
    return rotated


def _nearly_latin(
    edges: Sequence[tuple[str, str]],
    cells: Mapping[tuple[str, str], Mapping[str, Sequence[int]]],
    models: Sequence[str],
) -> list[str]:
    """Return what of the square's balance holds only nearly, and why."""
    if len(models) == 1:
        return []
    order: list[str] = []
    uneven = [
        edge
        for edge in edges
        if len(cells[edge]) < len(models) or any(len(t) != 1 for t in cells[edge].values())
    ]
    if uneven:
        order.append(
            f"Latin square: {len(uneven):,} of {len(edges):,} task blocks do not hold each of the "
            f"{len(models)} models once (such as {name_some(' · '.join(e) for e in uneven[:1])}); "
            "what is there follows the order of its row, so positions are balanced only nearly"
        )
    size = len(models)
    per_task = Counter(task for _, task in edges)
    broken = sum(count % size > 0 for count in per_task.values())
    if broken:
        # Backward rows of an odd square balance predecessors at the cost of single positions.
        exact = len(edges) % size == 0 and size % 2 == 0
        order.append(
            f"Latin square: of {len(per_task):,} tasks, {broken:,} have a number of raters that "
            f"does not divide by {size} models. Within these, positions are balanced only nearly; "
            f"over all {len(edges):,} task blocks together they are balanced "
            + ("exactly" if exact and not uneven else "only nearly")
        )
    return order


def williams_row(size: int, index: int) -> tuple[int, ...]:
    """Return row ``index`` (modulo their number) of the square over 0 … ``size`` − 1.

    In the first ``size`` rows each value stands once at each place. Even ``size``: these rows are
    all, and each ordered pair of neighbours occurs exactly once. Odd ``size``: the same rows
    backwards follow (2 × ``size`` in all), and each ordered pair occurs exactly twice; no single
    square does this for 3, 5 or 7.
    """
    number, shift = divmod(index, size)
    # 0, 1, n−1, 2, n−2, …: the steps between neighbours are all different.
    first = (((step + 1) // 2 if step % 2 else size - step // 2) for step in range(size))
    row = tuple((value + shift) % size for value in first)
    return row[::-1] if size % 2 and number % 2 else row
