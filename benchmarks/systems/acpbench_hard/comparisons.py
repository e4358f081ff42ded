"""The factors of ACPBench Hard: the form of the context, the prompt, and the worked examples."""

from collections.abc import Mapping

from benchmarks.core.ports.comparisons import (
    Caption,
    Comparisons,
    Contrasts,
    Factor,
    Grouping,
)
from benchmarks.systems.acpbench_hard.settings import (
    BOTH,
    CONTEXTS,
    CORRECTED,
    NL,
    OWN,
    PAPER,
    PDDL,
    REFERENCE,
)
from benchmarks.systems.acpbench_hard.tasks import KINDS, TASKS

_FORMS: Mapping[str, Caption] = {
    NL: Caption("Natural language", "The context in words."),
    PDDL: Caption("PDDL", "The texts of domain and problem in PDDL."),
    BOTH: Caption("Both", "The context in words, then in PDDL."),
}


def run_name(form: str) -> str:
    """Return a context form as runs are labelled with it."""
    return "standard" if form == NL else f"context={form}"


FACTORS = (
    Factor(
        "context",
        "Form of the context",
        "setting",
        _FORMS,
        pairs=((PDDL, BOTH),),
        where="Table 3",
        published={
            (measure, form): f"{measure}@context={form}"
            for measure in ("accurate", *TASKS)
            for form in CONTEXTS
        },
        finding="PDDL beside natural language helps on most tasks",
    ),
    Factor(
        "prompt",
        "Prompt",
        "setting",
        {
            OWN: Caption("Our own", "Our own wording and worked examples."),
            PAPER: Caption("Published", "The wording and shots of the benchmark's repository."),
        },
    ),
    Factor(
        "shots",
        "Worked examples",
        "setting",
        {
            2: Caption("Two", "Two worked examples before the question."),
            1: Caption("One", "One worked example."),
            0: Caption("None", "The question alone."),
        },
        steps=True,
        where="section 7.1",
        finding="two examples suffice for most models to keep the syntax",
    ),
    Factor(
        "counts",
        "Score that counts",
        "setting",
        {
            REFERENCE: Caption("Reference", "As the reference evaluator scores."),
            CORRECTED: Caption("Corrected", "As is right."),
        },
        advice="both scores of every answer are measures of their own; compare those where the "
        "answers are to be the same",
    ),
)

CONTRASTS = Contrasts(
    conditions={run_name(form): named for form, named in _FORMS.items()},
    baseline=run_name(NL),
    contrast=run_name(BOTH),
    published={f"accurate@context={form}": Caption(named.title) for form, named in _FORMS.items()},
)

_TASKS = {key: kind.title for key, kind in KINDS.items()}
_CAUTIONS = {key: task.caution for key, task in TASKS.items() if task.caution}
GROUPS = {
    "task": Grouping("Task", _TASKS, cautions=_CAUTIONS),
    "domain": Grouping("Domain"),
    "task+domain": Grouping("Task and domain", _TASKS),
    "distance": Grouping(
        "Next action, by length of a shortest plan",
        counts=True,
        curves_by="domain",
        axis="distance to the goal",
    ),
}

COMPARISONS = Comparisons(factors=FACTORS, contrasts=CONTRASTS, groups=GROUPS)
