"""Replies of a person in the agent's place, made from fields. What the page shows: ``told.py``."""

import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.reply_forms import Fields, FieldsRefused, ReplyForm
from benchmarks.core.types import Json
from benchmarks.systems.planbench_xl.actions import ANSWER, CALL, RETRIEVE, Action, tagged
from benchmarks.systems.planbench_xl.native import call_text
from benchmarks.systems.planbench_xl.told import (
    ARGUMENT,
    GIVES,
    TAKES,
    TAKES_2,
    parameters_of,
    show,
)

_NATIVE_NAMES = {RETRIEVE: "retrieve_tools", CALL: "call_tool"}


def compose(native: bool, context: Json, fields: Fields) -> str:
    """The reply that the filled-in form stands for."""
    action = {"search": _search, "call": _call, "answer": _answer}.get(fields.get("do", ""))
    if action is None:
        raise FieldsRefused({"": "Choose what to do: search, call a tool, or answer."})
    kind, content = action(context, fields)
    if native:
        if kind == ANSWER:
            return call_text("final_answer", {"answer": content})
        return call_text(_NATIVE_NAMES[kind], content)
    if kind != ANSWER:
        # Tags inside a text would count as tags; JSON has another way to write them.
        inside = canonical_json(content).replace("<", "\\u003c")
        return f"<{kind}>\n{inside}\n</{kind}>"
    text = f"<{kind}>\n{content}\n</{kind}>"
    if tagged(text) != [Action(kind, content)]:
        raise FieldsRefused({"answer": "An answer cannot hold the tags in which replies stand."})
    return text


def _search(context: Json, fields: Fields) -> tuple[str, Any]:
    gives = fields.get(GIVES, "").strip()
    takes = [text for name in (TAKES, TAKES_2) if (text := fields.get(name, "").strip())]
    if not gives and not takes:
        raise FieldsRefused({GIVES: "Say what the tool should give, or what it takes."})
    if not takes:
        return RETRIEVE, {"meta_tool": "by_output_info", "output_information": gives}
    if not gives:
        return RETRIEVE, {"meta_tool": "by_inputs", "input_information": takes}
    return RETRIEVE, {
        "meta_tool": "by_io_info",
        "input_information": takes,
        "output_information": gives,
    }


def _call(context: Json, fields: Fields) -> tuple[str, Any]:
    name = fields.get("tool", "")
    told = next((tool for tool in context["tools"] if tool["name"] == name), None)
    if told is None:
        raise FieldsRefused({"": "Choose one of the tools that your searches have shown."})
    parameters = parameters_of(told)
    typed = {key: fields.get(f"{ARGUMENT}{key}", "").strip() for key in parameters}
    if missing := [key for key, text in typed.items() if not text]:
        raise FieldsRefused({f"{ARGUMENT}{key}": "Give a value." for key in missing})
    arguments = {key: _argument(text, parameters[key]) for key, text in typed.items()}
    return CALL, {"name": name, "arguments": arguments}


_TYPES: Mapping[str, tuple[type, ...]] = {
    "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,),
    "object": (dict,),
}  # fmt: skip


def _argument(text: str, about: Json) -> Any:
    """What was typed as the parameter's type, where it can be read as one; else as text."""
    kind = about.get("type")
    wanted = _TYPES.get(kind, ()) if isinstance(kind, str) else ()
    try:
        value = json.loads(text) if wanted else text
    except (ValueError, RecursionError):
        return text
    if type(value) not in wanted or (isinstance(value, float) and not math.isfinite(value)):
        return text
    return value


def _answer(context: Json, fields: Fields) -> tuple[str, Any]:
    answer = fields.get("answer", "").strip()
    errors = {}
    if not answer:
        errors["answer"] = "Write the answer."
    if not fields.get("sure"):
        errors["sure"] = "Confirm that this is your final answer."
    if errors:
        raise FieldsRefused(errors)
    return ANSWER, answer


_NEEDS = frozenset({"query", "step", "steps_left", "tools", "events", "limits"})
REPLY_FORMS: Mapping[str, ReplyForm] = {
    "tagged_action": ReplyForm(show, partial(compose, False), _NEEDS),
    "native_action": ReplyForm(show, partial(compose, True), _NEEDS),
}

# What an agent can tell of the end by itself; whether the answer is right it is never told.
END_WORDS: Mapping[str, str] = {
    "answered": "You gave the final answer. Whether it is right, agents are not told.",
    "max_steps": "All replies are used up.",
    "label_errors": "Too many replies held no action that could be told apart.",
    "retrieval_errors": "Too many searches were refused.",
    "call_errors": "Too many calls were refused.",
}
