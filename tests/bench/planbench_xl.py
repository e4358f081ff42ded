"""CPU cost of PlanBench-XL's environment, and of its blocking plans, at the published size.

Run by ``make bench``. The world is generated with the published statistics (327 tasks, 1,665 tools,
4,313 paths of 5 to 13 tools, up to 77 a task); the agent's replies are made beforehand, so that no
time of an agent counts. Steps are measured with the asks they lead to, digests included.
"""

import random
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.core.answerers import Answer, Cast, Scripted
from benchmarks.core.digests import canonical_json, digest
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.types import Ask, Reply, Task, Turn
from benchmarks.systems.planbench_xl.environment.blockers import plan_for
from benchmarks.systems.planbench_xl.environment.catalogue import (
    BLOCKER_TYPES,
    NOISY_TYPES,
    world_of,
)
from benchmarks.systems.planbench_xl.settings import CONDITIONS, DEFAULTS, resolve
from benchmarks.systems.planbench_xl.system import SYSTEM
from tests.bench.storing import machine, tell

TYPES, BASELINE, TASKS, PATHS, MOST_PATHS = 56, 185, 327, 4313, 77
INPUTS = {1: 136, 2: 2, 3: 19, 4: 12, 5: 16}
STEPS, EPISODES = 100, 40
STEP_MS, FLAT, PLANS_S = 1.0, 1.5, 5.0


def tool(name: str, inputs: Sequence[str], output: str, **more: Any) -> dict[str, Any]:
    about = {"type": "string", "description": "One of the values that this lookup needs. " * 2}
    return {
        "type": "function",
        "name": name,
        "description": f"From {' and '.join(inputs)} this looks up {output}. " * 3,
        "parameters": {
            "type": "object",
            "properties": {f"the_{one}": about for one in inputs},
            "required": [f"the_{one}" for one in inputs],
            "additionalProperties": False,
        },
        "strict": True,
        "input_datatypes": list(inputs),
        "output_datatype": output,
        "surface_argument_to_datatype": {f"the_{one}": one for one in inputs},
        **more,
    }


def generate(rng: random.Random) -> tuple[Task, ...]:
    """Tasks that share a world of the published size."""
    types = [f"kind_{n:02}_of_value" for n in range(TYPES)]
    sizes = [size for size, count in INPUTS.items() for _ in range(count)]
    base = [
        tool(f"base_{n:03}_with_a_long_name", rng.sample(types, size), rng.choice(types))
        for n, size in enumerate(sizes)
    ]
    variants = {
        "noisy": [
            {**b, "name": f"{b['name']}_{kind}", "noise_type": kind, "return_value": "wrong"}
            | {"baseline_tool_name": b["name"]}
            for b in base
            for kind in NOISY_TYPES
        ],
        "blocker": [
            {**b, "name": f"{b['name']}_{kind[:8]}", "noise_type": kind, "return_value": "???"}
            | {"baseline_tool_name": b["name"]}
            for b in base
            for kind in BLOCKER_TYPES
        ],
    }
    shared = {
        "domain": "retail",
        "datatypes": [
            {
                "name": name,
                "description": f"What {name} stands for, in one sentence.",
                "aliases": [f"{name} alias {n} {rng.random():.6f}" for n in range(7)],
            }
            for name in types
        ],
        "rows": {f"case_{n}": {name: f"{name}-{n}" for name in types} for n in range(100)},
        "tools": {"baseline": base, **variants},
    }
    shared["checksum"] = digest(shared)
    on_paths = [b["name"] for b in base[:60]]
    tasks = []
    for number, count in enumerate(path_counts(rng)):
        pool = rng.sample(on_paths, rng.randint(14, 40))
        paths = [sorted(rng.sample(pool, rng.randint(5, 13))) for _ in range(count)]
        given = rng.sample(types, 2)
        payload = {
            "task_id": f"task_{number:04}",
            "input_datatypes": given,
            "input_values": {name: f"{name}-1" for name in given},
            "input_type": "two",
            "target_datatype": types[number % TYPES],
            "correct_answer": "none of these",
            "example_path": paths[0],
            "paths": paths,
        }
        tasks.append(Task(f"query_{number:04}", "A question.", "two", payload, shared=shared))
    return tuple(tasks)


def path_counts(rng: random.Random) -> list[int]:
    """Return how many paths each task has: 1 to 77, 4,313 in all."""
    counts = [min(MOST_PATHS, max(1, round(rng.expovariate(1 / 12)))) for _ in range(TASKS)]
    while (missing := PATHS - sum(counts)) != 0:
        step = 1 if missing > 0 else -1
        at = rng.randrange(TASKS)
        if 1 <= counts[at] + step <= MOST_PATHS:
            counts[at] += step
    return counts


