"""What certificates of validity play on ADAPT."""

from collections.abc import Sequence

from benchmarks.core.ports.validity import AssumptionPair, Validity, Variant
from benchmarks.core.types import Json, Outcome, Task
from benchmarks.systems.adapt.blind import RECIPES, TITLES
from benchmarks.systems.adapt.scripted import AGENT_POLICY
from benchmarks.systems.adapt.settings import BASELINE, NEVER_ASK, REFLECTION_DPO, TEACHER

_SURE: Json = {"slip": 0.0, "extra": 0.0}
_SILENT: Json = {"method": NEVER_ASK}


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return agents that make each dish by one recipe, for whoever it is."""
    return [
        Variant("constant", TITLES[name], agent=f"blind-{name}", settings=_SILENT)
        for name in RECIPES
    ]


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
        Variant("nothing", "Nothing", "Declares itself done at once.", "blind-nothing",
                settings=_SILENT),
        Variant("everything", "Everything", "Never asks, and adds one of everything that goes "
                "with a dish.", "blind-everything", settings=_SILENT),
        Variant("usual", "One recipe for all", "Never asks, and makes what most people like.",
                "blind-usual", settings=_SILENT),
        Variant("never", "Never ask", "Cooks by chance and asks nobody.", AGENT_POLICY,
                settings=_SILENT),
    ),
    usable=usable,
    constants=constants,
    constant_help="The recipe that scores best on the other tasks with the same dishes.",
    kind_of=lambda task: " and ".join(task.payload["expects"]),
    kinds="Dishes",
    bracket=AssumptionPair(
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
