"""SDA-Planner in plain words, for pages."""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.ports.labels import Ending, Labels, Measure
from benchmarks.core.ports.results import HeaderAnswer, listed
from benchmarks.core.types import Outcome, Task, Turn
from benchmarks.systems.sda_planner.house.goals import TASK_TYPES

ENDINGS: Mapping[str, Ending] = {
    "plan_end": Ending(
        "Plan finished",
        "The plan was carried out to its end.",
        "info",
        does="carry out their plan to the end",
    ),
    "max_steps": Ending(
        "Out of steps",
        "The steps in the house were used up.",
        "bad",
        does="run out of steps",
    ),
    "max_corrections": Ending(
        "Out of corrections",
        "A step failed, and no correction was left.",
        "bad",
        does="run out of corrections",
    ),
    "no_branch": Ending(
        "No branch left",
        "A step failed, and the action tree has no other branch.",
        "bad",
        does="run out of branches",
    ),
    "unreadable": Ending(
        "No plan",
        "The agent wrote no plan that could be read.",
        "bad",
        does="have no plan that can be read",
    ),
    "agent_declined": Ending("Agent declined", "The agent gave no reply.", "idle"),
    "left_out": Ending(
        "Left out", "Tasks with two objects are left out, as in LoTA-Bench.", "idle"
    ),
}

MEASURES: Mapping[str, Measure] = {
    "accurate": Measure(
        "Success",
        "Share of tasks with every goal condition met (SR).",
        "rate",
        noun="success rate",
        says="successful on",
    ),
    "goal_conditions": Measure(
        "Goal conditions",
        "Mean share of a task's goal conditions that are met (GC).",
        "fraction",
        noun="mean share of goal conditions met",
    ),
    "corrections": Measure(
        "Corrections",
        "Mean number of times the plan was corrected (No. EC); not defined for the Tree Planner.",
    ),
    "steps": Measure("Steps", "Mean number of steps carried out in the house, undoing included."),
    "calls": Measure("Calls", "Mean number of times the agent was asked."),
    "resets": Measure("Resets", "Mean number of times the house was put back to its start."),
    "reversed": Measure("Undone", "Mean number of steps taken to undo others."),
    "precondition_errors": Measure(
        "Plan errors", "Mean number of steps that failed because of the plan."
    ),
    "environment_errors": Measure(
        "Environment errors", "Mean number of steps that failed because of an injected error."
    ),
}

CHOICES: Mapping[str, Mapping[str, str]] = {
    "planner": {
        "sda": "SDA-Planner: diagnoses the failure and repairs the part of the plan it concerns",
        "local": "Local: writes the rest of the plan anew",
        "global": "Global: puts the house back and writes the whole plan anew",
        "tree": "Tree Planner: goes to another branch of plans sampled at the start",
    },
    "graph": {
        "builtin": "the shipped graph",
        "dataset": "the graph kept with the dataset; the shipped one where it has none",
        "model": "the agent writes the graph first; the shipped one where it is not valid",
    },
    "env_error": {
        "none": "nothing but the plan goes wrong",
        "relocate": "a needed thing is somewhere else",
        "occlude": "a needed thing is hidden from where the agent stands",
        "slip": "a skill has no effect once",
        "drop": "a thing falls down when it is taken",
        "mixed": "one of these four at random",
    },
    "knowledge": {
        "full": "where everything is",
        "visible": "what is not closed away",
        "none": "nothing",
    },
}
FIRST_SETTINGS = ("planner", "env_error", "adaptation", "search_tree")
HIDDEN = "The agent is not told which errors were injected, nor the state of the house."

GROUPS: Mapping[str, str] = {
    "task_type": "Task type", "split": "Split", "injected": "Injected error",
}  # fmt: skip
GROUP_VALUES: Mapping[str, str] = {
    **TASK_TYPES, "valid_seen": "Valid seen", "valid_unseen": "Valid unseen", "train": "Train",
    "unknown": "Not known", "none": "None", "relocate": "Moved", "occlude": "Hidden",
    "slip": "Slip", "drop": "Fall", "mixed": "Mixed",
}  # fmt: skip
REPAIRS: Mapping[str, str] = {
    "insert": "a preparation inserted",
    "rebuild": "a part rebuilt",
    "replan": "the rest written anew",
    "restart": "started over",
    "branch": "another branch",
}


def answer(task: Task, last: Turn, outcome: Outcome, settings: Mapping[str, Any]) -> HeaderAnswer:
    """Return how much of the goal is met, the goal, and its conditions that are not met."""
    conditions = outcome.payload.get("conditions", ())
    missing = [words for words, met in conditions if not met]
    met = len(conditions) - len(missing)
    given = f"{met} of {len(conditions)} goal conditions met" if conditions else ""
    return HeaderAnswer(
        given, listed([words for words, _ in conditions]), listed(missing, "Not met")
    )


def describe_goal(payload: Mapping[str, Any]) -> str:
    """Return which goal conditions are met at the end; empty where none was looked at."""
    conditions = payload.get("conditions", ())
    missing = [words for words, met in conditions if not met]
    if missing:
        return f"Not met: {'; '.join(missing)}."
    return "Every goal condition is met." if conditions else ""


def explain(outcome: Outcome, settings: Mapping[str, Any]) -> str:
    """Return why an episode ended, and which goal conditions are met."""
    ending = ENDINGS.get(outcome.termination)
    sentences = [ending.sentence] if ending else []
    if goal := describe_goal(outcome.payload):
        sentences.append(goal)
    if reason := outcome.payload.get("reason"):
        sentences.append(f"Reason given: {reason}")
    return " ".join(sentences)


def _plan(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "Numbered steps, each a skill and a kind of thing, with done at the end.",
        "1. find a mug\n2. pick up the mug\n3. find a coffee machine\n4. put down the mug\n5. done",
    )


def _corrective(params: Mapping[str, Any]) -> tuple[str, str]:
    return ("At most four numbered steps, or none.", "1. put down the pan")


def _choice(params: Mapping[str, Any]) -> tuple[str, str]:
    return (f"The number of a plan, from 1 to {params.get('options', 1)}.", "1")


def _graph(params: Mapping[str, Any]) -> tuple[str, str]:
    return (
        "A JSON list of states, each with state, of and value.",
        '[{"state": "agent.hold", "value": "none"}]',
    )


LABELS = Labels(
    endings=ENDINGS,
    measures=MEASURES,
    headline=("accurate", "goal_conditions"),
    costs=("corrections", "steps", "calls"),
    verdicts={"accurate": "Success"},
    columns=("goal_conditions", "corrections", "steps"),
    hidden=HIDDEN,
    choices=CHOICES,
    first_settings=FIRST_SETTINGS,
    answer=answer,
    explain=explain,
    replies={"plan": _plan, "remainder": _plan, "corrective": _corrective, "choice": _choice,
             "graph": _graph},
)  # fmt: skip
