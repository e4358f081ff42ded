"""The view of a task's pool of known plans, for pages of AdaPlanBench."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from benchmarks.core.plans import PoolPlan, normal_words, pool_of
from benchmarks.core.ports.display import Subject, View
from benchmarks.systems.adaplanbench.macgyver.answers import verdict_words
from benchmarks.systems.adaplanbench.macgyver.pools import POOLS, pool_for
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

_TITLES = {dimension.key: dimension.title for dimension in DIMENSIONS}


class KnownPlan(NamedTuple):
    """A plan that was known beforehand; ``quality`` by dimension in words."""

    key: str
    steps: Sequence[str]
    tools: Sequence[str]
    attributes: Sequence[str]
    author: str
    verdict: str
    quality: Sequence[tuple[str, int]]

    @property
    def mean(self) -> float | None:
        return fmean(value for _, value in self.quality) if self.quality else None


def _known(plan: PoolPlan) -> KnownPlan:
    words = verdict_words(plan.verdict)
    quality = [(_TITLES.get(key, key).lower(), value) for key, value in plan.quality.items()]
    return KnownPlan(plan.key, plan.steps, plan.tools, plan.attributes, plan.author, words, quality)


def known_plans(subject: Subject) -> list[KnownPlan]:
    """Return the known plans of a task, in stored order."""
    return [_known(plan) for plan in pool_of(subject.task)]


class PlanPool(NamedTuple):
    """The pool behind a trajectory: its size where the agent is limited to it, and its texts."""

    size: int | None
    by_text: Mapping[str, KnownPlan]

    def find(self, text: str) -> KnownPlan | None:
        return self.by_text.get(normal_words(text)) if self.by_text else None


def recorded_plan(subject: Subject, text: str) -> KnownPlan | None:
    """Return the known plan with this very text, if it has an author or a verdict to tell of."""
    plan = plan_pool(subject).find(text)
    return plan if plan and (plan.author or plan.verdict) else None


def plan_pool(subject: Subject) -> PlanPool:
    """Return the pool of plans that the agent of a trajectory chose from.

    Where several authors gave the same answer, the one of the agent's own pool stands for it.
    """
    return subject.once("plan_pool", lambda: _plan_pool(subject))


def _plan_pool(subject: Subject) -> PlanPool:
    agents = subject.roles.get("agent") or ({},)
    policy = agents[0].get("policy", "")
    own = pool_for(subject.task, policy) if policy in POOLS else ()
    by_text: dict[str, KnownPlan] = {}
    for plan in (*own, *pool_of(subject.task)):
        by_text.setdefault(normal_words(plan.text), _known(plan))
    return PlanPool(len(own) if policy in POOLS else None, by_text)


DISPLAYS: Mapping[str, View] = {
    "known_plans": known_plans,
    "recorded_plan": recorded_plan,
    "plan_pool": plan_pool,
}
