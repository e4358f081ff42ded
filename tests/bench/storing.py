"""CPU cost of a stored call: 300 episodes of 5 turns through the product's own services.

Run by ``make bench``. It uses the shipped settings (SQLite, WAL, synchronous=FULL) on a database of
its own, and prints beside each figure what the same episodes cost with a log in memory.
"""

import os
import platform
import random
import sys
import tempfile
import time
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

EPISODES, TURNS, BUDGET_MS = 300, 5, 4.0


def processor() -> str:
    """The CPU's name as the kernel has it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def machine() -> str:
    """Return what figures were measured on, and how busy it was."""
    load, version = os.getloadavg()[0], platform.python_version()
    return f"{processor()}, {os.cpu_count()} cores, load {load:.2f}, Python {version}"


def tell(beyond: Sequence[str]) -> None:
    """Say what was beyond its budget. No exit code does: a busy machine is no error."""
    if beyond:
        print(f"beyond the budget: {'; '.join(beyond)}")


def set_up(folder: str) -> None:
    """Django on an empty database in ``folder``, with the settings that ``make run`` uses."""
    os.environ["PLANJURY_DATA_DIR"] = folder
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def wait_for_jobs(seconds: float = 600.0) -> None:
    """Wait until a worker has done what was queued before, which would compete with the work."""
    from benchmarks.models import Job

    until = time.monotonic() + seconds
    while Job.objects.filter(status__in=(Job.Status.QUEUED, Job.Status.RUNNING)).exists():
        assert time.monotonic() < until, "jobs are left that no worker does"
        time.sleep(0.2)


def make_system(judged: bool) -> Any:
    """A system of one agent call a turn and, where ``judged``, one judge call with its score."""
    from benchmarks.core.answerers import Answer, Answerer, Scripted
    from benchmarks.core.system import Role, ScriptedPolicy, System
    from benchmarks.core.types import (
        Ask,
        Episode,
        Expect,
        Json,
        Message,
        Outcome,
        Score,
        Task,
        Turn,
    )

    def answer_with(text: str) -> Callable[[Task, Json], Answerer]:
        return lambda task, parameters: Scripted(text, "1", lambda ask, seed: Answer(text))

    class BenchSystem(System):
        key = title = "judged" if judged else "plain"
        protocol_version = prompt_version = parser_version = scorer_version = "1"
        roles = (Role("agent", "Agent", ("instant",)), Role("judge", "Judge", ("four",)))
        settings = ()
        parsers: Mapping[str, Any] = {
            "text": lambda text, params: text,
            "score": lambda text, params: int(text),
        }
        scripted: Mapping[str, ScriptedPolicy] = {
            "instant": ScriptedPolicy(
                "instant", "agent", "Instant", "1", answer_with("1. Wipe the table with a cloth.")
            ),
            "four": ScriptedPolicy("four", "judge", "Four", "1", answer_with("4")),
        }
        dimensions = ()

        def seats(self, role: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
            return ("",) if judged or role == "agent" else ()

        def episode(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
            dialogue = [Message("system", "Plan."), Message("user", task.prompt)]
            for index in range(1, TURNS + 1):
                (plan,) = yield [Ask("agent", tuple(dialogue), Expect("text"))]
                scores: tuple[Score, ...] = ()
                if judged:
                    told = (Message("system", "Score."), Message("user", f"{index}: {plan.value}"))
                    (score,) = yield [Ask("judge", told, Expect("score"))]
                    scores = (Score("", "quality", score.value, "", score.step, score.slot),)
                yield Turn(index, plan.value, "Go on.", {"n": index}, (), scores)
                remark = Message("user", f"Go on after turn {index} of {task.id}.")
                dialogue += [Message("assistant", plan.value), remark]
            return Outcome("done", {"turns": TURNS})

        def summarise(self, outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
            return {}

        def sample_tasks(self) -> Sequence[Any]:
            return ()

    return BenchSystem()


def in_memory(system: Any) -> float:
    """CPU seconds of the same episodes with the log in memory: the floor."""
    from benchmarks.core.answerers import Cast
    from benchmarks.core.digests import derive_seed
    from benchmarks.core.driver import Driver
    from benchmarks.core.log import MemoryLog
    from benchmarks.core.types import Task

    start = time.process_time()
    for number in range(EPISODES):
        task = Task(f"task-{number}", f"Tidy room {number}.")
        cast = Cast({p.role: {"": p.build(task, {})} for p in system.scripted.values()})
        driver = Driver(cast, MemoryLog(), system.parsers, lambda a, b: derive_seed(0, a, b))
        driver.run(system.episode(task, {}, random.Random(0)))
    return time.process_time() - start


def register(system: Any) -> None:
    """Let this process know the system."""
    from benchmarks.core import registry

    folder = types.ModuleType(f"bench_{system.key}")
    folder.__path__ = []  # a package with nothing else in it
    module = types.ModuleType(f"{folder.__name__}.system")
    module.SYSTEM = system  # type: ignore[attr-defined]
    sys.modules |= {each.__name__: each for each in (folder, module)}
    registry.SYSTEMS[system.key] = (system.title, f"{module.__name__}:SYSTEM")


def save_rooms(system: Any, episodes: int = EPISODES, name: str = "") -> Any:
    """A dataset of so many tasks for the system."""
    from benchmarks.core.types import Task
    from benchmarks.datasets.services import save_dataset

    tasks = [(Task(f"task-{n}", f"Tidy room {n}."), ()) for n in range(episodes)]
    return save_dataset(
        system=system.key, name=name or system.title, version="", source="", licence="",
        checksum=name or system.title, tasks=tasks,
    ).dataset  # fmt: skip


def stored(system: Any) -> tuple[float, float]:
    """CPU and wall seconds of the episodes as the product runs and stores them."""
    from benchmarks.models import Agent, Trajectory
    from benchmarks.runs.services import start_runs
    from benchmarks.runs.worker import work_on_run

    register(system)
    dataset = save_rooms(system)
    agent, _ = Agent.objects.get_or_create(
        name="instant", defaults={"kind": "scripted", "policy": "instant", "title": "Instant"}
    )
    (run,) = start_runs(dataset=dataset, agents=[agent], wake=False)
    cpu, wall = time.process_time(), time.perf_counter()
    work_on_run(run_id=run.pk, owner="bench")
    spent = time.process_time() - cpu, time.perf_counter() - wall
    done = Trajectory.objects.filter(run=run, status=Trajectory.Status.DONE).count()
    assert done == EPISODES, f"{done} of {EPISODES} episodes done"
    return spent


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder)
        print(machine())
        print(f"{EPISODES} episodes of {TURNS} turns; budget {BUDGET_MS} ms of CPU per stored call")
        worst = 0.0
        for judged in (False, True):
            system = make_system(judged)
            calls = EPISODES * TURNS * (2 if judged else 1)
            floor = in_memory(system) / calls * 1000
            cpu, wall = (1000 * seconds / calls for seconds in stored(system))
            worst = max(worst, cpu)
            name = "agent + one judge a turn" if judged else "agent alone"
            print(
                f"{name:<26} {calls} calls: {cpu:.2f} ms CPU ({wall:.2f} ms wall) per call; "
                f"in memory {floor:.3f} ms, ratio {cpu / floor:.0f}"
            )
        tell([f"{worst:.2f} ms of CPU per stored call"] if worst > BUDGET_MS else [])


if __name__ == "__main__":
    main()
