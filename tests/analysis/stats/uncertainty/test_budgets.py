"""Uncertainty budgets: shares, projections, ratings, the cheapest step, and undefined ones."""

import numpy as np
import pytest

from analysis.stats.corrected.corrected_means import NONE_RATED, RatedUnits, correct_mean
from analysis.stats.uncertainty.budgets import (
    ALL_RATED,
    NO_SUCH,
    NOT_NARROWER,
    ONE_JUDGE,
    Budget,
    RatingBudget,
    Step,
    budget_of,
    cheapest,
    paired_scores,
    rating_budget,
)
from analysis.stats.uncertainty.components import Component, Components
from tests.bench.budgeting import EVEN, Design, budgets_before_and_after, made_scores

LEVELS = {"task": 10, "attempt": 1, "judge": 4, "setting": 1, "replicate": 1}


def budget(task: float, judge: float, *, sampled: bool = True) -> Budget:
    parts = (Component("task", task, 10, 10, 9), Component("judge", judge, 4, 4, 3))
    return Budget(Components(3.0, 40, parts, levels=LEVELS), sampled)


def test_shares_are_of_the_variance_of_the_mean() -> None:
    one = budget(10, 8)
    assert one.share("task") == pytest.approx(1 / 3)
    assert one.share("judge") == pytest.approx(2 / 3)
    # Given judges: their choice is no part of the interval.
    given = budget(10, 8, sampled=False)
    assert given.share("task") == 1 and given.share("judge") == 0
    # t(9) of sqrt(10 / 10).
    assert given.half_width == pytest.approx(2.262157)
    assert one.half_width == pytest.approx(2.570582 * 3**0.5, rel=0.1)


def test_more_levels_divide_their_parts_alone() -> None:
    given = budget(10, 8, sampled=False)
    # 20 tasks: t(19) of sqrt(10 / 20).
    assert given.project(task=10).half_width == pytest.approx(2.093024 * 0.5**0.5)
    assert given.project(task=10).narrower(given.half_width) == pytest.approx(0.3457, abs=1e-3)
    count, why = given.fewest("task", 2.093024 * 0.5**0.5 + 1e-5)
    assert (count, why) == (10, "")
    assert given.fewest("task", 5.0) == (0, "")
    assert given.project(attempt=1).undefined == NO_SUCH
    assert given.project(judge=1).half_width == given.half_width
    assert given.fewest("judge", 1.0) == (None, NOT_NARROWER)


def test_one_judge_says_nothing_of_others() -> None:
    scores, labels, _ = made_scores((1,), Design(20, 2, 1, 1), EVEN)
    one = budget_of(scores, **labels)
    assert one.undefined == ONE_JUDGE and one.half_width is None and one.share("task") is None
    assert Budget(one.components, sampled=False).half_width is not None
    few = budget_of([1.0, 2.0], tasks=[1, 2], attempts=[1, 2], judges=[1, 1], settings=[1, 1])
    assert "2 tasks" in few.undefined and few.project(task=1).undefined == few.undefined


def test_a_projection_is_near_data_of_that_size() -> None:
    small, large = Design(20, 2, 5, 2), Design(40, 2, 5, 2)
    pairs = [budgets_before_and_after((5, n), small, large, EVEN) for n in range(60)]
    projected = [now.project(task=20).half_width for now, _ in pairs]
    there = [after.half_width for _, after in pairs]
    assert np.mean(projected) == pytest.approx(np.mean(there), rel=0.1)  # type: ignore[arg-type]


def units(rated: int, size: int = 60) -> RatedUnits:
    rng = np.random.default_rng(3)
    worth = rng.normal(3, 1, size)
    people = np.full(size, np.nan)
    people[:rated] = worth[:rated]
    judges = worth + rng.normal(1, 0.5, size)
    return RatedUnits(judges, people, np.full(size, max(rated, 1) / size), list(range(size)))


def test_ratings_narrow_the_corrected_interval_until_all_are_rated() -> None:
    some = units(20)
    one = rating_budget(some, correct_mean(some).weight)
    corrected = correct_mean(some).estimate.interval
    assert corrected is not None
    assert one.project().half_width == pytest.approx(corrected.half_width)
    widths = [one.project(more).half_width or 0 for more in (0, 10, 40, 400)]
    assert widths[0] > widths[1] > widths[2] == widths[3]
    every = units(60)
    full = rating_budget(every, correct_mean(every).weight)
    assert full.project(1).undefined == ALL_RATED and full.fewest(0.01) == (None, ALL_RATED)
    none = units(0)
    nothing = rating_budget(none, correct_mean(none).weight)
    assert nothing.undefined == NONE_RATED and nothing.project(5).undefined == NONE_RATED
    assert isinstance(nothing, RatingBudget)


def test_the_cheapest_step_needs_known_costs() -> None:
    steps = [
        Step("task", 10, 0.5, 0.0), Step("judge", 1, None, 0.0), Step("rating", 20, 0.0, 2.0),
        Step("setting", None, 0.1, 0.0, "no"),
    ]  # fmt: skip
    best = cheapest(steps, None)
    assert best is not None and best.name == "task" and best.total(None) == 5
    # 20 ratings of 2 minutes at 0.1 a minute are 4.
    best = cheapest(steps, 0.1)
    assert best is not None and best.name == "rating" and best.total(0.1) == pytest.approx(4)
    assert cheapest(steps[1:2], 1.0) is None


def test_differences_are_of_cells_that_both_have() -> None:
    cells, differences = paired_scores({(1, "a"): 3.0, (2, "a"): 4.0}, {(2, "a"): 1.0, (3, "a"): 0})
    assert cells == [(2, "a")] and differences == [3.0]
