"""What certificates of validity play on SDA-Planner."""

import random
from collections import Counter
from collections.abc import Sequence

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.ports.validity import Bracket, Validity, Variant, always
from benchmarks.core.types import Ask, Task
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
    bracket=Bracket(
        "Where a plan fails, the script always sets it right, or never does.",
        (
            Variant("fixes", "Always set right", agent="errors-60", parameters={"fix": 1.0}),
            Variant("never", "Never set right", agent="errors-60", parameters={"fix": 0.0}),
        ),
        tuple(
            Variant(planner, title, settings={"planner": planner})
            for planner, title in ((SDA, "SDA-Planner"), (LOCAL, "Local"), (GLOBAL, "Global"))
        ),
    ),
)  # fmt: skip
