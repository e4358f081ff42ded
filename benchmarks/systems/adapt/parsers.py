"""Parsers of the replies that ADAPT asks for, and the JSON schemas of these replies."""

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.core.errors import UnreadableReply
from benchmarks.llm.replies import read_json_object
from benchmarks.llm.schemas import list_of, object_of, one_of
from benchmarks.systems.adapt.household.actions import ASK, LOOK_FOR, TEMPLATES, VERBS, action_text

LONGEST_REPLY = 20_000
LONGEST_ANSWER = 2000
_THOUGHT = re.compile(r"^\W*thought\W*:\W*", re.IGNORECASE)
_ACTION = re.compile(r"^\W*action\W*:\s*", re.IGNORECASE)
_PARTS = ("x", "y", "z", "verb", "result", "tool")


def parse_action_reply(text: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Parse kind ``action``: the action's text, and the thought before it where there is one.

    Whether the text is an action is the household's business, so nothing is refused here.
    """
    lines = [line.strip().strip("`*").strip() for line in text[:LONGEST_REPLY].splitlines()]
    lines = [line for line in lines if line]
    thoughts: list[str] = []
    for line in lines:
        if found := _ACTION.match(line):
            return {"thought": " ".join(thoughts), "action": line[found.end() :].strip("`* ")}
        if found := _THOUGHT.match(line):
            thoughts.append(line[found.end() :])
        elif thoughts:
            thoughts.append(line)
        else:
            return {"thought": "", "action": line}
    # A thought without a line for the action: the last line may be one.
    if len(thoughts) > 1:
        return {"thought": " ".join(thoughts[:-1]), "action": thoughts[-1]}
    return {"thought": " ".join(thoughts), "action": ""}


def parse_json_action(text: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Parse kind ``json_action``: the template's name with its arguments, as the text of an
    action.
    """
    reply = read_json_object(text[:LONGEST_REPLY])
    name = reply.get("action")
    if not isinstance(name, str) or name not in params["actions"]:
        known = ", ".join(params["actions"])
        raise UnreadableReply(f'expected "action" to be one of {known}.')
    parts = {part: reply.get(part) or "" for part in _PARTS}
    if not all(isinstance(part, str) for part in parts.values()):
        raise UnreadableReply(f"expected texts under {', '.join(_PARTS)}.")
    if name in (ASK, LOOK_FOR):
        parts["x"] = reply.get("text") or parts["x"]
        if not isinstance(parts["x"], str):
            raise UnreadableReply('expected words under "text".')
    thought = reply.get("thought")
    return {
        "thought": thought if isinstance(thought, str) else "",
        "action": " ".join(action_text(name, **parts).split()),
    }


def parse_answer(text: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Parse kind ``answer``: the persona's words, and the preferences that they disclose."""
    reply = read_json_object(text[:LONGEST_REPLY])
    answer = reply.get("answer")
    if not isinstance(answer, str) or not answer.strip():
        raise UnreadableReply('expected words under "answer".')
    given = reply.get("preferences", [])
    if not isinstance(given, list):
        raise UnreadableReply('expected "preferences" to be a list of numbers.')
    known = list(params["numbers"])
    for number in given:
        if isinstance(number, bool) or not isinstance(number, int) or number not in known:
            raise UnreadableReply("a number under “preferences” is none of this person’s.")
    return {
        "answer": answer.strip()[:LONGEST_ANSWER],
        "disclosed": [number for number in known if number in given],
    }


def action_schema(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema by which actions name known things only; questions and results are free."""
    text = {"type": "string"}
    verbs = one_of(["", *VERBS])
    known = one_of(["", *params["known"]])
    return object_of(
        {
            "thought": text, "action": one_of(list(params["actions"])), "text": text, "x": known,
            "y": known, "z": known, "verb": verbs, "result": text, "tool": known,
        }
    )  # fmt: skip


def answer_schema(params: Mapping[str, Any]) -> dict[str, Any]:
    numbers = one_of(list(params["numbers"]))
    return object_of({"answer": {"type": "string"}, "preferences": list_of(numbers)})


PARSERS = {
    "action": parse_action_reply,
    "json_action": parse_json_action,
    "answer": parse_answer,
}
SCHEMAS = {"json_action": action_schema, "answer": answer_schema}
ACTIONS = tuple(TEMPLATES)
