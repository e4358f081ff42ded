"""What certificates of validity play on ADAPT."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.ports.validity import Bracket, Validity, Variant, always
from benchmarks.core.types import Ask, Json, Outcome, Task
from benchmarks.systems.adapt.scripted import AGENT_POLICY, POLICIES
from benchmarks.systems.adapt.settings import BASELINE, NEVER_ASK, REFLECTION_DPO, TEACHER

NOTHING = "Declare Done"
RECIPES = 6
_SURE: Json = {"slip": 0.0, "extra": 0.0}
_SILENT: Json = {"method": NEVER_ASK}


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return cooks that make each dish by one recipe, for whoever it is."""
    return [
        Variant("constant", f"recipe {number + 1}", agent=_Recipe(number), settings=_SILENT)
        for number in range(RECIPES)
    ]


class _Recipe:
    """Builds a cook that never asks and always draws the same choices."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, task: Task, others: Sequence[Task]) -> Answerer:
        policy = POLICIES[AGENT_POLICY]
        cook = policy.build(task, {**policy.parameters, "slip": 0.0})

        def rule(ask: Ask, seed: int) -> Answer:
            return cook.answer(replace(ask, context={**ask.context, "draw": self.number}), seed)

        return Scripted("one-recipe", "1", rule, {"recipe": self.number})


def usable(outcome: Outcome) -> bool:
    """Return whether all dishes can be made and a preference applies.

    Some preferences of a person contradict each other, so that nobody can meet all of them.
    """
    return outcome.metrics.get("completed") == 1 and bool(outcome.metrics.get("satisfaction"))


VALIDITY = Validity(
    reference=Variant(
        "reference", "Cook who is told the preferences",
        "A scripted cook without slips, who knows every preference.", AGENT_POLICY, _SURE,
        {"method": TEACHER},
    ),
    blind=(
        Variant("nothing", "Nothing", "Declares itself done at once.", always(NOTHING)),
        Variant("everything", "Everything", "Never asks, and adds every usual ingredient.",
                AGENT_POLICY, {**_SURE, "extra": 1.0}, _SILENT),
        Variant("random", "Random", "Never asks, and cooks by chance.", AGENT_POLICY,
                settings=_SILENT),
    ),
    usable=usable,
    constants=constants,
    constant_help="The recipe that scores best on the other tasks with the same dishes.",
    kind_of=lambda task: " and ".join(task.payload["expects"]),
    kinds="Dishes",
    bracket=Bracket(
        "The scripted cook makes slips often, or never.",
        (
            Variant("sure", "Without slips", parameters={"slip": 0.0}),
            Variant("careless", "With slips at 0.3", parameters={"slip": 0.3}),
        ),
        tuple(
            Variant(method, title, agent=AGENT_POLICY, settings={"method": method})
            for method, title in (
                (NEVER_ASK, "Never ask"),
                (BASELINE, "Baseline"),
                (REFLECTION_DPO, "Reflection-DPO"),
            )
        ),
    ),
)  # fmt: skip
