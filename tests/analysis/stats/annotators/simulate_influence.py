"""Simulate annotators whom judges' marks move, or do not, for ``docs/statistics.md``.

``python -m tests.analysis.stats.annotators.simulate_influence`` prints how often the comparison of
both arms finds it. It takes some minutes and is no part of the test suite.
"""

from collections.abc import Callable

import numpy as np

from analysis.stats.annotators.influence import ArmComparison, compare_arms
from annotation.designs.hold_out import sees_marks

SEED, QUESTIONS = 20261129, 4
# Of an item: three turns with four constraints.
DECISIONS = 12
ROUNDS, ROUNDS_OF_NONE = 500, 2000
# Tasks, annotators, items of each.
DESIGNS = ((8, 4, 12), (24, 8, 30), (60, 16, 30))
PULLS = (0.0, 0.25, 0.5)


def simulate_study(seed: int, tasks: int, people: int, each: int, pull: float) -> ArmComparison:
    """Return both arms' distance from the judges' mean in one simulated study.

    Items have a quality by task and by item. Annotators add a bias, a scatter that is their own and
    noise; the judges' mean of three has its own error by task, item and question. Who sees the
    marks goes the share ``pull`` of the way to the judges' mean before rounding.
    """
    rng = np.random.default_rng([SEED, seed])
    person, place = (axis.ravel() for axis in np.mgrid[:people, :each])
    task = rng.integers(0, tasks, person.size)
    drawn = [
        sees_marks(seed=seed, number=number + 1, position=position + 1)
        for number, position in zip(person.tolist(), place.tolist(), strict=True)
    ]
    seen = np.array(drawn)[:, None]
    quality = (3.6 + rng.normal(0, 0.6, tasks)[task] + rng.normal(0, 0.4, task.size))[:, None]
    looks = (quality + rng.normal(0, 0.3, tasks)[task][:, None])[..., None]
    looks = looks + rng.normal(0, 0.5, (task.size, QUESTIONS, 3))
    judges = np.clip(np.rint(looks), 1, 5).mean(axis=2)
    bias, scatter = rng.normal(0, 0.4, people), rng.uniform(0.4, 0.9, people)
    # What somebody thinks of an item, shared by its questions, and what they think of each.
    own = quality + (bias[person] + rng.normal(0, 0.3, task.size))[:, None]
    own = own + rng.normal(size=judges.shape) * scatter[person][:, None]
    own = own + pull * seen * (judges - own)
    values = np.abs(np.clip(np.rint(own), 1, 5) - judges)
    strata = (person[:, None] * QUESTIONS + np.arange(QUESTIONS)).ravel().tolist()
    return compare_arms(
        values.ravel(),
        np.broadcast_to(seen, values.shape).ravel(),
        strata,
        np.repeat(task, QUESTIONS).tolist(),
        scale=(0, 4),
    )


def simulate_decisions(seed: int, tasks: int, people: int, each: int, pull: float) -> ArmComparison:
    """Return both arms' agreement with the judges in one simulated violation check.

    Items have turns with constraints; how likely a violation is depends on task and item. Judges
    err more on some tasks than on others, annotators each at a rate of their own. Who sees the
    marks takes the judges' decision with probability ``pull``.
    """
    rng = np.random.default_rng([SEED, 1, seed])
    person, place = (axis.ravel() for axis in np.mgrid[:people, :each])
    task = rng.integers(0, tasks, person.size)
    drawn = [
        sees_marks(seed=seed, number=number + 1, position=position + 1)
        for number, position in zip(person.tolist(), place.tolist(), strict=True)
    ]
    shape = (task.size, DECISIONS)
    seen = np.broadcast_to(np.array(drawn)[:, None], shape)
    risk = np.clip(0.25 + rng.normal(0, 0.1, tasks)[task] + rng.normal(0, 0.1, task.size), 0, 1)
    violated = rng.random(shape) < risk[:, None]
    judged = violated ^ (rng.random(shape) < rng.uniform(0, 0.3, tasks)[task][:, None])
    decided = violated ^ (rng.random(shape) < rng.uniform(0.02, 0.2, people)[person][:, None])
    decided = np.where(seen & (rng.random(shape) < pull), judged, decided)
    return compare_arms(
        (decided == judged).astype(float).ravel(),
        seen.ravel(),
        np.repeat(person, DECISIONS).tolist(),
        np.repeat(task, DECISIONS).tolist(),
        scale=(0, 1),
    )


def found_share(
    design: tuple[int, int, int],
    pull: float,
    rounds: int,
    simulate: Callable[[int, int, int, int, float], ArmComparison] = simulate_study,
) -> tuple[float, float]:
    """Return how often p is at most 0.05, and the mean difference in points or as a share."""
    studies = [simulate(seed, *design, pull) for seed in range(rounds)]
    found = [study.p is not None and study.p <= 0.05 for study in studies]
    return float(np.mean(found)), float(np.mean([s.difference.value or 0.0 for s in studies]))


def main() -> None:
    for simulate in (simulate_study, simulate_decisions):
        print(f"{simulate.__name__}\n")
        print("| tasks | annotators × items | pull | mean difference | found |")
        print("|---|---|---|---|---|")
        for design in DESIGNS:
            for pull in PULLS:
                rounds = ROUNDS if pull else ROUNDS_OF_NONE
                found, difference = found_share(design, pull, rounds, simulate)
                tasks, people, each = design
                print(f"| {tasks} | {people} × {each} | {pull} | {difference:+.3f} | {found:.3f} |")


if __name__ == "__main__":
    main()
