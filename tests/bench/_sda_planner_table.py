"""The four planners over the shared ALFRED trials at three rates of mistakes, with intervals.

Run by hand: ``PYTHONPATH=. .venv/bin/python tests/bench/_sda_planner_table.py``. The agents are
scripts, fresh and stubborn, and their rates (0.3, 0.6, 1) were fixed before anything was run. Each
cell has every trial under seeds 1 to 5; intervals are for trials as clusters, differences are
paired by trial and seed.
"""

import random
from collections.abc import Sequence

from analysis.stats.descriptive.means import mean_by_cluster
from analysis.stats.results import Estimate
from benchmarks.core.answerers import Cast
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Outcome, Task
from benchmarks.systems.sda_planner.settings import PLANNERS, SDA
from benchmarks.systems.sda_planner.system import SYSTEM
from tests.bench.sda_planner import trials

assert SYSTEM.comparisons.bracket is not None
AGENTS = [name for side in SYSTEM.comparisons.bracket.sides for name in side.scripts]
SEEDS = (1, 2, 3, 4, 5)
METRICS = ("accurate", "goal_conditions", "corrections", "steps", "calls", "resets")


def play(task: Task, planner: str, agent: str, seed: int) -> Outcome:
    """Play a trial."""
    policy = SYSTEM.scripted[agent]

    def seed_for(step: int, slot: int) -> int:
        return derive_seed(seed, task.id, "", 1, step, slot)

    cast = Cast({"agent": {"": policy.build(task, policy.parameters)}})
    driver = Driver(cast, MemoryLog(), SYSTEM.parsers, seed_for)
    settings = read_settings(SYSTEM.settings, {"planner": planner})
    rng = random.Random(derive_seed(seed, task.id))
    result = driver.run(SYSTEM.episode(task, settings, rng))
    assert isinstance(result, Finished)
    return result.outcome


def cell(values: Sequence[float], clusters: Sequence[str], scale: float) -> str:
    """Return a mean with its interval."""
    found: Estimate = mean_by_cluster(values, clusters, unit="trial")
    if found.value is None or found.interval is None:
        return "–" if found.value is None else f"{found.value * scale:.2f}"
    digits = 1 if scale > 1 else 2
    low, high = found.interval.low * scale, found.interval.high * scale
    return f"{found.value * scale:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main() -> None:
    """Print the tables."""
    words, tasks = trials()
    print(f"{len(tasks)} {words}, seeds {SEEDS[0]} to {SEEDS[-1]}")
    clusters = [task.id for task in tasks for _ in SEEDS]
    for agent in AGENTS:
        found = {
            planner: [play(task, planner, agent, seed) for task in tasks for seed in SEEDS]
            for planner in PLANNERS
        }
        print(f"\n{agent}\n| planner | {' | '.join(METRICS)} |")
        for planner, outcomes in found.items():
            cells = []
            for name in METRICS:
                values = [o.metrics[name] for o in outcomes]
                known = [value for value in values if value is not None]
                scale = 100 if name in ("accurate", "goal_conditions") else 1
                cells.append(cell(known, clusters, scale) if known else "–")
            print(f"| {planner} | {' | '.join(cells)} |")
        for name in METRICS[:3]:
            for planner in PLANNERS:
                pairs = [
                    (a.metrics[name], b.metrics[name])
                    for a, b in zip(found[SDA], found[planner], strict=True)
                ]
                differences = [a - b for a, b in pairs if a is not None and b is not None]
                if planner != SDA and differences:
                    scale = 1 if name == "corrections" else 100
                    print(f"SDA minus {planner}, {name}: {cell(differences, clusters, scale)}")


if __name__ == "__main__":
    main()
