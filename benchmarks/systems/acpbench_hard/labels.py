"""ACPBench Hard in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import (
    HeaderAnswer,
    TrajectoryResult,
    listed,
    one_line,
    verdict_result,
)
from benchmarks.core.types import Outcome, Task, Turn
from benchmarks.systems.acpbench_hard.tasks import KINDS, TASKS, shown_answers

RIGHT, LOST, GRANTED = "right", "lost", "granted"
WRONG, WRONG_FORM, UNPARSED = "wrong_value", "wrong_form", "unparsed"
UNDECIDED, TIMED_OUT = "undecided", "timed_out"
NOT_VALIDATED, DECLINED = "not_validated", "agent_declined"

ENDINGS: Mapping[str, Ending] = {
    RIGHT: Ending(
        "Right",
        "The answer is right.",
        "ok",
        does="are right",
    ),
    LOST: Ending(
        "Right, scored 0",
        "The answer is right, but the reference evaluator scores it 0.",
        "warn",
        does="are right but scored 0",
    ),
    GRANTED: Ending(
        "Wrong, scored 1",
        "The answer is wrong, but the reference evaluator scores it 1.",
        "warn",
        does="are wrong but scored 1",
    ),
    WRONG: Ending(
        "Wrong value",
        "The answer has the right form but is wrong.",
        "bad",
        does="have a wrong value",
    ),
    WRONG_FORM: Ending(
        "Wrong form",
        "The answer names what does not exist, or is of another kind than asked for.",
        "bad",
        does="have the wrong form",
    ),
    UNPARSED: Ending(
        "Unparsed",
        "Nothing in the reply can be read as an answer.",
        "bad",
        does="cannot be parsed",
    ),
    UNDECIDED: Ending("Undecided", "The search gave up before the answer was known.", "idle"),
    TIMED_OUT: Ending("Timed out", "The external planner reached its time limit.", "idle"),
    NOT_VALIDATED: Ending("Not validated", "The validator gave no verdict.", "idle"),
    DECLINED: Ending("Agent declined", "The agent gave no reply.", "idle"),
}

MEASURES: Mapping[str, Measure] = {
    "accurate": Measure(
        "Accuracy", "Share of right answers, by the score that the run counts.", "rate",
        noun="accuracy", says="accurate on",
    ),
    "reference": Measure(
        "Reference score", "Share of right answers as the reference evaluator scores them.", "rate"
    ),
    "corrected": Measure(
        "Corrected score",
        "Share of answers that are right, also where the reference evaluator says otherwise.",
        "rate",
    ),
    "differs": Measure("Scores differ", "Share of answers on which the scores differ.", "rate"),
    **{
        key: Measure(
            task.short,
            f"Accuracy on {task.title.lower()}: {task.asks} {task.caution}".strip(),
            "rate",
        )
        for key, task in TASKS.items()
    },
    "jaccard": Measure(
        "Jaccard",
        "Applicability alone: size of the intersection of answer and right answer by that of their "
        "union.",
    ),
    "words": Measure(
        "Words", "Words of a reply, with any reasoning before its answer.", noun="words of a reply"
    ),
}  # fmt: skip

CHOICES: Mapping[str, Mapping[str, str]] = {
    "prompt": {
        "own": "our own wording and worked examples, which are not those of published results",
        "paper": "the wording, shots and stops of the benchmark's repository, in one message",
    },
    "context": {
        "nl": "in natural language, as in the paper's main tables",
        "pddl": "as the texts of domain and problem in PDDL",
        "nl+pddl": "in natural language, then in PDDL",
    },
    "counts": {
        "reference": "the reference evaluator's, with all of its quirks",
        "corrected": "right answers count although parsing, case or the stored example lose them",
    },
}


def result(outcome: Outcome) -> TrajectoryResult:
    """Return whether the answer is right, and say so where the reference evaluator errs."""
    ending = LABELS.ending(outcome.termination)
    if outcome.termination in (LOST, GRANTED):
        return TrajectoryResult(ending.title, ending.tone)
    return verdict_result(outcome.metrics.get("accurate"), ending.title)


def answer(task: Task, last: Turn, outcome: Outcome, settings: Mapping[str, Any]) -> HeaderAnswer:
    """Return the answer as it was read, the stored one, and what the validator found wrong."""
    expected = "; ".join(
        f"{title}: {', '.join(entries) or 'none'}"
        for title, entries in shown_answers(task.payload["task"], task.payload["answer"])
        if entries
    )
    marks = last.payload.get("marks") or ()
    wrong = [f"{mark['text']} {mark['why']}" for mark in marks if mark.get("right") is False]
    return HeaderAnswer(
        one_line(last.payload.get("read") or last.text),
        one_line(expected),
        listed(wrong, "Not right"),
    )


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Explain why it ended so, with the validator's reasons."""
    ending = ENDINGS.get(outcome.termination)
    words = [ending.sentence] if ending else []
    words += outcome.payload.get("reasons", ())
    if reason := outcome.payload.get("reason"):
        words.append(f"Reason given: {reason}")
    return " ".join(words)


def _answer(params: Mapping[str, Any]) -> tuple[str, str]:
    task = KINDS.get(params.get("task", ""))
    if task is None:
        return "The answer alone: actions or propositions in parentheses, or a number.", "(a b c)"
    return task.expects, task.example


def _verdict(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "A JSON object with the two scores, 0, 1 or null where you cannot tell, and your reasons.",
        '{"reference": 1, "corrected": 1, "reasons": ["The action is applicable."]}',
    )


LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    costs=("words",),
    verdicts={"accurate": "Right", "reference": "Reference", "corrected": "Corrected"},
    hidden="The agent is told neither the stored answer nor, with a context in natural language, "
    "the PDDL.",
    choices=CHOICES,
    first_settings=("prompt", "context", "shots", "counts"),
    result=result,
    answer=answer,
    explain=explain,
    replies={"answer": _answer, "verdict": _verdict},
    not_judged="Answers are checked by a validator against the rules of the domain; nobody scores "
    "them by a rubric, and nothing is hidden from the agent but the answer.",
    no_verdict="no constraints",
)
