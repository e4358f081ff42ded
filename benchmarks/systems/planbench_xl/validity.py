"""What certificates of validity play on PlanBench-XL."""

import random
from collections import Counter
from collections.abc import Sequence

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.ports.validity import AgentOf, AssumptionPair, Validity, Variant
from benchmarks.core.types import Ask, Task
from benchmarks.systems.planbench_xl.environment.actions import ANSWER
from benchmarks.systems.planbench_xl.scripted import GIVEN_UP, POLICIES, write


def _answers(text: str) -> Answerer:
    return Scripted("answers", "1", lambda ask, seed: Answer(write(ask, (ANSWER, text))))


def _always(text: str) -> AgentOf:
    return lambda task, others: _answers(text)


def _known(task: Task, others: Sequence[Task]) -> list[str]:
    """Return the right answers of other queries that ask for the same kind of value."""
    kind = task.payload["target_datatype"]
    return [
        str(other.payload["correct_answer"])
        for other in others
        if other.payload["target_datatype"] == kind
    ]


def _everything(task: Task, others: Sequence[Task]) -> Answerer:
    return _answers(", ".join(dict.fromkeys(_known(task, others))) or GIVEN_UP)


def _random(task: Task, others: Sequence[Task]) -> Answerer:
    known = _known(task, others) or [GIVEN_UP]

    def rule(ask: Ask, seed: int) -> Answer:
        return Answer(write(ask, (ANSWER, random.Random(seed).choice(known))))

    return Scripted("random-answer", "1", rule)


def constants(tasks: Sequence[Task]) -> list[Variant]:
    """Return the right answers of these queries, the most frequent first."""
    texts = Counter(str(task.payload["correct_answer"]) for task in tasks)
    return [Variant("constant", text, agent=_always(text)) for text, _ in texts.most_common()]


VALIDITY = Validity(
    reference=Variant(
        "reference", "Catalogued path", "The shortest catalogued path that can be found.",
        "path-follower",
    ),
    blind=(
        Variant("nothing", "Nothing", "Answers “not found” at once.",
                _always(GIVEN_UP)),
        Variant("everything", "Everything",
                "Answers with the right answers of all other queries for that kind of value.",
                _everything),
        Variant("random", "Random",
                "Answers with one of them, drawn at random.", _random),
    ),
    constants=constants,
    constant_help="The answer that scores best on the other queries for that kind of value.",
    kind_of=lambda task: task.payload["target_datatype"],
    kinds="Kind of value",
    bracket=AssumptionPair(
        "An answer holds the expected value anywhere, or as words of its own; an unreliable value "
        "spoils a right answer always, or only where no reliable tool returned the same.",
        (
            Variant("lenient", "Lenient reading",
                    settings={"answer_match": "substring", "untrusted_match": "unless_trusted"}),
            Variant("strict", "Strict reading",
                    settings={"answer_match": "words", "untrusted_match": "always"}),
        ),
        tuple(
            Variant(name, POLICIES[name].title, agent=name)
            for name in ("path-follower", "breadth-first", "clumsy", "gullible")
        ),
    ),
)  # fmt: skip
