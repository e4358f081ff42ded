"""What certificates of validity play on ACPBench Hard."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.ports.validity import AssumptionPair, Validity, Variant, always
from benchmarks.core.types import Task
from benchmarks.systems.acpbench_hard.dataset import question_of
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, instance_of, show_atom
from benchmarks.systems.acpbench_hard.scripted import NONE, right_answer, write
from benchmarks.systems.acpbench_hard.settings import CORRECTED, REFERENCE
from benchmarks.systems.acpbench_hard.tasks import KINDS

# Names that the answer "everything" lists at most.
MOST_NAMED = 500
_OF_ACTIONS = ("app", "areach", "just", "nexta", "val")


def everything(task: Task, others: Sequence[Task]) -> Answerer:
    """Return an agent that lists every action, or every proposition where those are asked for; of
    answers that are given, all of them.
    """
    if options := question_of(task).options:
        return always(" ".join(options))(task, others)
    if options := question_of(task).options:
        return Scripted("everything", "1", lambda ask, seed: Answer(" ".join(options)))
    instance = instance_of(task.payload["pddl_domain"], task.payload["pddl_problem"])
    names = list(islice(_names(instance, task.payload["task"] in _OF_ACTIONS), MOST_NAMED))
    texts = [show_atom(name) for name in names]
    text = write((texts, []) if task.payload["task"] == "prog" else texts)
    return Scripted("everything", "1", lambda ask, seed: Answer(text))


def _names(instance: Instance, actions: bool) -> Iterator[tuple[str, ...]]:
    domain = instance.domain
    if actions:
        kinds = {
            one.name: [types for _, types in one.parameters] for one in domain.actions.values()
        }
    else:
        kinds = {name: list(domain.predicates[name]) for name in sorted(domain.fluents)}
    for name, parameters in kinds.items():
        fitting = [
            [own for own, kind in instance.objects.items() if domain.is_one_of(kind, types)]
            for types in parameters
        ]
        yield from ((name, *objects) for objects in product(*fitting))


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return the stored answers of these questions, the most frequent first."""
    texts = Counter(
        write(right_answer(question_of(task), random.Random(0))) for task in tasks
    )  # fmt: skip
    return [Variant("constant", text, agent=always(text)) for text, _ in texts.most_common()]


VALIDITY = Validity(
    reference=Variant(
        "reference", "Stored answer", "The answer that is stored with the question.", "acp-perfect"
    ),
    blind=(
        Variant("nothing", "Nothing", "Answers “None” to every question.", always(NONE)),
        Variant("everything", "Everything", "Lists every action or proposition.", everything),
        Variant(
            "random", "Random", "A well-formed answer of names of the problem, drawn at random; "
            "for the next action, one of those that can be performed.", "acp-random",
        ),
    ),
    constants=constants,
    constant_help="The answer that scores best on the other questions of the same task.",
    kind_of=lambda task: KINDS[task.payload["task"]].title,
    kinds="Task",
    bracket=AssumptionPair(
        "The score is read as in the reference, or as its authors meant it.",
        (
            Variant("reference", "Score of the reference", settings={"counts": REFERENCE}),
            Variant("corrected", "Corrected score", settings={"counts": CORRECTED}),
        ),
        tuple(
            Variant(name, title, agent=name)
            for name, title in (
                ("acp-noisy", "Perfect but for slips"),
                ("acp-format-breaker", "Right in a broken format"),
                ("acp-greedy", "Greedy"),
                ("acp-random", "Random guesses"),
            )
        ),
    ),
)  # fmt: skip
