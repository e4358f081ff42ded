"""The builder in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import TrajectoryResult
from benchmarks.core.types import Outcome
from benchmarks.systems.adapt.labels import ENDINGS as ADAPT_ENDINGS
from benchmarks.systems.adapt.labels import LABELS as ADAPT_LABELS
from benchmarks.systems.adapt.labels import folds as fold_action
from benchmarks.systems.adapt_reflection.decisions import (
    AGREE,
    ARITHMETIC,
    GEOMETRIC,
    LIKELY_TEACHER,
    QUESTION,
    TEACHER,
    UNDECIDED,
    UNEXPLAINED,
    UNUSABLE,
)
from benchmarks.systems.adapt_reflection.scorers import TOKEN_PROBABILITIES

KIND_TITLES: Mapping[str, str] = {
    AGREE: "Agree",
    LIKELY_TEACHER: "Likely teacher",
    QUESTION: "Question",
    TEACHER: "Teacher",
    UNEXPLAINED: "Unexplained",
    UNUSABLE: "Unusable",
    UNDECIDED: "Undecided",
}
KIND_HELP: Mapping[str, str] = {
    AGREE: "Student and teacher take the same action: no row.",
    LIKELY_TEACHER: "The teacher's action is the likelier one for the student: it is chosen.",
    QUESTION: "The question makes the teacher's action more probable: it is chosen.",
    TEACHER: "The question does not help, but the teacher's action is not far off: it is chosen.",
    UNEXPLAINED: "The question does not help, and the teacher's action is far off: no row.",
    UNUSABLE: "The teacher gave no action in the household: no row.",
    UNDECIDED: "These thresholds need a question that was not asked.",
}
ENDINGS: Mapping[str, Ending] = {
    **{key: ending for key, ending in ADAPT_ENDINGS.items() if key != "agent_declined"},
    "agent_declined": Ending("Student declined", "The student gave no reply.", "idle"),
    "scorer_gave_nothing": Ending(
        "Not scored", "The scorer gave no probabilities, and none are guessed.", "bad"
    ),
}
MEASURES: Mapping[str, Measure] = {
    "rows": Measure("Rows", "Rows of training data per trajectory."),
    QUESTION: Measure("Questions %", f"Percent of steps. {KIND_HELP[QUESTION]}"),
    TEACHER: Measure("Teacher %", f"Percent of steps. {KIND_HELP[TEACHER]}"),
    LIKELY_TEACHER: Measure("Likely teacher %", f"Percent of steps. {KIND_HELP[LIKELY_TEACHER]}"),
    AGREE: Measure("Agree %", f"Percent of steps. {KIND_HELP[AGREE]}"),
    UNEXPLAINED: Measure("Unexplained %", f"Percent of steps. {KIND_HELP[UNEXPLAINED]}"),
    UNUSABLE: Measure("Unusable %", f"Percent of steps. {KIND_HELP[UNUSABLE]}"),
    "steps": Measure("Steps", "Actions of the student per trajectory."),
    "satisfaction": Measure("Satisfied %", "Preference satisfaction rate of the student."),
    "leaked": Measure(
        "Leaked %",
        "Preferences that the persona told without being asked, in percent of those it told; "
        "answers to reflections count, too.",
    ),
}


def result(outcome: Outcome) -> TrajectoryResult:
    """Return how many rows of training data it gave: there is no right or wrong in that."""
    ending = LABELS.ending(outcome.termination)
    rows = outcome.metrics.get("rows")
    if rows is None:
        return TrajectoryResult(ending.title, ending.tone)
    return TrajectoryResult(f"{rows:.0f} row{'s' * (rows != 1)}", "info", ending.title)


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Return why a trajectory ended, and how many rows came of it."""
    ending = ENDINGS.get(outcome.termination)
    parts = [ending.sentence] if ending else []
    if (rows := outcome.metrics.get("rows")) is not None:
        steps = outcome.metrics["steps"]
        parts.append(f"{steps:.0f} steps gave {rows:.0f} training rows.")
    if reason := outcome.payload.get("reason"):
        parts.append(f"Reason given: {reason}")
    return " ".join(parts)


def _question(params: Mapping[str, Any]) -> tuple[str, str]:
    return ("One question to the person, on one line.", "Would you like milk in your coffee?")


def _probabilities(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "One JSON object: “probabilities”, a number from 0 to 1 for each token of the action.",
        '{"probabilities": [0.9, 0.4]}',
    )


def _folds(turn: Mapping[str, Any]) -> bool:
    """Return whether a turn's own line tells enough: both agree, and the action succeeded."""
    return fold_action(turn) and bool(turn.get("builder", {}).get("same"))


LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    verdicts={},
    columns=("rows", QUESTION, TEACHER),
    hidden="The person’s preferences are hidden from the student; the teacher knows them.",
    disclosure="The student learns of a preference by asking; the teacher is told all of them.",
    choices={
        "mean": {
            ARITHMETIC: "The mean of the tokens’ probabilities, as in the paper.",
            GEOMETRIC: "The exponential of the mean log probability.",
        },
        "prompt_form": {
            "transcript": "Speakers by name, without special tokens.",
            "chatml": "<|im_start|> and <|im_end|>, as Qwen and others.",
            "llama3": "Header tokens, as Llama 3.",
        },
    },
    first_settings=("tau_u", "tau_d", "mean"),
    result=result,
    explain=explain,
    replies={
        "action": ADAPT_LABELS.replies["action"],
        "answer": ADAPT_LABELS.replies["answer"],
        "question": _question,
        TOKEN_PROBABILITIES: _probabilities,
    },
    not_judged="The builder makes training data from token probabilities: there are no judges.",
    no_verdict="the student's preferences are checked at the end",
    folds=_folds,
    violations=False,
)
