"""CPU of Krippendorff's alpha with its bootstrap interval, beside drawing items one by one.

Run by ``make bench``. The plain loop draws items (or tasks) with replacement and computes alpha
from the drawn items' counts, as the bootstrap is usually written; it is timed over a few resamples
and multiplied, since a thousand of them take long.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from analysis.stats.rater_agreement.alpha import alphas, coincidences, krippendorff_alpha
from analysis.stats.rater_agreement.answers import answers_of_scores
from tests.bench.storing import machine, tell

RESAMPLES, ROUNDS, LOOPED, SCALE = 1_000, 10, 10, (1, 5)
# Name, items, raters, tasks (0 for independent items), most seconds of CPU.
CASES = (
    ("10,000 x 4, items", 10_000, 4, 0, 0.030),
    ("280,000 x 4, items", 280_000, 4, 0, 0.300),
    ("10,000 x 4, 300 tasks", 10_000, 4, 300, 0.500),
)


def make_scores(items: int, raters: int) -> Any:
    """Scores from 1 to 5 of raters who are mostly right; one in ten is missing."""
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, (items, 1))
    scores = np.clip(truth + rng.integers(-1, 2, (items, raters)), 1, 5).astype(float)
    scores[rng.random(scores.shape) < 0.1] = np.nan
    return scores


def loop(scores: Any, tasks: list[int] | None, resamples: int) -> Any:
    """Alphas of resamples, each from its own items."""
    counts = np.stack([(scores == point).sum(axis=1) for point in range(1, 6)], axis=1)
    kept = counts.sum(axis=1) >= 2
    counts = counts[kept].astype(float)
    names = np.arange(len(counts)) if tasks is None else np.array(tasks)[kept]
    members = np.split(np.argsort(names, kind="stable"), np.unique(names, return_index=True)[1][1:])
    rng = np.random.default_rng(1)
    found = []
    for _ in range(resamples):
        drawn = rng.integers(0, len(members), len(members))
        rows = drawn if tasks is None else np.concatenate([members[place] for place in drawn])
        total = coincidences(counts[rows]).sum(axis=0)
        found.append(alphas(total[None, :], np.arange(1.0, 6.0), "ordinal")[0])
    return np.quantile(found, [0.025, 0.975])


def cpu(work: Callable[[], object], rounds: int) -> float:
    """The least seconds of CPU of some rounds, after one that loads what is needed."""
    work()
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        spent.append(time.process_time() - began)
    return min(spent)


def main() -> None:
    """Print the figures."""
    print(machine())
    print(f"ordinal alpha of scores, with {RESAMPLES:,} resamples; seconds of CPU")
    print(f"{'':<22} {'ratings':>9} {'here':>7} {'budget':>7} {'plain loop':>11} {'ratio':>6}")
    beyond = []
    for name, items, raters, count, budget in CASES:
        scores = make_scores(items, raters)
        tasks = [item * count // items for item in range(items)] if count else None

        def ours(scores: Any = scores, tasks: Any = tasks) -> object:
            answers = answers_of_scores(scores, scale=SCALE)
            return krippendorff_alpha(answers, clusters=tasks, seed=1, resamples=RESAMPLES)

        def theirs(scores: Any = scores, tasks: Any = tasks) -> object:
            return loop(scores, tasks, LOOPED)

        here = cpu(ours, ROUNDS)
        plain = cpu(theirs, 1) * RESAMPLES / LOOPED
        ratings = int((~np.isnan(scores)).sum())
        told = f"{name:<22} {ratings:>9,} {here:>7.3f} {budget:>7.3f} {plain:>11.1f}"
        print(f"{told} {plain / here:>6.0f}")
        beyond += [name] if here > budget else []
    tell(beyond)


if __name__ == "__main__":
    main()
