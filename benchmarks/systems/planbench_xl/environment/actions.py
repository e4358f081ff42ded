"""The three actions of an agent, as tags or as native calls, and what stands inside them.

A reply holds exactly one tag. Malformed replies are part of the benchmark. So the parser refuses
nothing: it says what kind of action a reply is, and ``label_error`` is one of the kinds.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.core.digests import canonical_json, storable
from benchmarks.core.json_files import too_deep

RETRIEVE, CALL, ANSWER = "retrieve_tools", "tool_call", "final_answer"
LABEL_ERROR = "label_error"
TAGS = (RETRIEVE, CALL, ANSWER)
_MARKS = {tag: re.compile(f"<(/?){tag}>", re.IGNORECASE) for tag in TAGS}
_CONSTANTS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
# No request nests like this, and what does cannot be written out again.
_DEEPEST = 50


@dataclass(frozen=True)
class AgentAction:
    """The action that a reply asks for: a kind and the text inside it."""

    kind: str
    content: str = ""


def tagged(text: str) -> list[AgentAction]:
    """Return every complete pair of tags with its trimmed content, by kind; pairs may lie in each
    other.

    One pass over the marks: a regular expression for pairs would take quadratic time over a reply
    that is full of openings.
    """
    actions = []
    for tag, mark in _MARKS.items():
        start = None
        for place in mark.finditer(text):
            if not place[1] and start is None:
                start = place.end()
            elif place[1] and start is not None:
                actions.append(AgentAction(tag, text[start : place.start()].strip()))
                start = None
    return actions


def parse_tagged(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``tagged_action``."""
    actions = tagged(text)
    if len(actions) != 1:
        return {"kind": LABEL_ERROR, "content": ""}
    return {"kind": actions[0].kind, "content": actions[0].content}


def read_object(content: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is, None for anything else.

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


class ParsedCall(NamedTuple):
    """A call that is well formed: what names its tool, and its arguments."""

    name: str | None
    tool_id: str | None
    arguments: Mapping[str, Any]


def read_call(content: str) -> ParsedCall | None:
    """Return the tool call in a text; None where it is not well formed."""
    value = read_object(content)
    if value is None or not isinstance(value.get("arguments"), dict):
        return None
    names = [value.get(key) for key in ("name", "tool_name")]
    name = next((name for name in names if isinstance(name, str)), None)
    tool_id = value.get("tool_id") if isinstance(value.get("tool_id"), str) else None
    if name is None and tool_id is None:
        return None
    return ParsedCall(name, tool_id, value["arguments"])


def read_request(content: str) -> dict[str, Any] | None:
    """Return the retrieval request in a text, not yet checked; None where it is not well formed."""
    value = read_object(content)
    meta_tool = value.get("meta_tool") if value else None
    return value if isinstance(meta_tool, str) and meta_tool.strip() else None


# --- As native functions --------------------------------------------------------------------------

# Functions stay the same three during an episode: the tools that an agent discovers are called by
# ``call_tool``. Declaring each as a function of its own would exceed what endpoints accept and
# change the head of the dialogue at every step.
_TEXT = {"type": "string"}
# By the name of a function, the action that it stands for.
NAMES = {"retrieve_tools": RETRIEVE, "call_tool": CALL, "final_answer": ANSWER}


def _function(name: str, description: str, properties: Any, required: list[str]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


FUNCTIONS = (
    _function(
        "retrieve_tools",
        "Search the catalogue for tools by what they take, by what they give, or by both.",
        {
            "meta_tool": {"type": "string", "enum": ["by_inputs", "by_output_info", "by_io_info"]},
            "input_information": {
                "type": "array",
                "items": _TEXT,
                "description": "One or two phrases; for by_inputs and by_io_info.",
            },
            "output_information": {
                **_TEXT,
                "description": "One phrase; for by_output_info and by_io_info.",
            },
        },
        ["meta_tool"],
    ),
    _function(
        "call_tool",
        "Call a tool that an earlier search has shown.",
        {
            "name": _TEXT,
            "tool_id": {**_TEXT, "description": "In place of the name, where tools have ids."},
            "arguments": {"type": "object", "description": "All of the tool's own parameters."},
        },
        ["arguments"],
    ),
    _function("final_answer", "Give the answer and end.", {"answer": _TEXT}, ["answer"]),
)


def parse_native(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``native_action``: a chat message as JSON text.

    The first call is the action; ``calls`` holds all of them in the chat format, ``said`` the words
    beside them. No call, or one of an unknown function, is a label error.
    """
    message = read_object(text) or {}
    said, given = message.get("content"), message.get("tool_calls")
    listed = [call for call in given if isinstance(call, dict)] if isinstance(given, list) else []
    calls = [_shaped(call, number) for number, call in enumerate(listed, 1)]
    kind, content = _action(calls[0]["function"]) if calls else (LABEL_ERROR, "")
    said = said if isinstance(said, str) else ""
    return {"kind": kind, "content": content, "said": said, "calls": calls}


def _shaped(call: Mapping[str, Any], number: int) -> dict[str, Any]:
    """Return a call as the chat format has it, whatever the reply made of it."""
    function = call.get("function", call)
    function = function if isinstance(function, dict) else {}
    arguments = function.get("arguments", "")
    return {
        "id": str(call.get("id") or f"call_{number}"),
        "type": "function",
        "function": {
            "name": str(function.get("name", "")),
            "arguments": arguments if isinstance(arguments, str) else canonical_json(arguments),
        },
    }


def _action(function: Mapping[str, str]) -> tuple[str, str]:
    """Return the kind of action that a call is, and the text inside it."""
    kind = NAMES.get(function["name"], LABEL_ERROR)
    if kind == LABEL_ERROR:
        return LABEL_ERROR, ""
    if kind != ANSWER:
        return kind, function["arguments"]
    answer = (read_object(function["arguments"]) or {}).get("answer")
    if answer is None:
        return LABEL_ERROR, ""
    return kind, answer.strip() if isinstance(answer, str) else canonical_json(answer)


def call_text(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a reply that calls one function, as the text in which replies to asks with tools
    come.
    """
    function = {"name": name, "arguments": canonical_json(arguments)}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return canonical_json({"content": "", "tool_calls": calls})
