"""Forms for a person in the agent's place: steps from menus, and a choice among repairs.

Pages are made from the context of an ask, which holds what the agent was told and nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.core.ports.people import (
    Fields,
    FieldsRefused,
    Mode,
    People,
    Place,
    ReplyForm,
    Story,
    Utterance,
)
from benchmarks.core.types import Json
from benchmarks.systems.sda_planner.dataset.trials import type_of
from benchmarks.systems.sda_planner.house.affordances import read_type, type_words
from benchmarks.systems.sda_planner.labels import describe_goal
from benchmarks.systems.sda_planner.steps import SKILLS, Step, number_plan, write_plan

NONE = "none"
ROWS, MORE_ROWS, CORRECTIVE_ROWS = 8, 34, 4
SKILL, THING = "skill-", "thing-"


class StepField(NamedTuple):
    """A line of the form: one step, with what was chosen and what is wrong with it."""

    number: int
    skill: str = ""
    thing: str = ""
    error: str = ""


class RepairOption(NamedTuple):
    """A repair to choose from: its steps, what follows them, and its cost in words."""

    number: int
    steps: Sequence[str]
    rest: Sequence[str]
    cost: str
    chosen: bool


class PlannerPage(NamedTuple):
    """The form, and what is known beside it."""

    instruction: str
    purpose: str
    title: str
    rows: Sequence[StepField]
    more: Sequence[StepField]
    more_open: bool
    skills: Sequence[str]
    things: Sequence[tuple[str, str]]
    places: Sequence[tuple[str, str]]
    known: Sequence[tuple[str, str]]
    visible: Sequence[tuple[str, str]]
    held: str
    executed: Sequence[str]
    plan: Sequence[str]
    window: Sequence[str]
    failure: Json | None
    missing: str
    options: Sequence[RepairOption]
    errors: Mapping[str, str]


_TITLES = {
    "plan": "Write the plan",
    "restart": "Write the whole plan anew",
    "remainder": "Write the rest of the plan",
    "window": "Write this part anew",
    "corrective": "Suggest steps that help",
    "choice": "Choose how to go on",
}


def show(context: Json, given: Fields, errors: Mapping[str, str]) -> PlannerPage:
    """Return the page of an ask; ``given`` and ``errors`` come of a form that was refused."""
    purpose = context["purpose"]
    most = CORRECTIVE_ROWS if purpose == "corrective" else ROWS + MORE_ROWS
    filled = given if given else _proposal(context)
    rows = [
        StepField(n, filled.get(f"{SKILL}{n}", ""), filled.get(f"{THING}{n}", ""),
            errors.get(f"{SKILL}{n}", ""))
        for n in range(1, most + 1)
    ]  # fmt: skip
    first = CORRECTIVE_ROWS if purpose == "corrective" else ROWS
    diagnosis = context.get("diagnosis")
    return PlannerPage(
        instruction=context["instruction"],
        purpose=purpose,
        title=_TITLES.get(purpose, "Reply"),
        rows=rows[:first],
        more=rows[first:],
        more_open=any(row.skill for row in rows[first:]),
        skills=SKILLS,
        things=_types(context["objects"]),
        places=_types(context["places"]),
        known=_places(context["known"]),
        visible=_places(context["visible"]),
        held=type_words(type_of(context["held"])) if context["held"] else "",
        executed=_texts(context["executed"]),
        plan=_texts(context["plan"]),
        window=_texts(context.get("window", ())),
        failure=context["failure"],
        missing=describe_missing(diagnosis) if diagnosis else "",
        options=_options(context, given),
        errors=errors,
    )


def describe_missing(diagnosis: Json) -> str:
    """Return in two sentences what a failed step needs, and what there is instead."""
    state, subject = diagnosis["state"]
    needed, actual = diagnosis["needed"], diagnosis["actual"]
    if diagnosis["types"]:
        needed = " or ".join(map(type_words, diagnosis["types"]))
    match state:
        case "agent.hold":
            wanted = "be empty" if needed == NONE else f"hold the {needed}"
            held = "is empty" if actual == NONE else f"holds the {actual}"
            return f"The hand must {wanted}. It {held}."
        case "agent.pos":
            place = "a place for it" if needed == "unknown" else f"the {needed}"
            where = "Its place is unknown" if actual == "unknown" else f"It is at the {actual}"
            return f"The robot must be at {place}. {where}."
    name, word = type_words(type_of(subject) or subject), state.partition(".")[2]
    if needed in ("true", "false"):
        yes = needed == "true"
        return f"The {name} must {'' if yes else 'not '}be {word}. It is{' not' if yes else ''}."
    return f"The {word} of the {name} must be {needed}. It is {actual}."


def _proposal(context: Json) -> dict[str, str]:
    """Return the fields that a form starts with: the window that is to be written anew."""
    if context["purpose"] != "window":
        return {}
    steps = [Step.of(one) for one in context["window"]]
    return {
        key: value
        for n, step in enumerate(steps, 1)
        for key, value in ((f"{SKILL}{n}", step.skill), (f"{THING}{n}", step.type))
    }


def _types(names: Sequence[str]) -> list[tuple[str, str]]:
    return sorted(((name, type_words(name)) for name in names), key=lambda pair: pair[1].lower())


def _places(rows: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return where things are, each kind of thing and place once: (place, things)."""
    counts_by_place: dict[str, dict[str, int]] = {}
    for id, where in rows:
        place = type_words(type_of(where)) if "|" in where else where.lower()
        name = type_words(type_of(id))
        counts = counts_by_place.setdefault(place, {})
        counts[name] = counts.get(name, 0) + 1
    return [
        (place, ", ".join(f"{n} × {name}" if n > 1 else name for name, n in sorted(names.items())))
        for place, names in sorted(counts_by_place.items())
    ]


