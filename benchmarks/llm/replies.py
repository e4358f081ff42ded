"""Reading structured replies out of text that a language model wrote."""

import json
import re
from collections.abc import Iterator
from typing import Any

from benchmarks.core.errors import UnreadableReply

# No answer is nested so deeply, and walking one that is could exhaust the stack.
DEEPEST = 30
# Places that look like an object and are none; each costs time, and a reply may be nothing else.
MOST_FALSE_STARTS = 1_000
_START = re.compile(r'\{\s*["}]')


def read_json_object(text: str) -> dict[str, Any]:
    """Return the JSON object in a reply: the whole text, a fenced block, or the last object in
    prose.

    The last one wins because models that think aloud put their answer at the end.
    """
    last: dict[str, Any] | None = None
    for value in _objects(text):
        last = value
    if last is None:
        raise UnreadableReply("expected a JSON object, found none.")
    return last


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    position = false_starts = 0
    while (start := _START.search(text, position)) and false_starts < MOST_FALSE_STARTS:
        try:
            value, position = decoder.raw_decode(text, start.start())
        except RecursionError:
            return
        except ValueError:  # no JSON, or a number of absurd length
            position = start.start() + 1
            false_starts += 1
            continue
        if not _too_deep(value):
            yield value


def _too_deep(value: Any) -> bool:
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
