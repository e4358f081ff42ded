"""Replies of the construction: what can be read, and what is said of the rest."""

import json
from typing import Any

import pytest

from benchmarks.core.errors import UnreadableReply
from benchmarks.systems.adaplanbench_construction.labels import REPLIES
from benchmarks.systems.adaplanbench_construction.parsers import PARSERS, SCHEMAS

PARAMS: dict[str, dict[str, Any]] = {
    "query": {},
    "verdict": {"criteria": ["open", "concrete"]},
    "plans": {"count": 2},
    "candidates": {"kind": "user"},
    "merged": {"settled": ["s1", "s2"], "new": ["n1", "n2"]},
    "decisions": {"keys": ["c1", "c2"], "grounds": ["vague", "query"]},
}


def read(kind: str, reply: Any) -> Any:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    return PARSERS[kind](text, PARAMS[kind])


def decided(key: str, decision: str = "keep", **more: Any) -> dict[str, Any]:
    return {"key": key, "decision": decision, **more}


@pytest.mark.parametrize(
    ("kind", "reply", "value"),
    [
        ("query", " How can I\n dry it? ", "How can I dry it?"),
        ("verdict", {"fit": True}, {"fit": True, "failed": [], "reason": ""}),
        (
            "verdict",
            'So: {"fit": false, "failed": ["concrete", "open"], "reason": "No"}',
            {"fit": False, "failed": ["open", "concrete"], "reason": "No"},
        ),
        (
            "plans",
            {"plans": [{"plan": ["Look.", "Do it."]}, {"plan": "1. Wait.", "probability": 0.2},
                       {"plan": "1. Too many."}]},
            {"plans": [{"text": "1. Look.\n2. Do it.", "probability": None},
                       {"text": "1. Wait.", "probability": 0.2}]},
        ),
        (
            "plans",
            {"plans": [{"plan": "1. Wait."}, {"plan": ["Wait."], "probability": 0.9},
                       {"plan": "1. Go."}]},
            {"plans": [{"text": "1. Wait.", "probability": None},
                       {"text": "1. Go.", "probability": None}]},
        ),
        (
            "candidates",
            {"tools": ["Steam  Iron"], "candidates": [
                {"text": "No heat.", "tool": "steam iron", "attribute": "High heat"},
                {"text": "no heat", "tool": "Steam Iron", "attribute": "warmth"}]},
            {"tools": ["steam iron"],
             "candidates": [{"text": "No heat.", "about": "attribute:high heat"}]},
        ),
        (
            "merged",
            {"constraints": [{"text": "", "from": ["n1", "s2", "n1"]}]},
            {"constraints": [{"text": "", "from": ["n1", "s2"]}], "forgotten": ["n2"]},
        ),
        (
            "merged",
            {"constraints": [{"text": "No.", "from": ["n1", "n2"]}] * 2},
            {"constraints": [{"text": "No.", "from": ["n1", "n2"]}], "forgotten": []},
        ),
        (
            "decisions",
            {"decisions": [decided("c2", "Remove", ground="vague", reason=" How\nso? "),
                           decided("c1", reason="Fine."), decided("c1")]},
            {"decisions": [
                {"key": "c1", "decision": "kept", "ground": "", "reason": ""},
                {"key": "c2", "decision": "removed", "ground": "vague", "reason": "How so?"}]},
        ),
    ],
)  # fmt: skip
def test_what_can_be_read(kind: str, reply: Any, value: Any):
    assert read(kind, reply) == value


@pytest.mark.parametrize(
    ("kind", "reply", "words"),
    [
        ("query", " \n", "empty"),
        ("query", "x" * 5000, "at most 4000"),
        ("verdict", {"fit": "yes"}, "true or false"),
        ("verdict", {"fit": True, "failed": ["open"]}, "names open"),
        ("verdict", {"fit": False, "failed": []}, "no criterion"),
        ("verdict", {"fit": False, "failed": ["odd"]}, "'odd' is no criterion"),
        ("plans", {"plans": []}, "at least one plan"),
        ("plans", {"plans": ["1. Do it."]}, "list of objects"),
        ("plans", {"plans": [{"plan": 3}]}, "plan 1"),
        ("plans", {"plans": [{"plan": "  "}]}, "no step"),
        ("plans", {"plans": [{"plan": "1. Go.", "probability": 40}]}, "from 0 to 1"),
        ("plans", {"plans": [{"plan": "1. Go.", "probability": True}]}, "a number"),
        ("plans", "1. Just a plan.", "a JSON object"),
        ("candidates", {"candidates": []}, '"tools"'),
        ("candidates", {"tools": [], "candidates": [{"text": "No."}]}, "candidate 1: tool"),
        ("candidates",
         {"tools": ["iron"], "candidates": [{"text": "No.", "tool": "saw", "attribute": "x"}]},
         "'saw' does not stand"),
        ("candidates", {"tools": ["iron"], "candidates": [{"text": "No.", "tool": "iron"}]},
         "candidate 1: attribute"),
        ("candidates",
         {"tools": ["a"], "candidates": [{"text": "…", "tool": "a", "attribute": "b"}]},
         "expected words"),
        ("merged", {"constraints": [{"text": "No.", "from": ["n3"]}]}, "'n3' was not given"),
        ("merged", {"constraints": [{"text": "No.", "from": []}]}, "made from nothing"),
        ("merged", {"constraints": [{"text": "", "from": ["n1"]}]}, "constraint 1: text"),
        ("merged", {"constraints": [{"text": "", "from": ["s1", "s2"]}]}, "which are settled"),
        ("merged",
         {"constraints": [{"text": "A.", "from": ["n1"]}, {"text": "B.", "from": ["n1", "n2"]}]},
         "n1 stands in constraints 1 and 2"),
        ("decisions", {"decisions": [decided("c1")]}, "nothing is decided about c2"),
        ("decisions", {"decisions": [decided("c1"), decided("c3")]}, "'c3' was not proposed"),
        ("decisions",
         {"decisions": [decided("c1"), decided("c1", "remove", ground="vague"), decided("c2")]},
         "both kept and removed"),
        ("decisions", {"decisions": [decided("c1", "maybe"), decided("c2")]}, "'maybe'"),
        ("decisions", {"decisions": [decided("c1", "remove", ground="dull")]}, "vague, query"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_says_why(kind: str, reply: Any, words: str):
    with pytest.raises(UnreadableReply) as caught:
        read(kind, reply)
    assert words in str(caught.value)


@pytest.mark.parametrize("kind", list(PARSERS))
def test_the_example_that_people_see_can_be_read(kind: str):
    words, example = REPLIES[kind](PARAMS[kind])
    assert len(words) > 40
    read(kind, example)


@pytest.mark.parametrize("kind", list(SCHEMAS))
def test_schemas_are_closed(kind: str):
    def objects(part: Any):
        if isinstance(part, dict):
            yield from [part] if part.get("type") == "object" else []
            yield from (found for inner in part.values() for found in objects(inner))

    found = list(objects(SCHEMAS[kind](PARAMS[kind])))
    assert found
    assert all(part["additionalProperties"] is False for part in found)
    assert all(part["required"] == list(part["properties"]) for part in found)
