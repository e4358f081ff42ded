"""Playing trials with scripted agents, and where the shared trials are."""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Cast, Scripted
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Outcome, Task, Turn
from benchmarks.systems.sda_planner.dataset.importer import read_prepared
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from benchmarks.systems.sda_planner.repair.graph import LOC, POS, Belief, builtin_graph
from benchmarks.systems.sda_planner.steps import Step
from benchmarks.systems.sda_planner.system import SYSTEM
from tests.shared_data import shared_data


def alfred_tasks() -> list[Task]:
    """Return the 60 shared trials; skips where they are not at hand."""
    return _alfred(
        shared_data("alfred", "tasks.jsonl.gz"), shared_data("alfred", "scenes.jsonl.gz")
    )


@cache
def _alfred(tasks: Any, scenes: Any) -> list[Task]:
    return [task for task, _ in read_prepared([tasks, scenes], {}).tasks]


def sample(id: str) -> Task:
    """Return a task of the sample house."""
    return next(task for task in sample_tasks() if task.id == id)


def play(task: Task, agent: str | Answerer, seed: int = 1, **settings: Any) -> "Played":
    """Play a trial with a scripted agent under settings."""
    log = MemoryLog()
    known = SYSTEM.scripted
    if isinstance(agent, str):
        agent = known[agent].build(task, known[agent].parameters)

    def seed_for(step: int, slot: int) -> int:
        return derive_seed(seed, task.id, "", 1, step, slot)

    driver = Driver(Cast({"agent": {"": agent}}), log, SYSTEM.parsers, seed_for)
    rng = random.Random(derive_seed(seed, task.id))
    result = driver.run(SYSTEM.episode(task, read_settings(SYSTEM.settings, settings), rng))
    assert isinstance(result, Finished)
    return Played(result.outcome, [log.turns[n] for n in sorted(log.turns)])


class Played:
    """An episode that was played."""

    def __init__(self, outcome: Outcome, turns: Sequence[Turn]) -> None:
        self.outcome, self.turns = outcome, turns

    def corrections(self) -> list[Mapping[str, Any]]:
        return [turn.payload["correction"] for turn in self.turns if turn.payload["correction"]]

    def errors(self) -> list[Mapping[str, Any]]:
        return [turn.payload["error"] for turn in self.turns if turn.payload["error"]]


def answering(*texts: str, other: str = "none") -> Answerer:
    """Return an agent that writes these plans one after the other, and ``other`` where it helps.

    A choice is always the first.
    """

    def rule(ask: Ask, seed: int) -> Answer:
        purpose = ask.context["purpose"]
        if purpose == "choice":
            return Answer("1")
        if purpose == "corrective":
            return Answer(other)
        return Answer(texts[min(ask.context["number"], len(texts) - 1)])

    return Scripted("answering", "1", rule)


def by_rule(rule: Callable[[Ask], str]) -> Answerer:
    """Return an agent that follows a rule."""
    return Scripted("rule", "1", lambda ask, seed: Answer(rule(ask)))


class Kinds(dict[str, str]):
    """The types of things by short names."""

    def type_of(self, id: str) -> str:
        return self.get(id, "")


def beliefs_of(
    kinds: Kinds, places: Mapping[str, str], at: str | None, plan: Sequence[Step], upto: int
) -> list[Belief]:
    """Return the beliefs before a plan and after each of its first ``upto`` steps."""
    base: dict[tuple[str, str], Any] = {(LOC, id): place for id, place in places.items()}
    base[POS, ""] = at
    found = [Belief(kinds, base)]
    for step in plan[:upto]:
        belief = found[-1].copy()
        belief.apply(builtin_graph(), step)
        found.append(belief)
    return found
