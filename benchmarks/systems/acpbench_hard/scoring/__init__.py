"""Scores of responses to ACPBench Hard: what the reference gives, and what is right.

>>> verdict = score(question, response)
>>> verdict.reference, verdict.corrected, verdict.reasons
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from benchmarks.systems.acpbench_hard.grammar import ReferenceReading, read_reference
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.scoring import landmarks, listed_answers, simulated_answers
from benchmarks.systems.acpbench_hard.scoring.answer_check import AnswerCheck
from benchmarks.systems.acpbench_hard.scoring.choices import score_choice
from benchmarks.systems.acpbench_hard.scoring.quirks import find_quirks
from benchmarks.systems.acpbench_hard.scoring.verdict import (
    FAILURES,
    QUIRKS,
    AnswerVerdict,
    CheckedElement,
    CorrectedScore,
    Failure,
    ReferenceScore,
)
from benchmarks.systems.acpbench_hard.search.result import DEFAULTS, Limits
from benchmarks.systems.acpbench_hard.tasks import is_choice

__all__ = ["FAILURES", "QUIRKS", "Failure", "Limits", "CheckedElement", "AnswerVerdict", "score"]

# An answer may be a megabyte of actions; of what is shown, so much is kept.
MOST_MARKS, LONGEST_READ = 1_000, 20_000


class _Task(NamedTuple):
    """The two scorers of a task: by the text the reference reads, and by the whole response."""

    reference: Callable[[AnswerCheck, ReferenceReading], ReferenceScore]
    corrected: Callable[[AnswerCheck, str], CorrectedScore]


_TASKS: Mapping[str, _Task] = {
    "app": _Task(listed_answers.applicability_reference, listed_answers.applicability),
    "prog": _Task(listed_answers.progression_reference, listed_answers.progression),
    "val": _Task(listed_answers.validation_reference, listed_answers.validation),
    "land": _Task(landmarks.landmark_reference, landmarks.landmark),
    "just": _Task(simulated_answers.justification_reference, simulated_answers.justification),
    "reach": _Task(simulated_answers.reachability_reference, simulated_answers.reachability),
    "areach": _Task(
        simulated_answers.action_reachability_reference, simulated_answers.action_reachability
    ),
    "nexta": _Task(simulated_answers.next_action_reference, simulated_answers.next_action),
}


def score(question: PlanningQuestion, response: str, *, limits: Limits = DEFAULTS) -> AnswerVerdict:
    """Return both scores of a response, with reasons.

    ``reference`` follows the reference evaluator of the benchmark, peculiarities included;
    ``corrected`` says whether the answer is right. Either is None where a search gave up within
    ``limits``. PDDL that cannot be used is a reason, not an error.
    """
    if is_choice(question.task):
        return score_choice(question, response)
    work = AnswerCheck(question, limits)
    task = _TASKS[question.task]

    def rule(text: str) -> int | None:
        return task.reference(work, read_reference(question.task, text)).score

    reading = read_reference(question.task, response)
    ruling = task.reference(work, reading)
    finding = task.corrected(work, response)
    reasons = [f"Reference: {ruling.why}", f"Corrected: {finding.why}"]
    if ruling.why == finding.why and ruling.score == finding.score:
        reasons = [finding.why]
    if work.fault:
        reasons.append(f"The PDDL of the question cannot be used: {work.fault}")
    return AnswerVerdict(
        question.task,
        ruling.score,
        finding.score,
        tuple(reasons),
        finding.marks[:MOST_MARKS],
        finding.failure,
        find_quirks(work, response, reading, ruling.score, finding, rule),
        _cut(_show(reading)),
        _cut(finding.read),
        finding.jaccard,
        finding.distance,
        finding.offset,
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_READ else text[: LONGEST_READ - 1] + "…"


def _show(reading: ReferenceReading) -> str:
    lists = " ".join(f"[{', '.join(atoms)}]" for atoms in reading.lists)
    return lists or reading.index or " ".join(reading.names)