def _texts(rows: Sequence[Sequence[str]]) -> list[str]:
    return [Step.of(one).text for one in rows]


def _options(context: Json, given: Fields) -> list[RepairOption]:
    rest = _texts(context.get("rest", ()))
    return [
        RepairOption(number, _texts(one["steps"]), rest, cost_words(one["cost"]),
               given.get("choice", "") == str(number))
        for number, one in enumerate(context.get("options", ()), 1)
    ]  # fmt: skip


def cost_words(cost: Json) -> str:
    """Return the cost of a path in words."""
    parts = [f"{cost['steps']} steps"]
    if cost["uncovered"]:
        left = cost["uncovered"]
        parts.append(f"leaves out {left} step{'' if left == 1 else 's'} of the plan")
    parts.append(
        f"{cost['conflicts'] or 'no'} conflict{'' if cost['conflicts'] == 1 else 's'} later"
    )
    if cost["corrective"]:
        parts.append(f"{cost['corrective']} added")
    return ", ".join(parts)


def compose_plan(context: Json, fields: Fields) -> str:
    """Return the text of a plan that was put together from menus."""
    steps, errors = [], {}
    most = CORRECTIVE_ROWS if context["purpose"] == "corrective" else ROWS + MORE_ROWS
    for number in range(1, most + 1):
        skill, thing = fields.get(f"{SKILL}{number}", ""), fields.get(f"{THING}{number}", "")
        if not skill and not thing:
            continue
        if skill not in SKILLS:
            errors[f"{SKILL}{number}"] = f"Step {number}: choose a skill."
        elif read_type(thing) != thing or not thing:
            errors[f"{SKILL}{number}"] = f"Step {number}: choose a thing."
        else:
            steps.append(Step(skill, thing))
    if errors:
        raise FieldsRefused(errors)
    if not steps:
        if context["purpose"] == "corrective":
            return "none"
        raise FieldsRefused({"": "Choose a skill and a thing for at least one step."})
    return write_plan(steps)


def compose_choice(context: Json, fields: Fields) -> str:
    """Return the number of the repair that was chosen."""
    chosen = fields.get("choice", "")
    if chosen not in {str(n) for n in range(1, len(context["options"]) + 1)}:
        raise FieldsRefused({"choice": "Choose one of the plans."})
    return chosen


_NEEDS = frozenset({"purpose", "instruction", "objects", "places", "known"})
REPLY_FORMS: Mapping[str, ReplyForm] = {
    "plan": ReplyForm(show, compose_plan, _NEEDS),
    "remainder": ReplyForm(show, compose_plan, _NEEDS),
    "corrective": ReplyForm(show, compose_plan, _NEEDS),
    "choice": ReplyForm(show, compose_choice, _NEEDS | {"options"}),
}

END_MESSAGES: Mapping[str, str] = {
    "plan_end": "Your plan was carried out to its end.",
    "max_steps": "All steps in the house are used up.",
    "max_corrections": "A step failed, and no correction was left.",
    "no_branch": "A step failed, and no other plan was left.",
    "unreadable": "No plan could be read.",
    "left_out": "This task is left out under these settings.",
}


def dialogue(context: Json) -> list[Utterance]:
    """Return what was said so far: the task, what was done, and what failed."""
    lines = [Utterance("Task", context["instruction"])]
    if failure := context["failure"]:
        executed = [Step.of(one) for one in context["executed"]]
        if executed:
            lines.append(Utterance("Robot", f"Done so far:\n{number_plan(executed)}", 1))
        lines.append(
            Utterance(
                "Robot", f"Step {failure['t']}, {failure['text']}, failed: {failure['message']}", 1
            )
        )
    return lines


def tell(query: str, turns: Sequence[tuple[str, str]], newest: str) -> list[Utterance]:
    """Return the whole episode: every version of the plan, and what became of it."""
    lines = [Utterance("Task", query)]
    for turn, (plan, feedback) in enumerate(turns, 1):
        lines.append(Utterance("Planner", plan, turn, plan=True))
        if feedback:
            lines.append(Utterance("Robot", feedback, turn))
    if newest:  # a plan, or a part of one, or the number of a choice
        lines.append(Utterance("Planner", newest, len(turns) + 1))
    return lines


MODES = (
    Mode(
        "agent",
        "Planner",
        "The person writes a plan for a household robot, and repairs it when a step fails.",
        (
            Place(
                "Planner",
                ("agent",),
                "Plan with the skills of the menus. The robot carries the plan out and tells you "
                "the step that fails.",
            ),
        ),
        settings={"planner": "sda"},
        minutes=10,
        alone=True,
    ),
)

_KINDS = ("plan", "remainder", "corrective", "choice")
PEOPLE = People(
    reply_forms=REPLY_FORMS,
    end_messages=END_MESSAGES,
    tell_outcome=describe_goal,
    modes=MODES,
    story=Story(frozenset(), tell),
    dialogues=dict.fromkeys(_KINDS, dialogue),
)
