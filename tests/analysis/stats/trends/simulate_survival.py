"""Survival by steps: coverage of intervals, size and power of the test, and CPU at 100,000 rows.

    python -m tests.analysis.stats.trends.simulate_survival [--rounds 2000]

Agents play the same tasks; in each trajectory some constraints are disclosed, and each later plan
breaks each with a probability that depends on the task and on the trajectory, so that rows of a
task are alike. The figures in ``docs/statistics.md`` are of 2,000 rounds.
"""

import argparse
import time

import numpy as np

from analysis.stats.trends.survival import BROKEN, CENSORED, logrank_by_block, survival_curve

SEED = 20261128
STEP = 3
LONGEST = 6
LEVEL = -2.5


def played(
    rng: np.random.Generator, agents: int, tasks: int, more: float = 0.0, level: float = LEVEL
) -> tuple[np.ndarray, ...]:
    """Return agent, task, trajectory, time and end of each disclosure, and no more than `LONGEST`.

    The first agent's odds of breaking are exp(``more``) times the others', whose log is ``level``
    on average.
    """
    shape = (agents, tasks)
    odds = level + rng.normal(0, 1, tasks)[None, :] + rng.normal(0, 0.7, shape)
    odds[0] += more
    counts = rng.integers(1, 5, shape).ravel()
    trajectory = np.repeat(np.arange(agents * tasks), counts)
    hazard = 1 / (1 + np.exp(-odds.ravel()[trajectory]))
    broken = rng.geometric(hazard)
    seen = rng.integers(2, LONGEST + 1, agents * tasks)[trajectory]
    end = np.where(broken <= seen, BROKEN, CENSORED)
    return trajectory // tasks, trajectory % tasks, trajectory, np.minimum(broken, seen), end


def truth() -> float:
    """Return the share that is kept through `STEP`, by a large sample without censoring."""
    rng = np.random.default_rng(SEED)
    odds = LEVEL + rng.normal(0, 1, 2_000_000) + rng.normal(0, 0.7, 2_000_000)
    return float((1 / (1 + np.exp(odds))).__pow__(STEP).mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    rounds = parser.parse_args().rounds
    kept = truth()
    print(f"kept through step {STEP}: {kept:.4f}; {rounds} rounds, seed {SEED}")
    print("agents tasks coverage size power")
    for agents, tasks in ((2, 10), (2, 20), (2, 40), (5, 10), (5, 40), (10, 12), (10, 100)):
        rng = np.random.default_rng([SEED, agents, tasks])
        covered = known = rejected = tested = found = 0
        for _ in range(rounds):
            agent, task, unit, times, ends = played(rng, agents, tasks)
            own = agent == 0
            points = survival_curve(times[own], ends[own], task[own].tolist())
            interval = points[STEP - 1].kept.interval if len(points) >= STEP else None
            if interval is not None:
                known += 1
                covered += interval.holds(kept)
            test = logrank_by_block(agent.tolist(), times, ends, unit.tolist(), task.tolist())
            tested += test.p is not None
            rejected += test.p is not None and test.p < 0.05
            agent, task, unit, times, ends = played(rng, agents, tasks, more=1.0)
            test = logrank_by_block(agent.tolist(), times, ends, unit.tolist(), task.tolist())
            found += test.p is not None and test.p < 0.05
        print(
            f"{agents:6} {tasks:5} {covered / known:8.3f} {rejected / rounds:5.3f} "
            f"{found / rounds:5.3f}   without an interval {rounds - known}, untested "
            f"{rounds - tested}"
        )
    print("few breaks: agents tasks breaks size")
    for agents, tasks, level in ((2, 32, -5.0), (10, 32, -5.9), (10, 32, -5.2)):
        rng = np.random.default_rng([SEED, agents, tasks])
        breaks = rejected = 0
        for _ in range(rounds):
            agent, task, unit, times, ends = played(rng, agents, tasks, level=level)
            breaks += int((ends == BROKEN).sum())
            test = logrank_by_block(agent.tolist(), times, ends, unit.tolist(), task.tolist())
            rejected += test.p is not None and test.p < 0.05
        print(f"{agents:6} {tasks:5} {breaks / rounds:6.1f} {rejected / rounds:5.3f}")
    agent, task, unit, times, ends = played(np.random.default_rng(SEED), 10, 4000)
    began = time.process_time()
    for one in range(10):
        survival_curve(times[agent == one], ends[agent == one], task[agent == one].tolist())
    logrank_by_block(agent.tolist(), times, ends, unit.tolist(), task.tolist())
    print(f"{times.size:,} disclosures of 10 agents: {time.process_time() - began:.2f} s of CPU")


if __name__ == "__main__":
    main()
