"""The factors by which runs of ADAPT are compared: the method, and the persona."""

from benchmarks.core.ports.comparisons import Caption, Comparisons, Factor, Grouping, filled
from benchmarks.systems.adapt.metrics import QUESTIONS_SEEN, QUESTIONS_UNSEEN, SEEN, UNSEEN
from benchmarks.systems.adapt.settings import METHODS

COMPARISONS = Comparisons(
    factors=(
        Factor(
            "method",
            "Method",
            "setting",
            METHODS,
            where="Table 1",
            published={
                (measure, method): f"{measure}@method={method}"
                for measure in (SEEN, UNSEEN, QUESTIONS_SEEN, QUESTIONS_UNSEEN)
                for method in METHODS
            },
            finding="never asking satisfies fewest preferences; Reflection-DPO lies between the "
            "baselines and always asking, with fewer than half of its questions; the teacher "
            "satisfies most",
        ),
        Factor(
            "persona",
            "Who is the person",
            "people",
            {
                "": Caption("Script or model", "No person answers the agent."),
                filled(["persona"]): Caption("Person", "A person answers as the persona."),
            },
            advice="play sessions with the same agent on the same tasks",
            roles=("persona",),
        ),
    ),
    groups={
        "persona": Grouping("Persona", key="persona_name"),
        "task": Grouping("Meal", key="task"),
    },
)
