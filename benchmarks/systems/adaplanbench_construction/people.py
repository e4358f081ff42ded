"""Reply forms for people who fill a role of the construction.

Pages are made from the context of an ask, which holds only what that role may know."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.plans import parse_plan
from benchmarks.core.ports.people import Fields, FieldsRefused, People, ReplyForm
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.protocol import WORLD
from benchmarks.systems.adaplanbench_construction.protocol import KEEP, REMOVE

# Names of fields; of those that end in "-" a criterion, number, id or key follows.
FAILS, FIT, REASON = "fails-", "fit", "reason"
PLAN, LINES, NONE = "plan-", "lines", "none"
SAME, TEXT = "same-", "text-"
DECIDE, WHY = "decide-", "why-"


class ProblemContext(NamedTuple):
    """The problem as every page shows it; ``reference`` is empty for whoever may not know it."""

    query: str
    round: int = 0
    reference: str = ""
    world: bool = True


class Choice(NamedTuple):
    """One of several values of a field."""

    value: str
    label: str
    chosen: bool


class VerdictPage(NamedTuple):
    shown: ProblemContext
    criteria: Sequence[Choice]
    fit: bool
    reason: str
    error: str


class PlanField(NamedTuple):
    number: int
    value: str
    error: str


class PlansPage(NamedTuple):
    """The page of a planner; ``restrictions`` are what the plans have to keep to."""

    shown: ProblemContext
    restrictions: Sequence[str]
    plans: Sequence[PlanField]


class CandidatesPage(NamedTuple):
    shown: ProblemContext
    plans: Sequence[str]
    lines: str
    none: bool
    error: str


class NewRow(NamedTuple):
    """A new text beside what it may be the same as: what is settled, and what stands above."""

    id: str
    text: str
    value: str
    same: Sequence[Choice]
    error: str


class MergedPage(NamedTuple):
    shown: ProblemContext
    settled: Sequence[str]
    rows: Sequence[NewRow]


class DecisionRow(NamedTuple):
    key: str
    text: str
    choices: Sequence[Choice]
    why: str
    error: str


class DecisionsPage(NamedTuple):
    shown: ProblemContext
    kept: Sequence[str]
    rows: Sequence[DecisionRow]


def show_verdict(context: Json, fields: Fields, errors: Mapping[str, str]) -> VerdictPage:
    """Return the filter's place: the request, and what has to hold."""
    criteria = [
        Choice(name, text, bool(fields.get(f"{FAILS}{name}")))
        for name, text in context["criteria"].items()
    ]
    return VerdictPage(
        _shown(context), criteria, bool(fields.get(FIT)), fields.get(REASON, ""),
        errors.get(FIT, ""),
    )  # fmt: skip


def show_plans(context: Json, fields: Fields, errors: Mapping[str, str]) -> PlansPage:
    """Return a planner's place: the request, and what that planner's plans brought up so far."""
    numbers = range(1, context["count"] + 1)
    return PlansPage(
        _shown(context),
        [row["text"] for row in context["told"]],
        [PlanField(n, fields.get(f"{PLAN}{n}", ""), errors.get(f"{PLAN}{n}", "")) for n in numbers],
    )


def show_candidates(context: Json, fields: Fields, errors: Mapping[str, str]) -> CandidatesPage:
    """Return the extractor's place: the plans, and the solution that must stay possible."""
    lines, none = fields.get(LINES, ""), bool(fields.get(NONE))
    return CandidatesPage(_shown(context), context["plans"], lines, none, errors.get(LINES, ""))


def show_merged(context: Json, fields: Fields, errors: Mapping[str, str]) -> MergedPage:
    """Return the merger's place: what is settled in a planner's pool, and what is new."""
    known = {row["id"]: row["text"] for row in context["settled"]}
    rows = []
    for row in context["new"]:
        chosen = fields.get(f"{SAME}{row['id']}", "")
        same = [Choice(name, text, name == chosen) for name, text in known.items()]
        value = fields.get(f"{TEXT}{row['id']}", row["text"])
        error = errors.get(f"{TEXT}{row['id']}", "")
        rows.append(NewRow(row["id"], row["text"], value, same, error))
        known[row["id"]] = row["text"]
    return MergedPage(_shown(context), [row["text"] for row in context["settled"]], rows)


def show_decisions(context: Json, fields: Fields, errors: Mapping[str, str]) -> DecisionsPage:
    """Return the checker's place: everything that is proposed, beside what is kept already."""
    grounds = {name: f"Remove: {text}" for name, text in context["grounds"].items()}
    offered = {KEEP: "Keep", **grounds}
    rows = []
    for row in context["proposed"]:
        key, chosen = row["key"], fields.get(f"{DECIDE}{row['key']}", "")
        rows.append(
            DecisionRow(
                key,
                row["text"],
                [Choice(value, label, value == chosen) for value, label in offered.items()],
                fields.get(f"{WHY}{key}", ""),
                errors.get(f"{DECIDE}{key}", ""),
            )
        )
    kept = [row["text"] for row in context["kept"]]
    return DecisionsPage(_shown(context), kept, rows)


