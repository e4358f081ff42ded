"""Parsers of the replies that the construction pipeline asks for. Each returns JSON values only."""

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.core.candidates import KEPT, REMOVED
from benchmarks.core.errors import UnreadableReply
from benchmarks.core.plans import number_steps, parse_plan
from benchmarks.core.query_files import LONGEST_CONSTRAINT
from benchmarks.llm.replies import read_json_object
from benchmarks.llm.schemas import list_of, nothing_or, object_of, one_of
from benchmarks.systems.adaplanbench.protocol import WORLD
from benchmarks.systems.adaplanbench_construction.pools import normal_form
from benchmarks.systems.adaplanbench_construction.protocol import (
    KEEP,
    REMOVE,
)

LONGEST_NAME = 80
MOST_CANDIDATES = 200
_DECISIONS = {KEEP: KEPT, REMOVE: REMOVED, KEPT: KEPT, REMOVED: REMOVED}


def parse_query(text: str, params: Mapping[str, Any]) -> str:
    """Parse kind ``query``: a request in words, on one line."""
    query = " ".join(text.split())
    if not query:
        raise UnreadableReply("expected a request in words, found an empty reply.")
    if len(query) > LONGEST_CONSTRAINT:
        raise UnreadableReply(f"expected a request of at most {LONGEST_CONSTRAINT} characters.")
    return query


