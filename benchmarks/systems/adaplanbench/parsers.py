"""Parsers of the replies that AdaPlanBench asks for. Each returns JSON values only."""

import reprlib
from collections.abc import Mapping
from typing import Any

from benchmarks.core.errors import UnreadableReply
from benchmarks.core.plans import parse_plan
from benchmarks.llm.replies import read_json_object
from benchmarks.llm.schemas import list_of, nothing_or, object_of, one_of


def _reasons(reply: Mapping[str, Any], keys: list[str]) -> dict[str, str]:
    given = reply.get("reasons", {})
    if not isinstance(given, dict):
        return {}
    return {key: str(given[key]) for key in keys if key in given}


def parse_violations(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``violations``: the violated keys in profile order; an unknown key is
    unreadable.
    """
    reply = read_json_object(text)
    violated = reply.get("violated")
    if not isinstance(violated, list) or not all(isinstance(key, str) for key in violated):
        raise UnreadableReply('expected "violated" to be a list of keys.')
    known: list[str] = list(params["keys"])
    unknown = [key for key in violated if key not in known]
    if unknown:
        raise UnreadableReply(f"{reprlib.repr(unknown[0])} is no key of this profile.")
    keys = [key for key in known if key in violated]
    return {"violated": keys, "reasons": _reasons(reply, keys)}


def parse_scores(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``scores``: every dimension with a whole number from 1 to 5, or null."""
    reply = read_json_object(text)
    given = reply.get("scores")
    if not isinstance(given, dict):
        raise UnreadableReply('expected "scores" to be an object.')
    scores: dict[str, int | None] = {}
    for key in params["dimensions"]:
        if key not in given:
            raise UnreadableReply(f'"scores" lacks {key!r}.')
        scores[key] = _score(key, given[key])
    return {"scores": scores, "reasons": _reasons(reply, list(scores))}


def _score(key: str, value: Any) -> int | None:
    if value is None:
        return None
    whole = isinstance(value, int | float) and not isinstance(value, bool) and value in range(1, 6)
    if not whole:
        found = reprlib.repr(value)
        raise UnreadableReply(f"{key!r} must be a whole number from 1 to 5 or null, not {found}.")
    return int(value)


def parse_feedback(text: str, params: Mapping[str, Any]) -> str:
    """Parse kind ``feedback``: any text that is not blank."""
    if not text.strip():
        raise UnreadableReply("expected feedback in words, found an empty reply.")
    return text.strip()


PARSERS = {
    "plan": parse_plan,
    "violations": parse_violations,
    "scores": parse_scores,
    "feedback": parse_feedback,
}


# --- Schemas, for endpoints that can be held to them ----------------------------------------------

_TEXT = {"type": "string"}


def violations(params: Mapping[str, Any]) -> dict[str, Any]:
    keys = list(params["keys"])
    reasons = object_of(dict.fromkeys(keys, _TEXT))
    return object_of({"violated": list_of(one_of(keys)), "reasons": reasons})


def scores(params: Mapping[str, Any]) -> dict[str, Any]:
    keys = list(params["dimensions"])
    given = object_of(dict.fromkeys(keys, nothing_or(one_of([1, 2, 3, 4, 5]))))
    return object_of({"scores": given, "reasons": object_of(dict.fromkeys(keys, _TEXT))})


SCHEMAS = {"violations": violations, "scores": scores}
