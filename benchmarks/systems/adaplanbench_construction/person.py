"""Replies of people in the roles of the construction, from fields. What pages show: ``told.py``."""

import json
from collections.abc import Mapping

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.reply_forms import Fields, FieldsRefused, ReplyForm
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.plans import parse_plan
from benchmarks.systems.adaplanbench.protocol import WORLD
from benchmarks.systems.adaplanbench_construction import told
from benchmarks.systems.adaplanbench_construction.protocol import KEEP, REMOVE


def compose_verdict(context: Json, fields: Fields) -> str:
    """The filter's verdict. That everything holds has to be said."""
    failed = [name for name in context["criteria"] if fields.get(f"{told.FAILS}{name}")]
    fit = bool(fields.get(told.FIT))
    if fit == bool(failed):
        wrong = "You have marked something above, so it is not fit." if fit else (
            "Mark what does not hold, or say that the request is fit."
        )  # fmt: skip
        raise FieldsRefused({told.FIT: wrong})
    return _json({"fit": fit, "failed": failed, "reason": fields.get(told.REASON, "").strip()})


def compose_plans(context: Json, fields: Fields) -> str:
    """Those plans that were written, at least one."""
    numbers = range(1, context["count"] + 1)
    written = {n: text for n in numbers if (text := fields.get(f"{told.PLAN}{n}", "").strip())}
    if not written:
        raise FieldsRefused({f"{told.PLAN}1": "Write at least one plan."})
    for number, text in written.items():
        try:
            parse_plan(text, {})
        except UnreadableReply as error:
            words = f"This could not be read: {error}"
            raise FieldsRefused({f"{told.PLAN}{number}": words}) from error
    return _json({"plans": [{"plan": text, "probability": None} for text in written.values()]})


def compose_candidates(context: Json, fields: Fields) -> str:
    """Candidates from lines ``tool: sentence``, or ``tool, quality: sentence`` for the user."""
    lines = [line.strip() for line in fields.get(told.LINES, "").splitlines() if line.strip()]
    if bool(lines) == bool(fields.get(told.NONE)):
        missing = "Write at least one line, or say that there is nothing to propose."
        both = "There are lines, so there is something to propose."
        raise FieldsRefused({told.LINES: both if lines else missing})
    rows = [_candidate(number, line, context["kind"]) for number, line in enumerate(lines, 1)]
    tools = list(dict.fromkeys(row["tool"] for row in rows))
    return _json({"tools": tools, "candidates": rows})


def _candidate(number: int, line: str, kind: str) -> dict[str, str]:
    names, _, text = (part.strip() for part in line.partition(":"))
    tool, _, attribute = (part.strip() for part in names.partition(","))
    world = kind == WORLD
    if not (text and tool) or (not world and not attribute):
        wanted = "a tool" if world else "a tool, a comma, a quality"
        words = f"Line {number} needs {wanted}, a colon and a sentence."
        raise FieldsRefused({told.LINES: words})
    if world:
        return {"text": text, "tool": names}
    return {"text": text, "tool": tool, "attribute": attribute}


def compose_merged(context: Json, fields: Fields) -> str:
    """Each new constraint alone, or with the one that it was said to repeat."""
    settled = [row["id"] for row in context["settled"]]
    heads: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for row in context["new"]:
        chosen = fields.get(f"{told.SAME}{row['id']}", "")
        head = chosen if chosen in settled else heads.get(chosen, row["id"])
        heads[row["id"]] = head
        groups.setdefault(head, [head] if head in settled else []).append(row["id"])
    rows = []
    for head, ids in groups.items():
        text = "" if head in settled else fields.get(f"{told.TEXT}{head}", "").strip()
        if not text and head not in settled:
            raise FieldsRefused({f"{told.TEXT}{head}": "Write one sentence."})
        rows.append({"text": text, "from": ids})
    return _json({"constraints": rows})


def compose_decisions(context: Json, fields: Fields) -> str:
    """A decision on everything: that it is kept, or the ground on which it goes."""
    rows, errors = [], {}
    for key in (row["key"] for row in context["proposed"]):
        chosen = fields.get(f"{told.DECIDE}{key}", "")
        why = fields.get(f"{told.WHY}{key}", "").strip()
        if chosen == KEEP:
            rows.append({"key": key, "decision": KEEP, "ground": "", "reason": ""})
        elif chosen in context["grounds"]:
            rows.append({"key": key, "decision": REMOVE, "ground": chosen, "reason": why})
        else:
            errors[f"{told.DECIDE}{key}"] = "Choose to keep or to remove it."
    if errors:
        raise FieldsRefused(errors)
    return _json({"decisions": rows})


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "verdict": ReplyForm(told.show_verdict, compose_verdict, frozenset({"query", "criteria"})),
    "plans": ReplyForm(told.show_plans, compose_plans, frozenset({"query", "told", "count"})),
    "candidates": ReplyForm(
        told.show_candidates, compose_candidates, frozenset({"query", "plans", "kind"})
    ),
    "merged": ReplyForm(told.show_merged, compose_merged, frozenset({"query", "settled", "new"})),
    "decisions": ReplyForm(
        told.show_decisions, compose_decisions, frozenset({"query", "kept", "proposed", "grounds"})
    ),
}