def parse_verdict(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``verdict``: whether a request is fit, which criteria fail, and a reason.

    A request that is not fit fails at least one, a fit one none.
    """
    reply = read_json_object(text)
    fit = reply.get("fit")
    if not isinstance(fit, bool):
        raise UnreadableReply('expected "fit" to be true or false.')
    named = _texts(reply.get("failed") or [], "failed")
    known: list[str] = list(params["criteria"])
    if unknown := [name for name in named if name not in known]:
        raise UnreadableReply(f"{reprlib.repr(unknown[0])} is no criterion.")
    if fit and named:
        raise UnreadableReply(f'"fit" is true, but "failed" names {named[0]}.')
    if not fit and not named:
        raise UnreadableReply('"fit" is false, but "failed" names no criterion.')
    return {
        "fit": fit,
        "failed": [name for name in known if name in named],
        "reason": _optional(reply.get("reason"), "reason"),
    }


def parse_plans(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``plans``: one to ``count`` plans with their probabilities; what is beyond is
    dropped.

    A plan is a text or a list of steps; a probability is a number from 0 to 1, or None. A plan that
    is said again is no further one.
    """
    plan_by_text: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(_rows(read_json_object(text), "plans"), 1):
        if len(plan_by_text) == params["count"]:
            break
        plan = _plan(number, row)
        plan_by_text.setdefault(plan["text"], plan)
    if not plan_by_text:
        raise UnreadableReply("expected at least one plan, found none.")
    return {"plans": list(plan_by_text.values())}


def _plan(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    given, chance = row.get("plan"), row.get("probability")
    if isinstance(given, list):
        given = number_steps(_texts(given, f"plan {number}"))
    if not isinstance(given, str):
        raise UnreadableReply(f'plan {number}: expected "plan" to be a text.')
    if isinstance(chance, bool) or not isinstance(chance, int | float | None):
        raise UnreadableReply(f'plan {number}: expected "probability" to be a number.')
    if chance is not None and not 0 <= chance <= 1:
        raise UnreadableReply(f'plan {number}: expected "probability" from 0 to 1, not {chance}.')
    return {"text": parse_plan(given, {})["text"], "probability": chance}


def parse_candidates(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``candidates``: tools, and candidates that each restrict one or refuse an
    attribute.

    A candidate has ``text`` and ``about``, ``tool:NAME`` or ``attribute:NAME``; those that say the
    same in the same words are one.
    """
    reply = read_json_object(text)
    tools = {_name(tool): None for tool in _texts(reply.get("tools"), "tools")}
    rows = _rows(reply, "candidates")
    if len(rows) > MOST_CANDIDATES:
        raise UnreadableReply(f"expected at most {MOST_CANDIDATES} candidates, found {len(rows)}.")
    by_form: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, 1):
        where = f"candidate {number}"
        sentence = _sentence(row.get("text"), where)
        tool = _name(_required(row.get("tool"), f"{where}: tool"))
        if tool not in tools:
            raise UnreadableReply(f'{where}: {reprlib.repr(tool)} does not stand under "tools".')
        about = f"tool:{tool}"
        if params["kind"] != WORLD:
            about = "attribute:" + _name(_required(row.get("attribute"), f"{where}: attribute"))
        by_form.setdefault(normal_form(sentence), {"text": sentence, "about": about})
    return {"tools": list(tools), "candidates": list(by_form.values())}


def parse_merged(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``merged``: what each constraint of the pool was made from, and what was
    forgotten.

    An entry that is said again word for word is the same entry.
    """
    settled, new = list(params["settled"]), list(params["new"])
    entries: list[dict[str, Any]] = []
    taken: dict[str, int] = {}
    rows = _rows(read_json_object(text), "constraints")
    for number, row in enumerate(rows, 1):
        if row in rows[: number - 1]:
            continue
        where = f"constraint {number}"
        ids = list(dict.fromkeys(_texts(row.get("from"), f"{where}: from")))
        if not ids:
            raise UnreadableReply(f"{where} is made from nothing.")
        for name in ids:
            if name not in settled and name not in new:
                raise UnreadableReply(f"{where}: {reprlib.repr(name)} was not given.")
            if taken.setdefault(name, number) != number:
                raise UnreadableReply(f"{name} stands in constraints {taken[name]} and {number}.")
        both = [name for name in ids if name in settled]
        if len(both) > 1:
            raise UnreadableReply(f"{where} joins {both[0]} and {both[1]}, which are settled.")
        sentence = "" if both else _sentence(row.get("text"), where)
        entries.append({"text": sentence, "from": ids})
    return {"constraints": entries, "forgotten": [name for name in new if name not in taken]}


def parse_decisions(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``decisions``: kept or removed for each key in its order, with ground and reason.

    Every key once; a removal has one of the grounds. What is kept has neither ground nor reason.
    """
    keys, grounds = list(params["keys"]), list(params["grounds"])
    by_key: dict[str, dict[str, str]] = {}
    for number, row in enumerate(_rows(read_json_object(text), "decisions"), 1):
        key = _required(row.get("key"), f"decision {number}: key")
        if key not in keys:
            raise UnreadableReply(f"{reprlib.repr(key)} was not proposed.")
        decided = _decision(key, row, grounds)
        if by_key.setdefault(key, decided)["decision"] != decided["decision"]:
            raise UnreadableReply(f"{key} is both kept and removed.")
    if missing := [key for key in keys if key not in by_key]:
        raise UnreadableReply(f"nothing is decided about {', '.join(missing[:5])}.")
    return {"decisions": [{"key": key, **by_key[key]} for key in keys]}


def _decision(key: str, row: Mapping[str, Any], grounds: Sequence[str]) -> dict[str, str]:
    decision, ground = str(row.get("decision")).strip().lower(), row.get("ground")
    if decision not in _DECISIONS:
        raise UnreadableReply(f'{key}: expected "keep" or "remove", not {reprlib.repr(decision)}.')
    if _DECISIONS[decision] == KEPT:
        return {"decision": KEPT, "ground": "", "reason": ""}
    if not isinstance(ground, str) or ground not in grounds:
        raise UnreadableReply(
            f"{key}: expected one of {', '.join(grounds)} as ground, not {reprlib.repr(ground)}."
        )
    reason = _optional(row.get("reason"), f"{key}: reason")
    return {"decision": REMOVED, "ground": ground, "reason": reason}


def _rows(reply: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = reply.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UnreadableReply(f'expected "{name}" to be a list of objects.')
    return rows


def _texts(value: Any, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise UnreadableReply(f'expected "{name}" to be a list of texts.')
    return list(_nonempty(value))


def _nonempty(texts: Sequence[str]) -> Iterator[str]:
    return (text.strip() for text in texts if text.strip())


def _required(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UnreadableReply(f"{where}: expected a text.")
    return value.strip()


def _optional(value: Any, where: str) -> str:
    if value is not None and not isinstance(value, str):
        raise UnreadableReply(f"{where}: expected a text.")
    return " ".join((value or "").split())[:LONGEST_CONSTRAINT]


def _sentence(value: Any, where: str) -> str:
    sentence = " ".join(_required(value, f"{where}: text").split())
    if len(sentence) > LONGEST_CONSTRAINT:
        raise UnreadableReply(f"{where}: expected at most {LONGEST_CONSTRAINT} characters.")
    if not normal_form(sentence):
        raise UnreadableReply(f"{where}: expected words.")
    return sentence


def _name(text: str) -> str:
    """Return the name of a tool or attribute as constraints refer to it."""
    return " ".join(text.casefold().split())[:LONGEST_NAME]


PARSERS = {
    "query": parse_query,
    "verdict": parse_verdict,
    "plans": parse_plans,
    "candidates": parse_candidates,
    "merged": parse_merged,
    "decisions": parse_decisions,
}


# --- Schemas, for endpoints that can be held to them ----------------------------------------------

_TEXT = {"type": "string"}


def verdict(params: Mapping[str, Any]) -> dict[str, Any]:
    failed = list_of(one_of(list(params["criteria"])))
    return object_of({"fit": {"type": "boolean"}, "failed": failed, "reason": _TEXT})


def plans(params: Mapping[str, Any]) -> dict[str, Any]:
    row = object_of({"plan": _TEXT, "probability": nothing_or({"type": "number"})})
    return object_of({"plans": list_of(row)})


def candidates(params: Mapping[str, Any]) -> dict[str, Any]:
    attribute = {} if params["kind"] == WORLD else {"attribute": _TEXT}
    row = object_of({"text": _TEXT, "tool": _TEXT, **attribute})
    return object_of({"tools": list_of(_TEXT), "candidates": list_of(row)})


def merged(params: Mapping[str, Any]) -> dict[str, Any]:
    ids = one_of([*params["settled"], *params["new"]])
    return object_of({"constraints": list_of(object_of({"text": _TEXT, "from": list_of(ids)}))})


def decisions(params: Mapping[str, Any]) -> dict[str, Any]:
    row = object_of(
        {
            "key": one_of(list(params["keys"])),
            "decision": one_of([KEEP, REMOVE]),
            "ground": one_of([*params["grounds"], ""]),
            "reason": _TEXT,
        }
    )
    return object_of({"decisions": list_of(row)})


SCHEMAS = {
    "verdict": verdict,
    "plans": plans,
    "candidates": candidates,
    "merged": merged,
    "decisions": decisions,
}
