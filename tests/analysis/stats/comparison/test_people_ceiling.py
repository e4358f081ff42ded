"""Tests of somebody in people's place, held against people."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from analysis.stats.comparison.people_ceiling import PlayedColumns, hold_against_people


def played(values: dict[str, np.ndarray], agents: Sequence[str] = ("a",)) -> PlayedColumns:
    """Columns of arrays with a row per person and the simulator last, a column per task."""
    rows, tasks = next(iter(values.values())).shape
    who = [None if row == rows - 1 else f"p{row}" for row in range(rows) for _ in range(tasks)]
    columns = {name: table.reshape(-1) for name, table in values.items()}
    return PlayedColumns(who, [agents[0]] * len(who), list(range(tasks)) * rows, columns)


def drawn(seed: int, people: int, tasks: int, shift: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, 0.3, (people + 1, 1))
    effects[-1] += shift
    return effects + rng.normal(0, 0.5, (1, tasks)) + rng.normal(0, 0.8, (people + 1, tasks))


def test_a_complete_design_is_the_prediction_interval_of_one_more_observation() -> None:
    table = drawn(1, 4, 12)
    held = hold_against_people(played({"words": table}))
    gap = held.measures["words"]
    means = table.mean(axis=1)
    assert gap.own == pytest.approx(means[-1]) and gap.people == pytest.approx(means[:4].mean())
    assert gap.difference.value == pytest.approx(means[-1] - means[:4].mean())
    assert gap.difference.n == 12 and gap.difference.interval is not None
    half = stats.t.ppf(0.975, 3) * means[:4].std(ddof=1) * sqrt(1 + 1 / 4)
    assert gap.limit.value == pytest.approx(half)
    # With one measure the distance says the same.
    assert held.limit.value == pytest.approx(half / gap.spread)
    assert held.distance.value == pytest.approx(abs(gap.difference.value) / gap.spread)
    apart = [abs(m - np.delete(means[:4], p).mean()) for p, m in enumerate(means[:4])]
    assert held.people == pytest.approx(sorted(np.array(apart) / gap.spread))


def test_pairs_of_people_on_separate_tasks_have_fewer_degrees_of_freedom() -> None:
    table = drawn(2, 4, 12)
    table[:2, 6:] = np.nan
    table[2:4, :6] = np.nan
    gap = hold_against_people(played({"words": table})).measures["words"]
    pairs = [table[0, :6] - table[1, :6], table[2, 6:] - table[3, 6:]]
    variance = sum(float(pair.mean()) ** 2 for pair in pairs) / 4
    half = stats.t.ppf(0.975, 2) * sqrt(variance * (1 + 4 / 16))
    assert gap.limit.value == pytest.approx(half)


def test_limits_are_corrected_for_measures_and_for_how_many_are_compared() -> None:
    first, second = drawn(3, 5, 8), drawn(4, 5, 8)
    one = hold_against_people(played({"words": first})).measures["words"].limit
    two = hold_against_people(played({"words": first, "told": second}), comparisons=2)
    ratio = stats.t.ppf(1 - 0.05 / 8, 4) / stats.t.ppf(0.975, 4)
    assert two.measures["words"].limit.value == pytest.approx(one.value * ratio)


def test_an_exact_copy_is_seldom_outside_and_a_planted_one_mostly() -> None:
    def outside(shift: float) -> float:
        verdicts = [
            hold_against_people(played({"words": drawn(seed, 5, 20, shift)})).outside
            for seed in range(300)
        ]
        return float(np.mean(verdicts))

    # Four Monte Carlo standard errors about 5 %.
    assert 0.0 < outside(0.0) < 0.10
    assert outside(2.5) > 0.9


def test_what_cannot_be_held_against_people_says_why() -> None:
    def why(table: np.ndarray) -> tuple[str, str]:
        held = hold_against_people(played({"words": table}))
        gap = held.measures["words"]
        assert held.outside is None and gap.outside is None
        return gap.difference.undefined, gap.limit.undefined

    few = drawn(5, 3, 4)
    assert why(few)[0] == "4 tasks in common; at least 5 tasks are needed"
    alone = drawn(6, 1, 8)
    assert why(alone) == ("", "0 people on the same tasks; at least 2 people are needed")
    nobody = drawn(7, 2, 8)
    nobody[:2] = np.nan
    assert why(nobody)[0] == "no value of people on the same tasks"
    silent = drawn(8, 2, 8)
    silent[2] = np.nan
    assert why(silent)[0] == "no value of the other side"
    alike = np.ones((4, 8))
    assert "do not differ" in why(alike)[1]
    with pytest.raises(ValueError, match="at least one measure"):
        hold_against_people(PlayedColumns([], [], [], {}))


def test_trajectories_count_with_the_same_agent_at_the_same_task_alone() -> None:
    table = drawn(9, 3, 10)
    plain = played({"words": table})
    other = PlayedColumns(
        [*plain.who, "p0", None], [*plain.agents, "b", "c"], [*plain.tasks, 0, 1],
        {"words": [*plain.values["words"], 99.0, -99.0]},
    )  # fmt: skip
    assert hold_against_people(other) == hold_against_people(plain)
