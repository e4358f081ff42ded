"""One family of agents and facts by label swaps within tasks: by hand, its size, its power."""

import numpy as np
import pytest

from analysis.stats.comparison.label_swaps import SwapFamily, swap_family

BASE = (0.15, 0.5, 0.3, 0.1, 0.05, 0.2, 0.4, 0.6)
TASKS, AGENTS, SETS = 10, 4, 120


def simulated(rng: np.random.Generator, *, special: float | None) -> SwapFamily:
    """Return the family of agents with the same shares, but for one fact of the first agent."""
    shares = np.tile(np.array(BASE), (AGENTS, 1))
    if special is not None:
        shares[0, 0] = special
    drawn = (rng.random((AGENTS, TASKS, len(BASE))) < shares[:, None, :]).astype(float)
    groups = [f"a{agent}" for agent in range(AGENTS) for _ in range(TASKS)]
    facts = {f"f{fact}": drawn[:, :, fact].ravel() for fact in range(len(BASE))}
    size = AGENTS * len(BASE)
    return swap_family(groups, list(range(TASKS)) * AGENTS, facts, size=size, seed=1, swaps=499)


def test_two_agents_by_hand() -> None:
    # Five tasks differ, all one way: T = 2.5/√(5/4) = √5, and only 2 of 32 patterns reach it.
    tasks = list(range(8))
    found = swap_family(
        ["a"] * 8 + ["b"] * 8, tasks * 2, {"f": [1.0] * 5 + [0.0] * 11}, size=2, seed=3
    )
    one = found.results["a", "f"]
    assert one.difference.value == pytest.approx(5 / 8) and one.difference.n == 8
    assert one.p_adjusted == pytest.approx(2 / 32, abs=0.015)
    # |T| of the patterns is √5 at most, so nothing that five differing tasks show is clear.
    assert found.critical == pytest.approx(5**0.5) and not one.difference.is_clear
    # The error of the difference is √1.25/4, and (√5 + 0.84) of these are more than 60 points.
    assert one.smallest == pytest.approx((5**0.5 + 0.8416) * 1.25**0.5 / 4, abs=1e-4)
    assert one.difference.interval is None
    assert one.difference.no_interval == "only a difference of about 86 points would show"
    other = found.results["b", "f"]
    assert other.difference.value == pytest.approx(-5 / 8) and other.p_adjusted == one.p_adjusted


def test_attempts_of_one_task_are_one_unit_and_unknown_facts_are_left_out() -> None:
    found = swap_family(
        ["a", "a", "b", "a", "b"],
        [1, 1, 1, 2, 2],
        {"f": [1.0, 0.0, 0.0, np.nan, 1.0]},
        size=2,
        seed=1,
    )
    one = found.results["a", "f"]
    assert (one.difference.value, one.difference.n) == (0.5, 1)
    alike = swap_family(["a", "b"], [1, 1], {"f": [1.0, 1.0]}, size=2, seed=1)
    assert alike.results["a", "f"].difference.no_interval.startswith("the same on every task")
    apart = swap_family(["a", "b"], [1, 2], {"f": [1.0, 1.0]}, size=2, seed=1)
    assert apart.results["a", "f"].difference.undefined == "no task that both sides have"
    assert swap_family([], [], {}, size=0, seed=1).results == {}


def test_identical_agents_show_something_in_at_most_one_of_twenty_data_sets() -> None:
    rng = np.random.default_rng(11)
    false = sum(
        any(one.difference.is_clear for one in simulated(rng, special=None).results.values())
        for _ in range(SETS)
    )
    # Of 120 data sets 6 are expected at 5 %; 12 or more have a probability of 0.02.
    assert false < 12


def test_a_large_difference_at_ten_tasks_is_seen() -> None:
    rng = np.random.default_rng(12)
    seen = sum(
        simulated(rng, special=0.7).results["a0", "f0"].difference.is_clear for _ in range(SETS)
    )
    # Bonferroni over the facts found 5 to 9 % of them.
    assert seen > 0.4 * SETS
