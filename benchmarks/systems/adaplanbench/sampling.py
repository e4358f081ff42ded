"""A scripted agent that takes a temperature: it draws its plan instead of taking the best one."""

import math
import random
from collections.abc import Mapping

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.plans import pool_of
from benchmarks.systems.adaplanbench.scripted import Temperament, appeals, likings_of

NAME, VERSION = "sampling-planner", "1"
# What a clash with a remark costs, in units of taste: a hot planner takes it now and then.
CLASH = 4.0
# It cares for what the careful tracker does, and chance comes from the temperature alone.
MOOD = Temperament(quality=1.0, overlooks=0.0)


def _build(task: Task, parameters: Json) -> Answerer:
    """Draws plan i with a chance in proportion to exp(u_i / T); T = 0 takes the best one."""
    pool = pool_of(task)
    likings = likings_of(NAME, task, pool)
    temperature = float(parameters["temperature"])

    def rule(ask: Ask, seed: int) -> Answer:
        if not pool:
            return Answer("", declined="pool_exhausted: the task has no pool of plans")
        rng = random.Random(seed)
        ranks = appeals(pool, ask, rng, MOOD, likings)
        worth = [CLASH * clashes + taste for clashes, taste in ranks]
        best = max(worth)
        if temperature <= 0:
            return Answer(pool[worth.index(best)].text)
        weights = [math.exp((one - best) / temperature) for one in worth]
        return Answer(rng.choices(pool, weights)[0].text)

    return Scripted(NAME, VERSION, rule, {"temperature": temperature})


POLICIES: Mapping[str, ScriptedPolicy] = {
    NAME: ScriptedPolicy(NAME, "agent", "Sampling planner", VERSION, _build, {"temperature": 0.5})
}
