"""Simulate how often slopes over turns are called clear where there is none, for the docs.

    python -m tests.analysis.stats.trends.simulate_slopes

prints the table of `docs/statistics.md` (about ten minutes). Every data set has its own seed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.stats.results import Estimate
from analysis.stats.trends.slopes import SlopeModels, slope_models

SEED = 20261122
DATA_SETS = 200
SIZES = (12, 32, 100)
TURNS = 10
ENDINGS = ("at random", "the last score", "something unseen")
ESTIMATORS: Mapping[str, Callable[[SlopeModels], Estimate]] = {
    "mixed model": lambda one: one.mixed.slope,
    "GEE": lambda one: one.gee.slope,
    "within": lambda one: one.within,
    "one line": lambda one: one.pooled.slope,
}


def made_scores(ending: str, trajectories: int, seed: Sequence[int]) -> tuple[list[Any], ...]:
    """Return ids, turns and scores of trajectories whose mean slope is 0.

    A score is the trajectory's level N(3.2, 0.5) plus noise N(0, 0.7) a turn, as the mean of three
    judges from 1 to 5 (rounded to thirds). After each turn it ends with a chance of 0.2 (at
    random), of 1/(1 + exp(1.2 − 2(score − 3.2))) (the last score), or, where trajectories also
    have slopes N(0, 0.15) of their own, of 1/(1 + exp(1.2 − 12·slope)) (something unseen).
    """
    rng = np.random.default_rng(seed)
    ids: list[Any] = []
    turns: list[Any] = []
    scores: list[Any] = []
    for trajectory in range(trajectories):
        level, slope = rng.normal(3.2, 0.5), rng.normal(0, 0.15)
        if ending != "something unseen":
            slope = 0.0
        for turn in range(1, TURNS + 1):
            raw = level + slope * (turn - 1) + rng.normal(0, 0.7)
            score = min(5.0, max(1.0, round(3 * raw) / 3))
            ids.append(trajectory)
            turns.append(turn)
            scores.append(score)
            chance = {
                "at random": 0.2,
                "the last score": 1 / (1 + np.exp(1.2 - 2 * (score - 3.2))),
                "something unseen": 1 / (1 + np.exp(1.2 - 12 * slope)),
            }[ending]
            if rng.random() < chance:
                break
    return ids, turns, scores


def clear_share(
    ending: str, trajectories: int, data_sets: int
) -> tuple[dict[str, float], dict[str, float], float]:
    """Return, by estimator, how often its 95 % interval excludes 0 and its mean estimate.

    The last is how often the exchangeable GEE gave way to independence.
    """
    clear: Counter[str] = Counter()
    total = dict.fromkeys(ESTIMATORS, 0.0)
    fell_back = 0
    for number in range(data_sets):
        seed = (SEED, ENDINGS.index(ending), trajectories, number)
        ids, turns, scores = made_scores(ending, trajectories, seed)
        (one,) = slope_models(["a"] * len(ids), ["d"] * len(ids), ids, turns, scores)
        fell_back += one.gee.structure == "independence"
        for name, read in ESTIMATORS.items():
            found = read(one)
            assert found.interval is not None and found.value is not None
            clear[name] += not found.interval.low <= 0 <= found.interval.high
            total[name] += found.value
    shares = {name: clear[name] / data_sets for name in ESTIMATORS}
    means = {name: total[name] / data_sets for name in ESTIMATORS}
    return shares, means, fell_back / data_sets


def main() -> None:
    """Print the table."""
    print("| ending depends on | trajectories |", " | ".join(ESTIMATORS), "| GEE fell back |")
    print("|---|---:|", "---:|" * (len(ESTIMATORS) + 1))
    for ending in ENDINGS:
        for size in SIZES:
            shares, means, gone = clear_share(ending, size, DATA_SETS)
            cells = [f"{shares[name]:.1%} ({means[name]:+.3f})" for name in ESTIMATORS]
            print("|", ending, "|", size, "|", " | ".join(cells), f"| {gone:.1%} |", flush=True)


if __name__ == "__main__":
    main()
