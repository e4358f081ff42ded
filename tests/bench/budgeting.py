"""Simulate and time uncertainty budgets, for `docs/statistics.md`.

    python -m tests.bench.budgeting projections    projected half-widths against larger data
    python -m tests.bench.budgeting coverage       intervals with judges as a sample, and given
    python -m tests.bench.budgeting ratings        projected corrected intervals
    python -m tests.bench.budgeting time           10 agents × 8 dimensions

Scores are 3 plus normal parts of task, attempt, judge, judge and task, judge and attempt, judging
and single score. Every data set has its own seed.
"""

import sys
import time
from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from analysis.stats.corrected.corrected_means import RatedUnits, correct_mean
from analysis.stats.uncertainty.budgets import Budget, budget_of, rating_budget

SEED, DATA_SETS = 20261128, 400


class Design(NamedTuple):
    """Levels of each facet."""

    task: int
    attempt: int
    judge: int
    setting: int


class Spread(NamedTuple):
    """Standard deviations of the parts of a score."""

    task: float
    attempt: float
    judge: float
    by_task: float
    by_attempt: float
    setting: float
    rest: float


EVEN = Spread(0.5, 0.3, 0.1, 0.2, 0.15, 0.1, 0.4)
JUDGES = Spread(0.4, 0.3, 0.3, 0.2, 0.15, 0.1, 0.4)
CASES = ((Design(20, 2, 5, 2), EVEN), (Design(40, 2, 3, 2), EVEN), (Design(40, 2, 5, 2), JUDGES))
STEPS = (("task", 10), ("attempt", 1), ("judge", 1), ("setting", 1))


def made_scores(
    seed: Sequence[int], design: Design, spread: Spread, missing: float = 0.0
) -> tuple[Any, dict[str, list[int]], float]:
    """Return scores, their labels, and the mean of the judges and judgings that there are."""
    rng = np.random.default_rng(list(seed))
    grid = np.meshgrid(*map(np.arange, design), indexing="ij")
    t, a, j, s = (codes.ravel() for codes in grid)
    judges, settings = rng.normal(0, spread.judge, design.judge), rng.normal(
        0, spread.setting, design.setting
    )  # fmt: skip
    scores = (
        3
        + rng.normal(0, spread.task, design.task)[t]
        + rng.normal(0, spread.attempt, design[:2])[t, a]
        + judges[j]
        + rng.normal(0, spread.by_task, (design.task, design.judge))[t, j]
        + rng.normal(0, spread.by_attempt, design[:3])[t, a, j]
        + settings[s]
        + rng.normal(0, spread.rest, t.size)
    )
    kept = rng.random(t.size) >= missing
    labels = {"tasks": t, "attempts": a, "judges": j, "settings": s}
    given = 3 + float(judges.mean() + settings.mean())
    return scores[kept], {name: codes[kept].tolist() for name, codes in labels.items()}, given


def budgets_before_and_after(
    seed: Sequence[int], design: Design, larger: Design, spread: Spread
) -> tuple[Budget, Budget]:
    """Return the budget of made scores, judges as a sample, and that of the data they grow to."""
    scores, labels, _ = made_scores(seed, larger, spread)
    sizes = dict(zip(labels, design, strict=True))
    first = np.all([np.array(codes) < sizes[name] for name, codes in labels.items()], axis=0)
    few = {name: np.array(codes)[first].tolist() for name, codes in labels.items()}
    return budget_of(scores[first], **few), budget_of(scores, **labels)


def true_variance(design: Design, spread: Spread) -> float:
    """Return the variance of the mean."""
    t, a, j, s = design
    levels = (t, t * a, j, t * j, t * a * j, s, t * a * j * s)
    return sum(sd**2 / n for sd, n in zip(spread, levels, strict=True))


