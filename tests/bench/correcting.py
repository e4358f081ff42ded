"""Simulate and time estimates that people have corrected, for `docs/statistics.md`.

    python -m tests.bench.correcting means     coverage, width and size of means and differences
    python -m tests.bench.correcting time      1,000,000 judges' scores with 2,000 ratings

Judges are made biased differently by agent, so that their order of the agents is the reverse of the
true one. Every data set has its own seed.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np

from analysis.stats.corrected.corrected_means import RatedUnits
from analysis.stats.corrected.corrected_pairs import CorrectedModels, correct_models

SEED, DATA_SETS = 20261128, 1000
TRUTH = {"Ada": 2.9, "Ben": 3.1, "Cleo": 3.3}
BIAS = {"Ada": 0.8, "Ben": 0.1, "Cleo": -0.6}
# Tasks, trials of each task, rated trajectories of each agent.
SIZES = ((20, 1, 16), (20, 3, 40), (40, 1, 24), (40, 3, 40), (100, 1, 40), (100, 3, 60))


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
    {"means": means, "time": timed}[(sys.argv[1:] or ["time"])[0]]()
