"""What runs of ADAPT are compared by: method, ablation, persona; and how agents ask."""

from benchmarks.core.ports.comparisons import (
    Asking,
    Caption,
    Comparisons,
    Factor,
    Grouping,
    PaperTable,
    SimulatedUser,
    filled,
)
from benchmarks.systems.adapt.metrics import (
    LEAKED,
    QUESTIONS_SEEN,
    QUESTIONS_UNSEEN,
    SATISFACTION,
    SEEN,
    UNASKED,
    UNSEEN,
    satisfaction_curve,
)
from benchmarks.systems.adapt.settings import (
    ABLATIONS,
    BASELINE,
    METHODS,
    NO_ABLATION,
    REFLECTION_DPO,
    played_as,
)

_PUBLISHED = (SEEN, UNSEEN, QUESTIONS_SEEN, QUESTIONS_UNSEEN)
_LEFT_OUT = tuple(key for key in ABLATIONS if key != NO_ABLATION)

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
            "ablation",
            "Left out in training",
            "setting",
            ABLATIONS,
            where="Table 2",
            published={
                (measure, key): f"{measure}@ablation={key}"
                if key != NO_ABLATION
                else f"{measure}@method={REFLECTION_DPO}"
                for measure in _PUBLISHED
                for key in ABLATIONS
            },
            finding="without reflection the model asks once and satisfies fewer preferences than "
            "the baseline; without DPO it does about as well as the baseline",
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
    asking=Asking(
        key_of=played_as,
        titles={**METHODS, **{key: ABLATIONS[key] for key in _LEFT_OUT}},
        metrics=(*_PUBLISHED, UNASKED),
        result=SATISFACTION,
        tables=(
            PaperTable("Table 1", "Methods", tuple(METHODS)),
            PaperTable("Table 2", "Ablations", (BASELINE, REFLECTION_DPO, *_LEFT_OUT)),
        ),
        published={
            **{(m, key): f"{m}@method={key}" for m in _PUBLISHED for key in METHODS},
            **{(m, key): f"{m}@ablation={key}" for m in _PUBLISHED for key in _LEFT_OUT},
        },
        curves=satisfaction_curve,
        example="cereal_coffee",
    ),
    user=SimulatedUser("persona", metrics=("answered", LEAKED)),
)
