"""What certificates of validity play on AdaPlanBench."""

import random
import re
from collections.abc import Callable, Sequence

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.plans import PoolPlan, combine, stages_of
from benchmarks.core.ports.validity import (
    FORMS,
    AgentOf,
    AssumptionPair,
    Form,
    Validity,
    Variant,
    always,
)
from benchmarks.core.types import Ask, Task
from benchmarks.systems.adaplanbench.scripted import SEVERITIES, TEMPERAMENTS

NOTHING = "1. Do nothing."
# Places in the list of ways that a constant policy can always take.
MOST_PLACES = 8
Choose = Callable[[Sequence[PoolPlan], random.Random], PoolPlan]


def _chooser(name: str, choose: Choose) -> AgentOf:
    """Return an agent that takes a way for each stage without hearing what it is told."""

    def build(task: Task, others: Sequence[Task]) -> Answerer:
        stages = stages_of(task)

        def rule(ask: Ask, seed: int) -> Answer:
            if not stages:
                return Answer("", declined="pool_exhausted: the task has no pool of plans")
            rng = random.Random(seed)
            return Answer(combine([choose(ways, rng) for ways in stages]).text)

        return Scripted(name, "1", rule)

    return build


def best_allowed(task: Task, others: Sequence[Task]) -> Answerer:
    """Return an agent that knows the hidden constraints and takes the best way that keeps them."""
    about = [one.about for one in task.profile.constraints] if task.profile is not None else []

    def choose(ways: Sequence[PoolPlan], rng: random.Random) -> PoolPlan:
        return max(ways, key=lambda way: (-sum(map(way.uses, about)), *_quality(way)))

    return _chooser("best-allowed", choose)(task, others)


def _quality(way: PoolPlan) -> tuple[float, float]:
    levels = list(way.quality.values()) or [0]
    return min(levels), sum(levels) / len(levels)


def has_plans(task: Task) -> bool:
    """Return whether plans are stored with a task whose quality is known."""
    return any(way.quality for ways in stages_of(task) for way in ways)


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return the policies that always take the way at one place of the list."""
    most = max((len(ways) for task in tasks for ways in stages_of(task)), default=0)

    def at(place: int) -> Choose:
        return lambda ways, rng: ways[min(place, len(ways) - 1)]

    return [
        Variant("constant", f"way {place + 1}", agent=_chooser("one-place", at(place)))
        for place in range(min(most, MOST_PLACES))
    ]


# Scripted judges recognise a plan by its steps, so these forms leave the steps as they are.
PLAN_FORMS = (
    *(form for form in FORMS if form.key in ("introduced", "spaced")),
    Form("brackets", "with steps as “1)”", lambda text: re.sub(r"(?m)^(\d+)\.", r"\1)", text)),
)


def _judges(name: str) -> Variant:
    return Variant(name, SEVERITIES[name][0], roles={"rubric_judge": (name,)})


VALIDITY = Validity(
    reference=Variant(
        "reference", "Best allowed plan",
        "The best of the task's own plans that breaks no hidden constraint.", best_allowed,
    ),
    has_reference=has_plans,
    blind=(
        Variant("nothing", "Nothing", "Writes “Do nothing.” as its plan.", always(NOTHING)),
        Variant("random", "Random", "One of the task's own plans, drawn at random in each turn.",
                _chooser("random-plan", lambda ways, rng: rng.choice(ways))),
    ),
    constants=constants,
    constant_help="The place in the list of a task's own plans that scores best on other tasks.",
    bracket=AssumptionPair(
        "All rubric judges are lenient, or all are strict.",
        (_judges("judge-lenient"), _judges("judge-strict")),
        tuple(
            Variant(name, TEMPERAMENTS[name][0], agent=name)
            for name in ("careful-tracker", "explorer", "last-word", "shortcut-taker")
        ),
    ),
    forms=PLAN_FORMS,
    version="2",
)  # fmt: skip
