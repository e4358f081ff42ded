"""The three actions as native functions, and the reading of replies that call them.

Functions stay the same three during an episode: the tools that an agent discovers are called by
``call_tool``. Declaring each as a function of its own would exceed what endpoints accept and change
the head of the dialogue at every step.
"""

from collections.abc import Mapping
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.systems.planbench_xl.actions import (
    ANSWER,
    CALL,
    LABEL_ERROR,
    RETRIEVE,
    read_object,
)

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
    """Parser of kind ``native_action``: a chat message as JSON text.

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
    """A call as the chat format has it, whatever the reply made of it."""
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
    """The kind of action that a call is, and the text inside it."""
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
    """A reply that calls one function, as the text in which replies to asks with tools come."""
    function = {"name": name, "arguments": canonical_json(arguments)}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    return canonical_json({"content": "", "tool_calls": calls})
