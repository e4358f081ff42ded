"""The pooled slope against lme4 and lmerTest, and what it says where little can be estimated."""

from typing import Any

import numpy as np
import pytest

from analysis.stats.trends import mixed_models, pooled, reml
from analysis.stats.trends.mixed_models import mixed_slope
from analysis.stats.trends.pooled import pooled_slope
from analysis.stats.trends.turn_series import NO_SLOPE
from tests.analysis.stats.trends.pooled_reference import DATA, crossed_turns

# lme4 1.1-31 and lmerTest 3.1-3, made by `pooled_reference`.
FIVE: dict[str, Any] = {
    "slope": -0.019934844,
    "wald": 0.043700565,
    "df": 4.34384,
    "sd": (0.08962600, 0.05239704, 0.05589268),
    "agents": [-0.06237481, -0.00395283, 0.02936186, -0.14099263, 0.07828418],
}
TWO: dict[str, Any] = {"slope": 0.002617222, "wald": 0.027988178, "df": 23.16937}


def test_random_agents_tasks_and_trajectories_against_lme4() -> None:
    found = pooled_slope(*DATA["five"])
    assert found.slope.value == pytest.approx(FIVE["slope"], abs=1e-8)
    assert found.df == pytest.approx(FIVE["df"], abs=1e-3)
    assert found.sd_agents is not None and found.agents is not None
    spreads = (found.sd_agents, found.sd_tasks, found.sd_trajectories)
    assert spreads == pytest.approx(FIVE["sd"], abs=1e-6)
    shrunken = [agent.value for agent in found.agents.values()]
    assert shrunken == pytest.approx(FIVE["agents"], abs=1e-6)
    # Endings are at random here: the likelihood's curvature says what the usual error says.
    assert found.error is not None and 1 <= found.error / FIVE["wald"] < 1.02
    assert found.effect == "random" and found.tasks and found.converged and found.zero == ()
    assert found.slope.n == 120 and found.agents["agent 0"].n == 24
    assert found.slope.interval is not None and found.slope.interval.holds(0)


def test_deviance_against_lme4() -> None:
    agents, tasks, _, turns, scores = DATA["five"]
    series = reml.TurnSeries.of(DATA["five"][2], turns, scores)
    owner = np.repeat(np.arange(5), 24)
    sums = reml.line_sums(
        series, reml.Scaling.of(series), agents=owner, tasks=np.tile(np.arange(24), 5)
    )
    fit = reml.fit_lines(sums, reml.RandomParts(tasks=True, agents=True))
    # lme4's scores are not standardised: n − p log standard deviations more.
    unit = np.log(np.std(scores)) * 2 * (len(scores) - 2)
    assert fit.deviance + unit == pytest.approx(1106.2290985, abs=1e-6)


def test_two_agents_are_fixed_and_said() -> None:
    found = pooled_slope(*DATA["two"])
    assert found.slope.value == pytest.approx(TWO["slope"], abs=1e-7)
    assert found.df == pytest.approx(TWO["df"], abs=1e-2)
    assert found.error == pytest.approx(TWO["wald"], rel=1e-2)
    assert found.effect == "fixed" and found.agents is None and found.sd_agents is None
    assert pooled.TWO_AGENTS in found.slope.warnings


def test_one_agent_is_its_own_slope() -> None:
    agents, tasks, trajectories, turns, scores = crossed_turns((-0.1,), 30)
    found = pooled_slope(agents, tasks, trajectories, turns, scores)
    own = mixed_slope(trajectories, turns, scores)
    # Each task has one trajectory: no effect of tasks can be told from that of trajectories.
    assert not found.tasks and found.effect == "none"
    assert found.slope.value == pytest.approx(own.slope.value, abs=1e-9)
    assert found.error == pytest.approx(own.error, rel=1e-9)
    assert pooled.ONE_AGENT in found.slope.warnings


def test_the_same_rows_in_another_order_and_with_gaps_give_the_same() -> None:
    columns = [list(column) for column in DATA["five"]]
    order = np.random.default_rng(1).permutation(len(columns[0]))
    moved = [[column[i] for i in order] for column in columns]
    for column, more in zip(moved, ("agent 0", 0, "0-0", 9, None), strict=True):
        column.append(more)
    first, second = pooled_slope(*DATA["five"]), pooled_slope(*moved)  # type: ignore[arg-type]
    assert second.slope.value == pytest.approx(first.slope.value, abs=1e-8)
    assert second.slope.excluded == {"turn: missing value": 1}
    assert first.agents is not None and second.agents is not None
    one, two = first.agents["agent 3"], second.agents["agent 3"]
    assert one.value == pytest.approx(two.value, abs=1e-7)


def test_the_cost_of_a_fit_is_that_of_its_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 times the scores, on the same turns: the same matrices, and no more evaluations."""
    seen: list[int] = []

    def counted(theta: Any, sums: reml.LineSums, *rest: Any, **more: Any) -> Any:
        seen.append(len(sums.gram))
        return solve(theta, sums, *rest, **more)

    solve = reml.solve
    monkeypatch.setattr(reml, "solve", counted)
    for copies in (1, 100):
        rng, ids, turns, scores = np.random.default_rng(3), [], [], []
        for trajectory in range(60 * copies):
            level, change = rng.normal(3, 0.5), rng.normal(-0.05, 0.1)
            for turn in range(1, 4 + trajectory % 5):
                ids.append(trajectory)
                turns.append(turn)
                scores.append(level + change * turn + rng.normal(0, 0.5))
        seen.clear()
        assert mixed_slope(ids, turns, scores).slope.value == pytest.approx(-0.05, abs=0.05)
        assert set(seen) == {5} and len(seen) < 400


def test_what_cannot_be_pooled() -> None:
    nothing = pooled_slope(["a", "a"], [1, 2], [1, 2], [1, 1], [3, 4])
    assert nothing.slope.undefined == NO_SLOPE and nothing.converged is None
    parallel = pooled_slope(["a"] * 5, [1, 1, 1, 2, 2], [1, 1, 1, 2, 2], [1, 2, 3, 1, 2],
                            [5, 4, 3, 2, 1])  # fmt: skip
    assert parallel.slope.value == pytest.approx(-1)
    assert parallel.slope.no_interval == mixed_models.ON_LINES
    with pytest.raises(ValueError, match="belongs to one task"):
        pooled_slope(["a"] * 3, [1, 2, 1], [1, 1, 2], [1, 2, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="tasks: 1 entries for 2 values"):
        pooled_slope(["a"] * 2, [1], [1, 1], [1, 2], [1, 2])


def test_parts_without_variance_are_named() -> None:
    # Every agent falls alike, and trajectories on tasks differ in noise alone.
    rng = np.random.default_rng(5)
    rows = [
        (f"a{agent}", task, (agent, task), turn, 3 - 0.1 * turn + noise)
        for agent in range(4)
        for task in range(10)
        for turn, noise in enumerate(rng.permutation([-0.4, 0.1, 0.3, -0.2, 0.2]), start=1)
    ]
    found = pooled_slope(*zip(*rows, strict=True))
    assert "agents' levels" in found.zero and "tasks' levels" in found.zero
    assert found.slope.value == pytest.approx(-0.1, abs=0.03)


def test_degrees_of_freedom_are_not_under_those_of_the_smallest_part() -> None:
    for seed in range(8):
        found = pooled_slope(*crossed_turns((0.0, 0.03, -0.03, 0.0), 8, seed))
        assert found.df is not None and found.df >= 3
