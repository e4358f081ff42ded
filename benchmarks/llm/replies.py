"""Reading structured replies out of text that a language model wrote."""

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.core.errors import UnreadableReply

DEEPEST = 30


def read_json_object(text: str) -> dict[str, Any]:
    """The JSON object in a reply: the whole text, a fenced block, or the last object in prose.

    The last one wins because models that think aloud put their answer at the end.
    """
    found: dict[str, Any] | None = None
    for value in _objects(text):
        found = value
    if found is None:
        raise UnreadableReply("expected a JSON object, found none.")
    return found


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    position = text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):  # ValueError: no JSON, or a number of absurd length
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict) and not _too_deep(value):
            yield value
        position = text.find("{", end)


def _too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than any answer: walking it could exhaust the stack."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            item
            for outer in level
            if isinstance(outer, dict | list)
            for item in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
