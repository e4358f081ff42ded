"""Episodes of ADAPT played with scripted answerers, or with replies that a test gives."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.core.answerers import Answer, Answerer, Cast, Scripted
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Finished
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Ask, Outcome, Task, Turn
from benchmarks.systems.adapt.dataset import LEVEL, load_personas
from benchmarks.systems.adapt.system import SYSTEM


def task_named(name: str) -> Task:
    task, profiles = next(row for row in load_personas().tasks if row[0].id == name)
    return replace(task, profile=profiles[0])


def every_task() -> list[Task]:
    return [replace(task, profile=profiles[0]) for task, profiles in load_personas().tasks]


def saying(replies: Sequence[str] | Callable[[Ask], str]) -> Answerer:
    """Somebody who gives these replies in turn, the last one for ever."""
    given: list[int] = []

    def rule(ask: Ask, seed: int) -> Answer:
        if callable(replies):
            return Answer(replies(ask))
        given.append(1)
        return Answer(replies[min(len(given), len(replies)) - 1])

    return Scripted("said", "1", rule)


def play(
    task: Task,
    agent: Answerer | None = None,
    persona: Answerer | None = None,
    slip: float | None = None,
    seed: int = 1,
    **settings: Any,
) -> tuple[list[Turn], Outcome, MemoryLog]:
    """The turns, the outcome and the log of an episode."""
    known = SYSTEM.scripted
    cook = dict(known["cook"].parameters) | ({} if slip is None else {"slip": slip})
    cast = Cast(
        {
            "agent": {"": agent or known["cook"].build(task, cook)},
            "persona": {"": persona or known["lexicon-persona"].build(task, {})},
        }
    )
    log = MemoryLog()
    rng = random.Random(derive_seed(seed, task.id, LEVEL, 1))
    driver = Driver(cast, log, SYSTEM.parsers, lambda step, slot: derive_seed(seed, step, slot))
    result = driver.run(SYSTEM.episode(task, read_settings(SYSTEM.settings, settings), rng))
    assert isinstance(result, Finished), result
    return list(log.turns.values()), result.outcome, log
