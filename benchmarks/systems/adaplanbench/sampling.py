"""A scripted agent that takes a temperature: it draws its plan instead of taking the best one."""

import math
import random
from collections.abc import Mapping

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.plans import KnownPlans, combine, stages_of
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.scripted import (
    Temperament,
    appeals,
    likings_of,
    plans_before,
    remembered,
)

NAME, VERSION = "sampling-planner", "2"
# What a clash with a remark costs, in units of taste: a hot planner takes it now and then.
CLASH = 4.0
# It cares for what the careful tracker does, and chance comes from the temperature alone.
MOOD = Temperament(quality=1.0, forgets=0.0, overlooks=0.0)


def _build(task: Task, parameters: Json) -> Answerer:
    """Draws way i of a stage with a chance in proportion to exp(u_i / T); T = 0 takes the best."""
    stages, known = stages_of(task), KnownPlans(task)
    likings = likings_of(NAME, task, stages)
    temperature = float(parameters["temperature"])

    def rule(ask: Ask, seed: int) -> Answer:
        if not stages:
            return Answer("", declined="pool_exhausted: the task has no pool of plans")
        rng = random.Random(seed)
        before, avoid = plans_before(known, ask), remembered(ask, MOOD, rng)
        chosen = []
        for ways in stages:
            ranks = appeals(ways, before, avoid, rng, MOOD, likings)
            worth = [CLASH * clashes + taste for clashes, taste in ranks]
            best = max(worth)
            if temperature <= 0:
                chosen.append(ways[worth.index(best)])
            else:
                weights = [math.exp((one - best) / temperature) for one in worth]
                chosen += rng.choices(ways, weights)
        return Answer(combine(chosen).text)

    return Scripted(NAME, VERSION, rule, {"temperature": temperature})


POLICIES: Mapping[str, ScriptedPolicy] = {
    NAME: ScriptedPolicy(NAME, "agent", "Sampling planner", VERSION, _build, {"temperature": 0.5})
}
