"""ADAPT in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import (
    NO_VERDICT,
    PARTLY_RIGHT,
    RIGHT,
    WRONG,
    HeaderAnswer,
    TrajectoryResult,
    listed,
)
from benchmarks.core.types import Outcome, Task, Turn
from benchmarks.systems.adapt.settings import ABLATIONS, METHODS, NO_FOLD

NOTICE = (
    "Household and rules are our own, because the paper’s are not published: compare methods with "
    "each other, not levels with Table 1."
)

ENDINGS: Mapping[str, Ending] = {
    "done": Ending(
        "Done",
        "The agent declared the task done.",
        "info",
        does="end because the agent declares the task done",
    ),
    "max_actions": Ending(
        "Out of actions",
        "All actions were used up.",
        "warn",
        does="run out of actions",
    ),
    "max_questions": Ending(
        "Out of questions",
        "The agent asked one more question than it may.",
        "warn",
        does="run out of questions",
    ),
    "unparsable": Ending(
        "Unreadable replies",
        "The agent gave too many unreadable replies in a row.",
        "bad",
        does="end with unreadable replies",
    ),
    "agent_declined": Ending("Agent declined", "The agent gave no reply.", "idle"),
}

MEASURES: Mapping[str, Measure] = {
    "satisfaction": Measure(
        "Satisfied %",
        "Preference satisfaction rate: satisfied preferences in percent of those that apply. "
        + NOTICE,
        "percent",
        noun="preference satisfaction",
    ),
    "satisfaction_seen": Measure(
        "Satisfied %, seen", "The same for personas that the agent was trained on.", "percent"
    ),
    "satisfaction_unseen": Measure(
        "Satisfied %, unseen",
        "The same for personas of the run’s fold; all, without one.",
        "percent",
    ),
    "questions": Measure("Questions", "Questions to the person per trajectory."),
    "questions_seen": Measure("Questions, seen", "The same for seen personas."),
    "questions_unseen": Measure("Questions, unseen", "The same for unseen personas."),
    "completed": Measure(
        "Completed", "Share with all expected dishes made.", "rate", noun="share of completed tasks"
    ),
    "applicable": Measure("Applicable", "Preferences that apply, per trajectory."),
    "answered": Measure(
        "Answered %",
        "Questions answered with a preference, in percent of the questions.",
        "percent",
    ),
    "disclosed": Measure(
        "Told in time %",
        "Preferences told before the step on which their verdict rests, in percent of those that "
        "apply.",
        "percent",
    ),
    "unasked": Measure(
        "Unasked food",
        "Ingredients beyond the task that no preference wants, per trajectory.",
        noun="unasked ingredients",
    ),
    "unasked_steps": Measure(
        "Unasked steps", "Steps that handled nothing but unasked ingredients, per trajectory."
    ),
    "leaked": Measure(
        "Leaked %",
        "Preferences that the persona told without being asked, in percent of those it told.",
        "percent",
        noun="share of preferences told unasked",
    ),
    "steps": Measure("Steps", "Actions per trajectory, questions included."),
    "invalid": Measure("Failed actions", "Actions that failed, per trajectory."),
}


def result(outcome: Outcome) -> TrajectoryResult:
    """Return whether all dishes were made and how many preferences were met.

    Right is: every dish, and every preference that applies. The paper has no such verdict; it
    ranks by the share of preferences met.
    """
    completed, satisfied = outcome.metrics.get("completed"), outcome.metrics.get("satisfaction")
    if completed is None:
        return TrajectoryResult(NO_VERDICT, "idle", LABELS.ending(outcome.termination).title)
    if not completed:
        return TrajectoryResult(WRONG, "bad", "Dish not made")
    if satisfied is None or satisfied == 100:
        return TrajectoryResult(
            RIGHT, "ok", "All preferences met" if satisfied else "No preference applies"
        )
    if not satisfied:
        return TrajectoryResult(WRONG, "bad", "No preference met")
    return TrajectoryResult(PARTLY_RIGHT, "warn", f"{satisfied:.0f} % of preferences met")


def answer(task: Task, last: Turn, outcome: Outcome, settings: Mapping[str, Any]) -> HeaderAnswer:
    """Return the dishes that were made, those that were expected, and what was violated."""
    record = outcome.payload
    dishes = record.get("dishes", {})
    made = [_dish(kind) for kind, dish in dishes.items() if dish["completed"]]
    missing = [f"no {_dish(kind)}" for kind, dish in dishes.items() if not dish["completed"]]
    unmet = [row["text"] for row in record.get("preferences", ()) if row["value"] == "violated"]
    return HeaderAnswer(
        f"{', '.join(made) or 'nothing'}, {record.get('asked', 0)} questions asked",
        ", ".join(_dish(kind) for kind in dishes),
        listed([*missing, *unmet], "Not met"),
    )


def _dish(kind: str) -> str:
    return kind.replace("_", " ")


def _missing(payload: Mapping[str, Any]) -> str:
    missing = [_dish(k) for k, dish in payload.get("dishes", {}).items() if not dish["completed"]]
    return f"Not made: {', '.join(missing)}." if missing else ""


def describe_dishes(payload: Mapping[str, Any]) -> str:
    """Return whether every dish was made, or which were not; empty where none was looked at."""
    return _missing(payload) or ("Every dish was made." if payload.get("dishes") else "")


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Return why it ended, and how many preferences were met."""
    ending = ENDINGS.get(outcome.termination)
    parts = [ending.sentence] if ending else []
    record = outcome.payload
    if "applicable" in record:
        parts += [missing] if (missing := _missing(record)) else []
        n = record["applicable"]
        parts.append(
            f"{record['satisfied']} of {n} preference{'s' * (n != 1)} that apply "
            f"{'is' if n == 1 else 'are'} met."
            if n
            else "No preference applies."
        )
    if reason := record.get("reason"):
        parts.append(f"Reason given: {reason}")
    return " ".join(parts)