def _shown(context: Json) -> ProblemContext:
    return ProblemContext(
        context["query"],
        context.get("round", 0),
        context.get("reference", ""),
        context.get("kind", WORLD) == WORLD,
    )


def compose_verdict(context: Json, fields: Fields) -> str:
    """Return the filter's verdict. That everything holds has to be said."""
    failed = [name for name in context["criteria"] if fields.get(f"{FAILS}{name}")]
    fit = bool(fields.get(FIT))
    if fit == bool(failed):
        wrong = "You have marked something above, so it is not fit." if fit else (
            "Mark what does not hold, or say that the request is fit."
        )  # fmt: skip
        raise FieldsRefused({FIT: wrong})
    return _json({"fit": fit, "failed": failed, "reason": fields.get(REASON, "").strip()})


def compose_plans(context: Json, fields: Fields) -> str:
    """Return those plans that were written, at least one."""
    numbers = range(1, context["count"] + 1)
    written = {n: text for n in numbers if (text := fields.get(f"{PLAN}{n}", "").strip())}
    if not written:
        raise FieldsRefused({f"{PLAN}1": "Write at least one plan."})
    for number, text in written.items():
        try:
            parse_plan(text, {})
        except UnreadableReply as error:
            words = f"This could not be read: {error}"
            raise FieldsRefused({f"{PLAN}{number}": words}) from error
    return _json({"plans": [{"plan": text, "probability": None} for text in written.values()]})


def compose_candidates(context: Json, fields: Fields) -> str:
    """Read candidates from lines ``tool: sentence``, or ``tool, quality: sentence`` for the
    user.
    """
    lines = [line.strip() for line in fields.get(LINES, "").splitlines() if line.strip()]
    if bool(lines) == bool(fields.get(NONE)):
        missing = "Write at least one line, or say that there is nothing to propose."
        both = "There are lines, so there is something to propose."
        raise FieldsRefused({LINES: both if lines else missing})
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
        raise FieldsRefused({LINES: words})
    if world:
        return {"text": text, "tool": names}
    return {"text": text, "tool": tool, "attribute": attribute}


def compose_merged(context: Json, fields: Fields) -> str:
    """Return each new constraint alone, or with the one that it was said to repeat."""
    settled = [row["id"] for row in context["settled"]]
    heads: dict[str, str] = {}
    groups: dict[str, list[str]] = {}
    for row in context["new"]:
        chosen = fields.get(f"{SAME}{row['id']}", "")
        head = chosen if chosen in settled else heads.get(chosen, row["id"])
        heads[row["id"]] = head
        groups.setdefault(head, [head] if head in settled else []).append(row["id"])
    rows = []
    for head, ids in groups.items():
        text = "" if head in settled else fields.get(f"{TEXT}{head}", "").strip()
        if not text and head not in settled:
            raise FieldsRefused({f"{TEXT}{head}": "Write one sentence."})
        rows.append({"text": text, "from": ids})
    return _json({"constraints": rows})


def compose_decisions(context: Json, fields: Fields) -> str:
    """Return a decision on everything: that it is kept, or the ground on which it goes."""
    rows, errors = [], {}
    for key in (row["key"] for row in context["proposed"]):
        chosen = fields.get(f"{DECIDE}{key}", "")
        why = fields.get(f"{WHY}{key}", "").strip()
        if chosen == KEEP:
            rows.append({"key": key, "decision": KEEP, "ground": "", "reason": ""})
        elif chosen in context["grounds"]:
            rows.append({"key": key, "decision": REMOVE, "ground": chosen, "reason": why})
        else:
            errors[f"{DECIDE}{key}"] = "Choose to keep or to remove it."
    if errors:
        raise FieldsRefused(errors)
    return _json({"decisions": rows})


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "verdict": ReplyForm(show_verdict, compose_verdict, frozenset({"query", "criteria"})),
    "plans": ReplyForm(show_plans, compose_plans, frozenset({"query", "told", "count"})),
    "candidates": ReplyForm(
        show_candidates, compose_candidates, frozenset({"query", "plans", "kind"})
    ),
    "merged": ReplyForm(show_merged, compose_merged, frozenset({"query", "settled", "new"})),
    "decisions": ReplyForm(
        show_decisions, compose_decisions, frozenset({"query", "kept", "proposed", "grounds"})
    ),
}

PEOPLE = People(reply_forms=REPLY_FORMS)