def replies(task: Task, rng: random.Random) -> list[str]:
    """Searches and calls in turn, as the most active agent might make them."""
    world = world_of(task.shared)
    texts = []
    for step in range(STEPS):
        name = rng.choice(world.datatypes).name
        if step % 2 == 0:
            request = {"meta_tool": "by_output_info", "output_information": name.replace("_", " ")}
            texts.append(f"<retrieve_tools>{canonical_json(request)}</retrieve_tools>")
            shown = world.by_output.get(name, ())
        else:
            known = rng.choice(shown) if shown else rng.choice(list(world.tools.values()))
            arguments = {surface: f"{kind}-1" for surface, kind in known.arguments.items()}
            call = {"name": known.name, "arguments": arguments}
            texts.append(f"<tool_call>{canonical_json(call)}</tool_call>")
    return texts


SETTINGS = {**DEFAULTS, "condition": "blocker", "max_retrieval_errors": 50, "max_call_errors": 50}


def play(task: Task, texts: Sequence[str], spent: list[float]) -> None:
    """One episode; the CPU time of each step is added to ``spent``."""
    episode = SYSTEM.episode(task, SETTINGS, random.Random(0))
    next(episode)
    for number, text in enumerate(texts):
        reply = Reply("answered", SYSTEM.parsers["tagged_action"](text, {}), text)
        began = time.process_time()
        item = episode.send([reply])
        try:
            while isinstance(item, Turn):
                item = next(episode)
            item[0].digest  # noqa: B018  (what the driver asks of each ask)
        except StopIteration:
            spent[number] += time.process_time() - began
            return
        spent[number] += time.process_time() - began


def replay(task: Task, texts: Sequence[str]) -> float:
    """Milliseconds of CPU to play a stored episode back through the driver."""

    def rule(ask: Ask, seed: int) -> Answer:
        return Answer(texts[ask.context["step"] - 1])

    log = MemoryLog()
    cast = Cast({"agent": {"": Scripted("bench", "1", rule)}})
    driver = Driver(cast, log, SYSTEM.parsers, lambda step, slot: 0)
    assert isinstance(driver.run(SYSTEM.episode(task, SETTINGS, random.Random(0))), Finished)
    began = time.process_time()
    driver.run(SYSTEM.episode(task, SETTINGS, random.Random(0)))
    return (time.process_time() - began) * 1000


def main() -> None:
    """Print the figures."""
    print(machine())
    rng = random.Random(11)
    tasks = generate(rng)

    began = time.process_time()
    world = world_of(tasks[0].shared)
    indexes = (world.matcher, world.by_output, world.by_inputs, world.siblings, world.blockers)
    print(
        f"{len(world.tools)} tools, {len(indexes)} indexes, once per process: "
        f"{(time.process_time() - began) * 1000:.0f} ms of CPU"
    )

    worst = 0.0
    for name in CONDITIONS:
        rules = resolve({"condition": name}).rules
        if rules is None:
            continue
        plan_for.cache_clear()
        began = time.process_time()
        for task in tasks:
            plan_for(task.payload["task_id"], tuple(map(tuple, task.payload["paths"])), rules)
        taken = time.process_time() - began
        worst = max(worst, taken)
        print(f"blocking plans of {TASKS} tasks, {name}: {taken:.2f} s of CPU")

    spent = [0.0] * STEPS
    for task in tasks[:EPISODES]:
        play(task, replies(task, rng), spent)
    ms = [seconds / EPISODES * 1000 for seconds in spent]
    start, end = (sum(part) / len(part) for part in (ms[2:22], ms[-20:]))
    mean = sum(ms) / STEPS
    again = [replay(task, replies(task, rng)) for task in tasks[:5]]
    print(
        f"environment, {STEPS} steps: {mean:.3f} ms of CPU per step; steps 3 to 22 {start:.3f} ms, "
        f"last 20 {end:.3f} ms; budget {STEP_MS} ms; replay of a stored episode "
        f"{sum(again) / len(again):.0f} ms"
    )
    print(f"last steps {end / start:.2f} times the first, at most {FLAT}; plans within {PLANS_S} s")
    missed = {"plans": worst > PLANS_S, "steps": mean > STEP_MS, "last steps": end > FLAT * start}
    tell([name for name, beyond in missed.items() if beyond])


if __name__ == "__main__":
    main()
