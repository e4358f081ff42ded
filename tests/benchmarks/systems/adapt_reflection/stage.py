"""Episodes of the builder played with scripted answerers, or with replies that a test gives."""

import random
from typing import Any

from benchmarks.core.answerers import Answerer, Cast
from benchmarks.core.digests import derive_seed
from benchmarks.core.driver import Driver, Result
from benchmarks.core.log import MemoryLog
from benchmarks.core.system import read_settings
from benchmarks.core.types import Task
from benchmarks.systems.adapt_reflection.system import SYSTEM


def cast(task: Task, **others: Answerer) -> Cast:
    """The scripted answerers of all roles, but for those that are given."""
    known = SYSTEM.scripted
    scripts = {role.name: known[role.default[0]] for role in SYSTEM.roles}
    made = {name: policy.build(task, policy.parameters) for name, policy in scripts.items()}
    return Cast({name: {"": who} for name, who in {**made, **others}.items()})


def build(
    task: Task, log: MemoryLog, who: Cast | None = None, seed: int = 1, **settings: Any
) -> Result:
    """Return how one trajectory of the builder ends, stored in ``log``."""
    driver = Driver(
        who or cast(task), log, SYSTEM.parsers, lambda step, slot: derive_seed(seed, step, slot)
    )
    rng = random.Random(derive_seed(seed, task.id, 1))
    return driver.run(SYSTEM.episode(task, read_settings(SYSTEM.settings, settings), rng))