def projections() -> None:
    """Print projected half-widths beside those of data of that size, and errors beside truth."""
    print("| tasks, attempts, judges, judgings | step | projected ± | ± at that size | ratio |"
          " projected error | true error | ratio |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for design, spread in CASES:
        for facet, more in STEPS:
            larger = design._replace(**{facet: getattr(design, facet) + more})
            pairs = [
                budgets_before_and_after((SEED, *larger, n), design, larger, spread)
                for n in range(DATA_SETS)
            ]
            budgets, there = [now for now, _ in pairs], [after.half_width for _, after in pairs]
            projected = [one.project(**{facet: more}).half_width for one in budgets]
            grown = {name: getattr(larger, name) / getattr(design, name) for name in design._fields}
            errors = [_error(one, grown) for one in budgets]
            wide, real = float(np.mean(projected)), float(np.mean(there))  # type: ignore[arg-type]
            error, truth = sqrt(float(np.mean(errors))), sqrt(true_variance(larger, spread))
            print(
                f"| {', '.join(map(str, design))} | {facet} +{more} | {wide:.3f} | {real:.3f} "
                f"| {wide / real:.2f} | {error:.3f} | {truth:.3f} | {error / truth:.2f} |"
            )


def _error(budget: Budget, grown: dict[str, float]) -> float:
    """Return the projected variance of the mean."""
    from analysis.stats.uncertainty.components import FACETS

    total = 0.0
    for part in budget.parts:
        total += part.error / float(np.prod([grown.get(f, 1.0) for f in FACETS[part.name]]))
    return total


def coverage() -> None:
    """Print how often intervals hold the truth."""
    print("| tasks, attempts, judges, judgings | missing | judges a sample | judges given | none |")
    print("|---|---|---|---|---|")
    for design, spread in CASES:
        for missing in (0.0, 0.2):
            held: list[tuple[bool, bool]] = []
            undefined = 0
            for number in range(DATA_SETS):
                scores, labels, given = made_scores(
                    (SEED, 2, *design, number), design, spread, missing
                )
                budget = budget_of(scores, **labels)
                fixed = Budget(budget.components, sampled=False)
                if budget.half_width is None or fixed.half_width is None:
                    undefined += 1
                    continue
                mean = budget.components.mean
                assert mean is not None
                held.append((
                    abs(mean - 3) <= budget.half_width, abs(mean - given) <= fixed.half_width
                ))  # fmt: skip
            sample, one = np.mean(held, axis=0)
            print(f"| {', '.join(map(str, design))} | {missing:.0%} | {sample:.3f} | {one:.3f} "
                  f"| {undefined} |")  # fmt: skip


def ratings() -> None:
    """Print projected corrected half-widths beside those with so many more ratings."""
    print("| tasks | rated | more | projected ± | ± with them | ratio |\n|---|---|---|---|---|---|")
    for tasks, rated, more in ((40, 20, 40), (100, 40, 60), (100, 60, 120)):
        pairs = []
        for number in range(DATA_SETS):
            halves = []
            for count in (rated, rated + more):
                rng = np.random.default_rng([SEED, 3, tasks, number])
                worth = np.repeat(rng.normal(3, 0.5, tasks), 3) + rng.normal(0, 0.4, 3 * tasks)
                judges = worth + 0.5 + rng.normal(0, 0.3, worth.size)
                people = worth + rng.normal(0, 0.4, worth.size)
                order = rng.permutation(worth.size)
                seen = np.full(worth.size, np.nan)
                seen[order[:count]] = people[order[:count]]
                units = RatedUnits(
                    judges, seen, np.full(worth.size, count / worth.size),
                    np.repeat(np.arange(tasks), 3).tolist(),
                )  # fmt: skip
                budget = rating_budget(units, correct_mean(units).weight)
                halves.append(budget.project(0 if count > rated else more).half_width)
            pairs.append(halves)
        projected, there = np.mean(np.array(pairs, dtype=float), axis=0)
        print(f"| {tasks} | {rated} | {more} | {projected:.3f} | {there:.3f} "
              f"| {projected / there:.2f} |")  # fmt: skip


def timed() -> None:
    """Time budgets of 10 agents on 8 dimensions: 100 tasks, 3 attempts, 3 judges, 2 judgings."""
    for missing in (0.0, 0.05):
        design = Design(100, 3, 3, 2)
        sets = [made_scores((SEED, 4, n), design, EVEN, missing) for n in range(80)]
        began = time.process_time()
        for scores, labels, _ in sets:
            budget_of(scores, **labels)
        print(f"{missing:.0%} missing: {time.process_time() - began:.2f} s")


if __name__ == "__main__":
    {"projections": projections, "coverage": coverage, "ratings": ratings, "time": timed}[
        sys.argv[1]
    ]()
