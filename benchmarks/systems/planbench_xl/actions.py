"""The action grammar: three tags, exactly one of them in a reply; and what stands inside them.

Malformed replies are part of the benchmark. So the parser refuses nothing: it says what kind of
action a reply is, and ``label_error`` is one of the kinds.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.core.digests import storable
from benchmarks.core.json_files import too_deep

RETRIEVE, CALL, ANSWER = "retrieve_tools", "tool_call", "final_answer"
LABEL_ERROR = "label_error"
TAGS = (RETRIEVE, CALL, ANSWER)
_MARKS = {tag: re.compile(f"<(/?){tag}>", re.IGNORECASE) for tag in TAGS}
_CONSTANTS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
# No request nests like this, and what does cannot be written out again.
_DEEPEST = 50


@dataclass(frozen=True)
class Action:
    """What a reply asks for: a kind and the text inside it."""

    kind: str
    content: str = ""


def tagged(text: str) -> list[Action]:
    """Every complete pair of tags with its trimmed content, by kind; pairs may lie in each other.

    One pass over the marks: a regular expression for pairs would take quadratic time over a reply
    that is full of openings.
    """
    found = []
    for tag, mark in _MARKS.items():
        start = None
        for place in mark.finditer(text):
            if not place[1] and start is None:
                start = place.end()
            elif place[1] and start is not None:
                found.append(Action(tag, text[start : place.start()].strip()))
                start = None
    return found


def parse_tagged(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parser of kind ``tagged_action``."""
    found = tagged(text)
    if len(found) != 1:
        return {"kind": LABEL_ERROR, "content": ""}
    return {"kind": found[0].kind, "content": found[0].content}


def read_object(content: str) -> dict[str, Any] | None:
    """The JSON object that a text is, None for anything else.

    Numbers that are none (NaN) become texts: they count as JSON here, and a store has no place for
    them. So do characters that no store can hold.
    """
    try:
        value = json.loads(content, parse_constant=_CONSTANTS.__getitem__, parse_float=_finite)
        if not isinstance(value, dict) or too_deep(value, _DEEPEST):
            return None
    except (ValueError, RecursionError):  # no JSON, or numbers and nesting beyond all measure
        return None
    read: dict[str, Any] = storable(value)
    return read


def _finite(text: str) -> float | str:
    value = float(text)
    return value if math.isfinite(value) else str(value)


@dataclass(frozen=True)
class ToolCall:
    """A call that is well formed: what names its tool, and its arguments."""

    name: str | None
    tool_id: str | None
    arguments: Mapping[str, Any]


def read_call(content: str) -> ToolCall | None:
    """The tool call in a text; None where it is not well formed."""
    value = read_object(content)
    if value is None or not isinstance(value.get("arguments"), dict):
        return None
    names = [value.get(key) for key in ("name", "tool_name")]
    name = next((name for name in names if isinstance(name, str)), None)
    tool_id = value.get("tool_id") if isinstance(value.get("tool_id"), str) else None
    if name is None and tool_id is None:
        return None
    return ToolCall(name, tool_id, value["arguments"])


def read_request(content: str) -> dict[str, Any] | None:
    """The retrieval request in a text, not yet checked; None where it is not well formed."""
    value = read_object(content)
    meta_tool = value.get("meta_tool") if value else None
    return value if isinstance(meta_tool, str) and meta_tool.strip() else None
