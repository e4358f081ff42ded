"""Simulate and time estimates that people have corrected, for `docs/statistics.md`.

    python -m tests.bench.correcting means     coverage, width and size of means and differences
    python -m tests.bench.correcting slopes    bias and coverage of changes per turn
    python -m tests.bench.correcting time      1,000,000 judges' scores with 2,000 ratings

Judges are made biased differently by agent, so that their order of the agents is the reverse of the
true one. Every data set has its own seed.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from analysis.stats.corrected import corrected_slopes
from analysis.stats.corrected.corrected_means import RatedUnits
from analysis.stats.corrected.corrected_pairs import CorrectedModels, correct_models

SEED, DATA_SETS, SLOPE_SETS = 20261128, 1000, 100
TRUTH = {"Ada": 2.9, "Ben": 3.1, "Cleo": 3.3}
BIAS = {"Ada": 0.8, "Ben": 0.1, "Cleo": -0.6}
# Tasks, trials of each task, rated trajectories of each agent.
SIZES = ((20, 1, 16), (20, 3, 40), (40, 1, 24), (40, 3, 40), (100, 1, 40), (100, 3, 60))
ENDINGS = ("at random", "high judges’ score", "low judges’ score")


def made_units(
    seed: Sequence[int], tasks: int, trials: int, rated: int, *, alike: bool = False
) -> tuple[dict[str, RatedUnits], dict[str, float]]:
    """Return the units of three agents and their true means.

    A trajectory is worth its agent's mean plus N(0, 0.5) of its task, N(0, 0.4) of agent and task
    and N(0, 0.4) of its own. Judges see that plus their bias and N(0, 0.3), people plus N(0, 0.4).
    ``alike`` agents have one mean in truth.
    """
    rng = np.random.default_rng(list(seed))
    ease, size = rng.normal(0, 0.5, tasks), tasks * trials
    task = np.repeat(np.arange(tasks), trials)
    truth = dict.fromkeys(TRUTH, 3.1) if alike else TRUTH
    units = {}
    for name, mean in truth.items():
        worth = mean + ease[task] + rng.normal(0, 0.4, tasks)[task] + rng.normal(0, 0.4, size)
        people = np.full(size, np.nan)
        drawn = rng.choice(size, rated, replace=False)
        people[drawn] = worth[drawn] + rng.normal(0, 0.4, rated)
        judges = worth + BIAS[name] + rng.normal(0, 0.3, size)
        units[name] = RatedUnits(judges, people, np.full(size, rated / size), task.tolist())
    return units, truth


def means() -> None:
    """Print the table of means and differences."""
    heads = (
        "tasks", "trials", "rated", "mean: corrected", "people", "judges", "difference: corrected",
        "judges", "width", "widest", "right order: judges", "corrected", "clear without difference",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    for tasks, trials, rated in SIZES:
        held: dict[str, list[bool]] = {}
        widths: list[float] = []
        for number in range(DATA_SETS):
            seed = (SEED, tasks, trials, rated, number)
            units, truth = made_units(seed, tasks, trials, rated)
            one = correct_models(units, measure="score")
            everyone = {
                name: RatedUnits(u.judges, u.judges, np.ones(len(u.tasks)), u.tasks)
                for name, u in units.items()
            }
            judges = correct_models(everyone, measure="score", weight=0)
            for name, mean in one.means.items():
                for who, estimate in (
                    ("mean", mean.estimate), ("people", mean.people),
                    ("judges", judges.means[name].estimate),
                ):  # fmt: skip
                    assert estimate.interval is not None
                    held.setdefault(who, []).append(estimate.interval.holds(truth[name]))
                assert mean.estimate.interval is not None
                assert mean.people.interval is not None
                widths.append(mean.estimate.interval.half_width / mean.people.interval.half_width)
            for who, models in (("difference", one), ("judged difference", judges)):
                held.setdefault(who, []).append(_all_hold(models, truth))
            order = [rank.rank for rank in one.comparisons.ranks]
            held.setdefault("order", []).append(order == [3, 2, 1])
            order = [rank.rank for rank in judges.comparisons.ranks]
            held.setdefault("judged order", []).append(order == [3, 2, 1])
            same, _ = made_units(seed, tasks, trials, rated, alike=True)
            none = correct_models(same, measure="score")
            held.setdefault("clear", []).append(any(p.clear for p in none.comparisons.pairs))
        share = {name: f"{np.mean(values):.3f}" for name, values in held.items()}
        print(
            f"| {tasks} | {trials} | {rated} | {share['mean']} | {share['people']} "
            f"| {share['judges']} | {share['difference']} | {share['judged difference']} "
            f"| {np.mean(widths):.2f} | {max(widths):.2f} | {share['judged order']} "
            f"| {share['order']} | {share['clear']} |",
            flush=True,
        )


def _all_hold(models: CorrectedModels, truth: dict[str, float]) -> bool:
    """Return whether the simultaneous intervals of all pairs hold the true differences."""
    for pair in models.comparisons.pairs:
        interval = pair.comparison.difference.interval
        assert interval is not None
        if not interval.holds(truth[pair.first] - truth[pair.second]):
            return False
    return True


def made_turns(ending: str, size: int, rated: int, seed: Sequence[int]) -> tuple[Any, ...]:
    """Return the turns of trajectories without a change: columns of `corrected_slope`.

    A turn is worth its trajectory's level N(3.2, 0.5) plus N(0, 0.5). Judges see that plus 0.3,
    0.08 more every turn, and N(0, 0.4); people plus N(0, 0.4). After a turn the trajectory ends
    with a chance of 0.2, or one that rises or falls with its last score of the judges.
    """
    rng = np.random.default_rng(list(seed))
    columns: list[tuple[int, float, float, float]] = []
    for trajectory in range(size):
        level = rng.normal(3.2, 0.5)
        for turn in range(1, 11):
            worth = level + rng.normal(0, 0.5)
            judged = worth + 0.3 + 0.08 * (turn - 1) + rng.normal(0, 0.4)
            columns.append((trajectory, turn, judged, worth + rng.normal(0, 0.4)))
            steep = {"at random": 0.0, "high judges’ score": 2.0, "low judges’ score": -2.0}[ending]
            if rng.random() < 1 / (1 + np.exp(1.4 - steep * (judged - 3.5))):
                break
    table = np.array(columns)
    code = table[:, 0].astype(int)
    drawn = rng.choice(size, rated, replace=False)
    people = np.where(np.isin(code, drawn), table[:, 3], np.nan)
    chance = np.full(code.size, rated / size)
    return code.tolist(), code.tolist(), table[:, 1], table[:, 2], people, chance


def slopes() -> None:
    """Print the table of changes per turn, with the working covariance and without."""
    within = corrected_slopes.WorkingCovariance(corrected_slopes.ONLY_WITHIN, 0.0, 0.0, 1.0)
    print("| ending | trajectories | rated | judges | corrected | people alone "
          "| within, corrected | width |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for ending in ENDINGS:
        for size, rated in ((40, 20), (100, 40)):
            found: dict[str, list[float]] = {}
            for number in range(SLOPE_SETS):
                seed = (SEED, ENDINGS.index(ending), size, number)
                turns = made_turns(ending, size, rated, seed)
                one = corrected_slopes.corrected_slope(*turns)
                with patch.object(corrected_slopes.WorkingCovariance, "of", lambda *_: within):
                    other = corrected_slopes.corrected_slope(*turns)
                for name, estimate in (
                    ("corrected", one.estimate), ("people", one.people),
                    ("within", other.estimate),
                ):  # fmt: skip
                    assert estimate.interval is not None
                    assert estimate.value is not None
                    found.setdefault(name, []).append(estimate.value)
                    found.setdefault(f"held {name}", []).append(estimate.interval.holds(0))
                    found.setdefault(f"width {name}", []).append(estimate.interval.half_width)
                found.setdefault("judges", []).append(one.judges or 0.0)
            mean = {name: float(np.mean(values)) for name, values in found.items()}
            cells = [
                f"{mean[f'held {name}']:.2f} ({mean[name]:+.3f})"
                for name in ("corrected", "people", "within")
            ]
            width = mean["width corrected"] / mean["width people"]
            print(
                f"| {ending} | {size} | {rated} | {mean['judges']:+.3f} | {' | '.join(cells)} "
                f"| {width:.2f} |",
                flush=True,
            )


def timed() -> None:
    """Time the correction of ten agents with 100,000 units each, 200 of them rated."""
    rng = np.random.default_rng(SEED)
    units = {}
    for agent in range(10):
        task = np.repeat(np.arange(1000), 100)
        judges = 3 + rng.normal(0, 1, task.size)
        people = np.full(task.size, np.nan)
        drawn = rng.choice(task.size, 200, replace=False)
        people[drawn] = judges[drawn] + rng.normal(0, 0.5, 200)
        units[f"agent {agent}"] = RatedUnits(
            judges, people, np.full(task.size, 200 / task.size), task
        )
    for when in ("first", "again"):
        start = time.process_time()
        correct_models(units, measure="score")
        print(f"1,000,000 units, 2,000 of them rated, {when}: {time.process_time() - start:.2f} s")


if __name__ == "__main__":
    {"means": means, "slopes": slopes, "time": timed}[(sys.argv[1:] or ["time"])[0]]()
