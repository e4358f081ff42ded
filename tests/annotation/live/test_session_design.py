"""Designs of sessions: everybody as many, agents and tasks equally often, nothing twice."""

from collections import Counter

import pytest

from annotation.designs.orders import Method
from annotation.designs.types import DesignError
from annotation.live.setup.design import SessionDesign, draw_sessions, draw_tasks


def draw(
    agents: int, tasks: int, rows: int, each: int, order: Method, seed: int = 3
) -> SessionDesign:
    return draw_sessions(
        agents=[f"agent {n}" for n in range(agents)],
        tasks=[f"task {n}" for n in range(tasks)],
        rows=[f"player {n}" for n in range(rows)],
        each=each,
        order=order,
        seed=seed,
    )


@pytest.mark.parametrize(
    ("agents", "tasks", "rows", "each", "order"),
    [
        (2, 4, 4, 4, "latin"),
        (2, 4, 3, 5, "blocks"),
        (3, 5, 4, 3, "random"),
        (1, 3, 2, 2, "random"),
        (3, 3, 5, 9, "latin"),
        (4, 7, 6, 5, "blocks"),
        (2, 4, 1, 3, "latin"),
    ],
)
def test_sessions_are_spread_evenly(
    agents: int, tasks: int, rows: int, each: int, order: Method
) -> None:
    drawn = draw(agents, tasks, rows, each, order)
    assert all(len(pairs) == each == len(set(pairs)) for _, pairs in drawn.rows)
    for of, kinds in ((0, agents), (1, tasks)):
        times = Counter(pair[of] for _, pairs in drawn.rows for pair in pairs)
        spread = [times[kind] for kind in range(kinds)]
        assert max(spread) - min(spread) <= 1
    pairs = Counter(pair for _, pairs in drawn.rows for pair in pairs)
    assert max(pairs.values()) <= -(-rows * each // (agents * tasks))


def test_a_latin_square_balances_positions() -> None:
    drawn = draw(2, 4, 4, 4, "latin")
    first = Counter(pairs[0][0] for _, pairs in drawn.rows)
    assert first == {0: 2, 1: 2}
    # Task by task: both agents at a task, one after the other.
    for _, pairs in drawn.rows:
        assert pairs[0][1] == pairs[1][1] and pairs[2][1] == pairs[3][1]


def test_the_seed_decides() -> None:
    assert draw(2, 6, 3, 4, "random") == draw(2, 6, 3, 4, "random")
    assert draw(2, 6, 3, 4, "random") != draw(2, 6, 3, 4, "random", seed=4)
    tasks = [f"task {n}" for n in range(9)]
    kinds = ["short"] * 6 + ["long"] * 2 + ["odd"]

    def drawn(count: int | None, seed: int = 1) -> list[int]:
        return draw_tasks(tasks=tasks, kinds=kinds, count=count, seed=seed)

    assert set(drawn(3)) < set(drawn(5)) and len(drawn(5)) == 5
    assert drawn(None) == drawn(9) == list(range(9))
    assert drawn(3) != drawn(3, seed=2)
    # Every kind equally often, as long as it has tasks left.
    assert sorted(kinds[place] for place in drawn(3)) == ["long", "odd", "short"]
    assert Counter(kinds[place] for place in drawn(7)) == {"short": 4, "long": 2, "odd": 1}


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((2, 2, 3, 5), "4 sessions for each player are the most"),
        ((0, 2, 3, 1), "at least one agent"),
        ((2, 2, 0, 1), "at least one player"),
        ((5, 60, 60, 10), "600 sessions are more than"),
    ],
)
def test_what_cannot_be_drawn_is_refused(numbers: tuple[int, int, int, int], words: str) -> None:
    with pytest.raises(DesignError, match=words):
        draw(*numbers, order="random")
