"""What certificates of validity play on SDA-Planner."""

import random
from collections import Counter
from collections.abc import Sequence

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.ports.comparisons import BracketSide
from benchmarks.core.ports.validity import AssumptionPair, Validity, Variant, always
from benchmarks.core.types import Ask, Task
from benchmarks.systems.sda_planner.scripted import BRACKET
from benchmarks.systems.sda_planner.settings import GLOBAL, LOCAL, SDA
from benchmarks.systems.sda_planner.steps import Step, write_plan

NOTHING = write_plan([])


def _plan(task: Task) -> str:
    """Return the demonstration of a task in words, which name kinds of things alone."""
    steps = [Step.of(step) for step in task.payload["gold"]]
    return write_plan([Step(step.skill, step.type) for step in steps])


def _random(task: Task, others: Sequence[Task]) -> Answerer:
    plans = [_plan(other) for other in others] or [NOTHING]

    def rule(ask: Ask, seed: int) -> Answer:
        return Answer(random.Random(seed).choice(plans))

    return Scripted("random-plan", "1", rule)


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return the demonstrations of these tasks, the most frequent first."""
    texts = Counter(_plan(task) for task in tasks)
    return [
        Variant("constant", text.replace("\n", " "), agent=always(text))
        for text, _ in texts.most_common()
    ]


FRESH, STUBBORN = BRACKET.sides


def _side(side: BracketSide) -> Variant:
    """Return the assumption of scripts that make the most mistakes."""
    return Variant(side.name, side.title, side.help, agent=side.scripts[-1])


VALIDITY = Validity(
    reference=Variant(
        "reference", "Demonstration", "The demonstration, step by step, without any correction.",
        "demonstration", settings={"max_corrections": 0},
    ),
    blind=(
        Variant("nothing", "Nothing", "Writes a plan without steps.", always(NOTHING)),
        Variant("random", "Random", "The demonstration of another task, drawn at random.", _random),
    ),
    constants=constants,
    constant_help="The demonstration that scores best on the other tasks of its type.",
    kind_of=lambda task: task.category,
    kinds="Task type",
    bracket=AssumptionPair(
        "Asked again, the script writes a plan anew, or repairs the one that failed.",
        (_side(FRESH), _side(STUBBORN)),
        tuple(
            Variant(planner, title, settings={"planner": planner})
            for planner, title in ((SDA, "SDA-Planner"), (LOCAL, "Local"), (GLOBAL, "Global"))
        ),
    ),
)  # fmt: skip