# --- Replies of people: kind to (what is expected, a reply that would do) -------------------------


def _action(params: Mapping[str, Any]) -> tuple[str, str]:
    return ("One action in the words of a template, on one line.", "Search fridge_0")


def _json_action(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "One JSON object with the name of an action and what it needs.",
        '{"thought": "", "action": "search", "x": "fridge_0", "y": "", "z": "", "verb": "", '
        '"result": "", "tool": ""}',
    )


def _answer(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "One JSON object: “answer”, what you say, and “preferences”, the numbers of those that it "
        "gives away.",
        '{"answer": "Scrambled, please.", "preferences": []}',
    )


def folds(turn: Mapping[str, Any]) -> bool:
    """Return whether a turn's own line tells enough: an action that succeeded, as most do."""
    return bool(turn.get("ok")) and not turn.get("question")


LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    headline=("satisfaction", "completed"),
    costs=("questions", "unasked", "steps"),
    verdicts={"completed": "Completed"},
    columns=("satisfaction", "unasked", "questions", "disclosed"),
    hidden="The person’s preferences, unless the method is the teacher’s.",
    disclosure="The agent learns of a preference by asking; the teacher is told all of them.",
    choices={
        "method": {key: method.help for key, method in METHODS.items()},
        "ablation": {key: ablation.help for key, ablation in ABLATIONS.items()},
        "fold": {NO_FOLD: "All personas are unseen.",
                 **{str(n): f"Personas of fold {n} are unseen." for n in range(4)}},
        "reply_format": {
            "text": "A line of text.",
            "json": "A JSON object that endpoints can be held to.",
        },
    },
    first_settings=("method", "ablation", "fold"),
    result=result,
    answer=answer,
    explain=explain,
    replies={"action": _action, "json_action": _json_action, "answer": _answer},
    not_judged="Rules decide here which preferences are met: there are no judges.",
    no_verdict="preferences are checked at the end, see the ledger",
    folds=folds,
    violations=False,
)  # fmt: skip
