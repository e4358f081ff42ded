"""Replies of people in all roles of AdaPlanBench, from fields. What pages show: ``told.py``."""

import json
from collections.abc import Mapping

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.reply_forms import Fields, FieldsRefused, ReplyForm
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench import told
from benchmarks.systems.adaplanbench.hints import MEASURED, feedback_hints
from benchmarks.systems.adaplanbench.plans import parse_plan
from benchmarks.systems.adaplanbench.rubric import DIMENSIONS


def compose_plan(context: Json, fields: Fields) -> str:
    """The plan as it was written, once it can be read."""
    text = fields.get(told.TEXT, "").strip()
    if not text:
        raise FieldsRefused({told.TEXT: "Write at least one step."})
    try:
        parse_plan(text, {})
    except UnreadableReply as error:
        raise FieldsRefused({told.TEXT: f"This could not be read: {error}"}) from error
    if fields.get(told.LOOK):
        raise FieldsRefused({"": "Below is how your plan is read. Send it when it is right."})
    return text


def compose_feedback(context: Json, fields: Fields) -> str:
    """The feedback as it was written."""
    text = fields.get(told.TEXT, "").strip()
    if not text:
        raise FieldsRefused({told.TEXT: "Write what you would say to the agent."})
    return text


def compose_violations(context: Json, fields: Fields) -> str:
    """The verdict of a constraint judge. That nothing is violated has to be said."""
    keys = [row["key"] for row in context["constraints"]]
    violated = [key for key in keys if fields.get(f"{told.VIOLATES}{key}")]
    none = bool(fields.get(told.NONE))
    if violated and none:
        wrong = "You have marked something above, so the plan does not violate nothing."
        raise FieldsRefused({told.NONE: wrong})
    if not violated and not none:
        missing = "Mark what the plan violates, or say that it violates none of these."
        raise FieldsRefused({told.NONE: missing})
    return _json({"violated": violated, "reasons": _reasons(violated, fields)})


def compose_scores(context: Json, fields: Fields) -> str:
    """A sheet of scores; a dimension that cannot be judged has none."""
    known = {"1", "2", "3", "4", "5", told.UNKNOWN}
    given = {d.key: fields.get(f"{told.SCORE}{d.key}", "") for d in DIMENSIONS}
    if missing := [key for key, value in given.items() if value not in known]:
        words = "Choose 1 to 5, or say that you cannot tell."
        raise FieldsRefused({f"{told.SCORE}{key}": words for key in missing})
    scores = {key: None if value == told.UNKNOWN else int(value) for key, value in given.items()}
    return _json({"scores": scores, "reasons": _reasons(list(scores), fields)})


def _reasons(keys: list[str], fields: Fields) -> dict[str, str]:
    written = {key: fields.get(f"{told.WHY}{key}", "").strip() for key in keys}
    return {key: text for key, text in written.items() if text}


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "plan": ReplyForm(
        told.show_plan, compose_plan, frozenset({"query", "turn", "plans", "feedback"})
    ),
    "feedback": ReplyForm(
        told.show_feedback,
        compose_feedback,
        frozenset({"query", "turn", "plans", "plan", "mode", "points", "profile"}),
        feedback_hints,
        MEASURED,
    ),
    "violations": ReplyForm(
        told.show_violations,
        compose_violations,
        frozenset({"query", "plan", "kind", "constraints"}),
    ),
    "scores": ReplyForm(told.show_scores, compose_scores, frozenset({"query", "plan"})),
}

# What whoever spoke for the user, or planned, can tell of the end by themselves.
END_WORDS: Mapping[str, str] = {
    "valid_plan": "The last plan respects every condition.",
    "early_stop": "Nothing new came up for several turns. The last plan still breaks a condition.",
    "max_turns": "All turns are used up. The last plan still breaks a condition.",
    "refinement_spent": "All extra turns are used up.",
    "judge_failure": "Nobody could decide whether the last plan respects every condition.",
    "simulator_failure": "The user’s side gave no readable reply.",
    "agent_unreadable": "The agent gave no plan that could be read.",
    "agent_declined": "The agent gave no plan.",
    "pool_exhausted": "The agent has no further plan to propose.",
}

# Where nobody who decides could read the last plan, whatever its verdict was.
UNREAD_WORDS = (
    "No condition was found broken, but the script that judged cannot read a plan in a person’s "
    "own words. Whether the last plan respects every condition is undecided."
)
