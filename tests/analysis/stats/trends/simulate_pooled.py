"""Simulate size and power of the pooled slope and of a difference of slopes, for the docs.

    python -m tests.analysis.stats.trends.simulate_pooled slopes
    python -m tests.analysis.stats.trends.simulate_pooled differences

print the tables of `docs/statistics.md` (about half an hour each). Every data set has its own seed.
"""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.stats.trends.pooled import pooled_slope

SEED = 20261124
DATA_SETS = 100
TURNS = 10
# Agents, tasks, and the SD of agents' slopes.
SETTINGS = (
    (1, 32, 0.0),
    (3, 32, 0.0),
    (3, 32, 0.05),
    (5, 12, 0.0),
    (5, 32, 0.05),
)
SLOPES = (0.0, -0.06)


def made_turns(
    agents: int, tasks: int, spread: float, slope: float, seed: Sequence[int]
) -> tuple[list[Any], ...]:
    """Return agents, tasks, trajectories, turns and scores of agents that play the same tasks.

    Levels: tasks N(3.2, 0.4), agents N(0, 0.3), trajectories N(0, 0.3); slopes: agents
    N(slope, spread), trajectories N(0, 0.03); noise N(0, 0.7), rounded to thirds from 1 to 5. After
    each turn a trajectory ends with a chance of 1/(1 + exp(1.2 − 2(score − 3.2))): it depends on
    the last score.
    """
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    levels = rng.normal(3.2, 0.4, tasks)
    for agent in range(agents):
        better, change = rng.normal(0, 0.3), rng.normal(slope, spread)
        for task in range(tasks):
            level, own = rng.normal(levels[task] + better, 0.3), rng.normal(change, 0.03)
            for turn in range(1, TURNS + 1):
                raw = level + own * (turn - 1) + rng.normal(0, 0.7)
                score = min(5.0, max(1.0, round(3 * raw) / 3))
                rows.append((f"a{agent}", task, (agent, task), turn, score))
                if rng.random() < 1 / (1 + np.exp(1.2 - 2 * (score - 3.2))):
                    break
    return tuple(list(column) for column in zip(*rows, strict=True))


def clear_share(
    agents: int, tasks: int, spread: float, slope: float, data_sets: int
) -> tuple[float, float]:
    """Return how often the 95 % interval excludes 0, and the mean estimate."""
    clear, total = 0, 0.0
    for number in range(data_sets):
        seed = (SEED, agents, tasks, round(1000 * spread), number)
        found = pooled_slope(*made_turns(agents, tasks, spread, slope, seed)).slope
        assert found.interval is not None and found.value is not None
        clear += not found.interval.holds(0)
        total += found.value
    return clear / data_sets, total / data_sets


def made_differences(
    ending: str, tasks: int, slope: float, seed: Sequence[int]
) -> tuple[list[Any], ...]:
    """Return the columns of `made_turns` with judges' minus people's scores of three agents.

    A plan's quality has a level N(3.2, 0.4) of its trajectory and noise N(0, 0.5) a turn; people
    add N(0, 0.5), judges N(0, 0.4) and ``slope`` a turn. The ending depends on the quality, on the
    judges' last score, or on nothing.
    """
    rng = np.random.default_rng(seed)
    rows: list[tuple[Any, ...]] = []
    for agent in range(3):
        for task in range(tasks):
            level, bias = rng.normal(3.2, 0.4), rng.normal(0, 0.2)
            for turn in range(1, TURNS + 1):
                quality = level + rng.normal(0, 0.5)
                people = quality + rng.normal(0, 0.5)
                judges = quality + bias + slope * (turn - 1) + rng.normal(0, 0.4)
                rows.append((f"a{agent}", task, (agent, task), turn, judges - people))
                decides = {"nothing": 3.2, "the plan's quality": quality}.get(ending, judges)
                if rng.random() < 1 / (1 + np.exp(1.2 - 2 * (decides - 3.2))):
                    break
    return tuple(list(column) for column in zip(*rows, strict=True))


def differences() -> None:
    """Print the table of differences of slopes."""
    heads = [f"difference {slope:g}" for slope in SLOPES]
    print("| ending depends on | trajectories |", " | ".join(heads), "|")
    print("|---|---:|", "---:|" * len(SLOPES))
    for ending in ("nothing", "the plan's quality", "the judges' last score"):
        for tasks in (10,):
            cells = []
            for slope in SLOPES:
                found = [
                    pooled_slope(*made_differences(ending, tasks, slope, (SEED, tasks, n))).slope
                    for n in range(DATA_SETS)
                ]
                clear = [one.interval is not None and not one.interval.holds(0) for one in found]
                mean = np.mean([one.value or 0.0 for one in found])
                cells.append(f"{np.mean(clear):.1%} ({mean:+.3f})")
            print(f"| {ending} | {3 * tasks} |", " | ".join(cells), "|", flush=True)


def slopes() -> None:
    """Print the table of pooled slopes."""
    print(
        "| agents | tasks | SD of agents' slopes |", " | ".join(f"slope {s:g}" for s in SLOPES), "|"
    )
    print("|---:|---:|---:|", "---:|" * len(SLOPES))
    for agents, tasks, spread in SETTINGS:
        cells = []
        for slope in SLOPES:
            share, mean = clear_share(agents, tasks, spread, slope, DATA_SETS)
            cells.append(f"{share:.1%} ({mean:+.3f})")
        print(f"| {agents} | {tasks} | {spread:g} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    {"slopes": slopes, "differences": differences}[sys.argv[1]]()
