"""The eight tasks: what each asks, in which form the answer stands, and how it is called.

Seven of them are also asked with the possible answers given, yes or no, or one of several: these
kinds are called after their task, such as ``app.bool`` and ``app.mcq``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

Shape = Literal["actions", "action", "atom", "index", "effects", "choice"]
BOOL, MCQ = "bool", "mcq"
YES_NO = ("yes", "no")


@dataclass(frozen=True)
class TaskKind:
    """One of the eight tasks, in one form of its questions.

    ``group`` is its name in the published files. ``shape`` is that of an answer: several actions,
    one action or atom, the index of an action, two lists of atoms, or one of the given answers.
    ``none``: "None" may be the answer. ``goal``: the question is about the goal. ``expects`` and
    ``example`` tell a person.
    """

    key: str
    group: str
    short: str
    title: str
    asks: str
    shape: Shape
    expects: str
    example: str
    none: bool = False
    goal: bool = False
    # A remark on scores of this task, for wherever they stand.
    caution: str = ""


TASKS: Mapping[str, TaskKind] = {
    task.key: task
    for task in (
        TaskKind(
            "app", "applicable_actions_gen", "app", "Applicability",
            "which actions can be performed in this state?", "actions",
            "All applicable actions, each in parentheses with its objects.",
            "(walk hall arms) (take red hall)",
        ),
        TaskKind(
            "areach", "reachable_action_gen", "areach", "Action reachability",
            "which action can never become applicable?", "action",
            "One action in parentheses with its objects, or None.",
            "(walk hall hall)", none=True,
            caution="Many actions that fit their types can never be performed. On the published "
            "development questions, random guesses score 2.8 % by the reference and 45.8 % "
            "corrected (10 guesses at each of 40 questions).",
        ),
        TaskKind(
            "just", "action_justification_gen", "just", "Justification",
            "how can this plan be made shorter?", "actions",
            "The actions of the shorter plan in order, each in parentheses.",
            "(walk hall arms) (take red arms)", goal=True,
        ),
        TaskKind(
            "land", "landmarks_gen", "land", "Landmarks",
            "which fact must become true on every way to the goal?", "atom",
            "One proposition in parentheses with its objects, or None.",
            "(carries red)", none=True, goal=True,
        ),
        TaskKind(
            "nexta", "goal_closer_gen", "nexta", "Next action",
            "which action brings the goal closer?", "action",
            "One action in parentheses with its objects.",
            "(take red hall)", goal=True,
        ),
        TaskKind(
            "prog", "progression_gen", "prog", "Progression",
            "what becomes true and what becomes false?", "effects",
            "Two lists in brackets: propositions that become true, then those that become false.",
            "[(carries red)] [(lies-in red hall) (hand-free)]",
        ),
        TaskKind(
            "reach", "reachable_atom_gen", "reach", "Atom reachability",
            "which proposition can never hold?", "atom",
            "One proposition in parentheses with its objects, or None.",
            "(guard-in vault)", none=True,
        ),
        TaskKind(
            "val", "validation_gen", "val", "Validation",
            "which action of this sequence is the first that cannot be performed?", "index",
            "The index of the action as a number; the first action has the index 0.",
            "3", goal=True,
        ),
    )
}  # fmt: skip


def _given(task: TaskKind, form: str, words: str, expects: str, example: str) -> TaskKind:
    """Return a task whose possible answers are given."""
    return replace(
        task, key=f"{task.key}.{form}", group=task.group.replace("_gen", f"_{form}"),
        short=f"{task.short} {form}", title=f"{task.title}, {words}", shape="choice",
        expects=expects, example=example, none=False, caution="",
    )  # fmt: skip


def _kinds() -> Iterator[TaskKind]:
    for task in TASKS.values():
        yield task
        if task.key != "nexta":
            yield _given(task, BOOL, "yes or no", "The word yes or the word no.", "yes")
            yield _given(task, MCQ, "multiple choice", "The letter of the right answer.", "B")


# Every kind of question: the generative form of a task, then its other forms.
KINDS: Mapping[str, TaskKind] = {kind.key: kind for kind in _kinds()}
# Published files name some groups of multiple-choice questions with ``_mc``.
BY_GROUP: Mapping[str, str] = {
    group: key
    for key, kind in KINDS.items()
    for group in (kind.group, re.sub("_mcq$", "_mc", kind.group))
}


def is_choice(key: str) -> bool:
    """Return whether the possible answers of a kind of question are given."""
    return KINDS[key].shape == "choice"


def shown_answers(task: str, answer: Any) -> list[tuple[str, list[str]]]:
    """Return a stored answer as (what it is, its entries), for pages; nothing stands for None."""
    if is_choice(task):
        return [("Right answer", [answer])]
    match task:
        case "app":
            return [("All applicable actions", answer)]
        case "areach":
            return [("One action that can never be applied", answer or ["None"])]
        case "reach":
            listed = [text if text.startswith("(") else f"({text})" for text in answer]
            return [("Propositions that can never hold", listed or ["None"])]
        case "val":
            return [("Index of the first action that cannot be applied", [str(answer)])]
        case "just":
            return [("May be left out", [" ".join(row[:-1]) for row in answer])]
        case "prog":
            return [("Becomes true", answer["pos"]), ("Becomes false", answer["neg"])]
        case "land":
            return [("Landmarks", answer["yes"] or ["None"]), ("No landmarks", answer["no"])]
    return [
        ("Bring the goal closer", answer["yes"]),
        ("Do not", answer["no"]),
        ("Not stored: the validator searches", answer["maybe"]),
        ("Length of a shortest plan", [answer["opt"]]),
    ]
