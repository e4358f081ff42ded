"""CPU cost of SDA-Planner: steps with diagnosis, repairs, a search at its limit, whole episodes.

Run by ``make bench``. Plays the 60 shared ALFRED trials where they are at hand, else the tasks of
the small house, with the scripted agent that makes most mistakes. The time of the agent counts.
"""

import os
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.core.answerers import Cast
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Task
from benchmarks.systems.sda_planner.dataset.importer import read_prepared
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from benchmarks.systems.sda_planner.repair import planners
from benchmarks.systems.sda_planner.repair.diagnosis import PRECONDITION, Diagnosis
from benchmarks.systems.sda_planner.repair.graph import LOC, POS, Belief, builtin_graph
from benchmarks.systems.sda_planner.repair.subtree import MAX_NODES, search
from benchmarks.systems.sda_planner.settings import PLANNERS
from benchmarks.systems.sda_planner.steps import FIND, OPEN, PICK, PUT, Step
from benchmarks.systems.sda_planner.system import SYSTEM
from tests.bench.storing import machine, tell

STEP_MS, REPAIR_MS, REPAIR_P95_MS, LIMIT_S, EPISODES_S = 5.0, 50.0, 200.0, 1.5, 60.0
SEEDS = 5
AGENT = "errors-100"


def trials() -> tuple[str, list[Task]]:
    """Return the shared trials, or the small house where they are not at hand."""
    given = os.environ.get("PLANJURY_SHARED_DATA")
    root = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = (Path(given) if given else root) / "alfred"
    files = [folder / "tasks.jsonl.gz", folder / "scenes.jsonl.gz"]
    if all(path.exists() for path in files):
        return "ALFRED trials", [task for task, _ in read_prepared(files, {}).tasks]
    return "tasks of the small house", sample_tasks()


def play(task: Task, planner: str, seed: int, agent: str = AGENT) -> int:
    """Play a trial; return its steps in the house."""
    policy = SYSTEM.scripted[agent]
    log = MemoryLog()
    settings = read_settings(SYSTEM.settings, {"planner": planner})

    def seed_for(step: int, slot: int) -> int:
        return derive_seed(seed, task.id, "", 1, step, slot)

    cast = Cast({"agent": {"": policy.build(task, policy.parameters)}})
    driver = Driver(cast, log, SYSTEM.parsers, seed_for)
    driver.run(SYSTEM.episode(task, settings, random.Random(seed)))
    return sum(len(turn.payload["steps"]) for turn in log.turns.values())


def timed_repairs(tasks: Sequence[Task]) -> list[float]:
    """Return the milliseconds of each subtree search that episodes make."""
    spent: list[float] = []
    plain = planners.search

    def timed(*given: Any) -> Any:
        began = time.process_time()
        found = plain(*given)
        spent.append((time.process_time() - began) * 1000)
        return found

    planners.search = timed
    try:
        for task in tasks:
            for seed in range(SEEDS):
                play(task, "sda", seed)
    finally:
        planners.search = plain
    return spent


class Kinds(dict[str, str]):
    """Types of things by their ids."""

    def type_of(self, id: str) -> str:
        return self.get(id, "")


def search_at_the_limit() -> tuple[float, int, bool]:
    """Return seconds and nodes of a search that reaches its limit: many things, any order."""
    kinds = Kinds({f"book{n}": "Book" for n in range(8)} | {f"drawer{n}": "Drawer" for n in (1, 2)})
    base: dict[Any, Any] = {(LOC, id): "drawer1" for id in kinds if id.startswith("book")}
    base[POS, ""] = "drawer1"
    window = [Step(OPEN, "Drawer", "drawer1"), Step(FIND, "Drawer", "drawer2"),
              Step(OPEN, "Drawer", "drawer2")]  # fmt: skip
    for n in range(8):
        id = f"book{n}"
        window += [Step(FIND, "Book", id), Step(PICK, "Book", id), Step(PUT, "Book", id)]
        window.append(Step(FIND, "Drawer", "drawer2"))
    diagnosis = Diagnosis(PRECONDITION, 1, items=frozenset(kinds))
    belief = Belief(kinds, base)
    began = time.process_time()
    tree = search(builtin_graph(), belief, window, window[4], diagnosis, (), window)
    tree.to_json()
    return time.process_time() - began, tree.nodes, tree.limited


def main() -> None:
    """Print the figures."""
    print(machine())
    words, tasks = trials()
    builtin_graph()
    began = time.process_time()
    steps = sum(play(task, "sda", 1) for task in tasks)
    step_ms = (time.process_time() - began) * 1000 / steps
    print(f"{len(tasks)} {words}, SDA-Planner: {step_ms:.2f} ms of CPU per step with diagnosis, "
          f"{steps} steps; budget {STEP_MS} ms")  # fmt: skip

    spent = sorted(timed_repairs(tasks))
    middle, late = median(spent), spent[int(len(spent) * 0.95)]
    print(
        f"{len(spent)} searches: median {middle:.1f} ms, 95 % {late:.1f} ms, longest "
        f"{spent[-1]:.0f} ms; budgets {REPAIR_MS:.0f} and {REPAIR_P95_MS:.0f} ms"
    )

    seconds, nodes, limited = search_at_the_limit()
    print(f"a search at its limit: {nodes:,} nodes in {seconds:.2f} s of CPU, "
          f"says so: {limited}; budget {LIMIT_S} s")  # fmt: skip

    began = time.process_time()
    for planner in PLANNERS:
        for task in tasks:
            play(task, planner, 1)
    whole = time.process_time() - began
    print(f"{len(tasks)} trials × {len(PLANNERS)} planners: {whole:.1f} s of CPU, at most "
          f"{EPISODES_S:.0f} s")  # fmt: skip
    missed = {
        "steps": step_ms > STEP_MS,
        "repairs": middle > REPAIR_MS or late > REPAIR_P95_MS,
        "limit": seconds > LIMIT_S or not limited or nodes != MAX_NODES,
        "episodes": whole > EPISODES_S,
    }
    tell([name for name, beyond in missed.items() if beyond])


if __name__ == "__main__":
    main()
