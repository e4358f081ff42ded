"""Recorded agents: they propose what somebody once answered, and have nothing else to say."""

import random
from collections.abc import Callable, Mapping
from typing import NamedTuple

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import derive_seed
from benchmarks.core.plans import PoolPlan, normal_words, pool_of
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task

VERSION = "1"
PEOPLE = "Prolific"
_FORMS = ("solutions_gpt4", "gpt4-prompt-2", "gpt4-prompt-3", "gpt4-prompt-4")


class AnswerPool(NamedTuple):
    """The authors whose answers a recorded agent proposes: these, or all but those."""

    title: str
    authors: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def holds(self, author: str) -> bool:
        if self.authors:
            return author in self.authors
        return bool(author) and author not in self.without


POOLS: Mapping[str, AnswerPool] = {
    "gpt4": AnswerPool("Recorded GPT-4, all prompts", _FORMS),
    "llama2": AnswerPool(
        "Recorded Llama 2, all sizes",
        ("llama2_7b_solutions", "llama2_13b_solutions", "llama2_70b_solutions"),
    ),
    "people": AnswerPool("Recorded people", (PEOPLE,)),
    "all-models": AnswerPool("Recorded models, all together", without=(PEOPLE,)),
    "everyone": AnswerPool("Recorded people and models"),
    "gpt4-prompt-1": AnswerPool("Recorded GPT-4, first prompt", ("solutions_gpt4",)),
    "gpt4-prompt-2": AnswerPool("Recorded GPT-4, second prompt", ("gpt4-prompt-2",)),
    "gpt4-prompt-3": AnswerPool("Recorded GPT-4, third prompt", ("gpt4-prompt-3",)),
    "gpt4-prompt-4": AnswerPool("Recorded GPT-4, fourth prompt", ("gpt4-prompt-4",)),
    "gpt35": AnswerPool("Recorded GPT-3.5", ("solutions_gpt35",)),
    "claude2": AnswerPool("Recorded Claude 2", ("solutions_claude2",)),
    "bard": AnswerPool("Recorded Bard", ("solutions_bard",)),
    "llama2-7b": AnswerPool("Recorded Llama 2 7B", ("llama2_7b_solutions",)),
    "llama2-13b": AnswerPool("Recorded Llama 2 13B", ("llama2_13b_solutions",)),
    "llama2-70b": AnswerPool("Recorded Llama 2 70B", ("llama2_70b_solutions",)),
}


def pool_for(task: Task, policy: str) -> tuple[PoolPlan, ...]:
    """Return the different answers that a recorded agent may propose, in the order of the
    record.
    """
    pool = POOLS[policy]
    plans: dict[str, PoolPlan] = {}
    for plan in pool_of(task):
        if pool.holds(plan.author):
            plans.setdefault(normal_words(plan.text), plan)
    return tuple(plans.values())


def _recorded(name: str) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        order = list(pool_for(task, name))
        random.Random(derive_seed("pool", name, task.id)).shuffle(order)

        def rule(ask: Ask, seed: int) -> Answer:
            proposed = {normal_words(text) for text in ask.context["plans"]}
            disclosed = {constraint["about"] for turn in ask.context["told"] for constraint in turn}
            left = [plan for plan in order if normal_words(plan.text) not in proposed]
            fits = [plan for plan in left if not any(plan.uses(about) for about in disclosed)]
            if fits:
                return Answer(fits[0].text)
            return Answer(
                "",
                declined=f"pool_exhausted: {len(order) - len(left)} of {len(order)} answers "
                f"proposed, {len(left)} ruled out by what was disclosed",
            )

        return Scripted(name, VERSION, rule, {"pool": name}, kind="recorded")

    return build


def _counter(name: str) -> Callable[[Task], int]:
    return lambda task: len(pool_for(task, name))


def _holder(pool: AnswerPool) -> Callable[[Task], bool]:
    return lambda task: any(
        pool.holds(row.get("author", "")) for row in task.payload.get("plans", ())
    )


POLICIES: Mapping[str, ScriptedPolicy] = {
    name: ScriptedPolicy(
        name,
        "agent",
        pool.title,
        VERSION,
        _recorded(name),
        label="recorded",
        has_recordings=_holder(pool),
        pool_size=_counter(name),
    )  # fmt: skip
    for name, pool in POOLS.items()
}
