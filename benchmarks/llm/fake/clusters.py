"""What the fake endpoint says where failures are read and grouped: it goes by words alone."""

import re
from collections import Counter
from typing import Any

_FAILURE = re.compile(r"^### (F\d+)\n(.*?)(?=^### F\d+\n|\Z)", re.MULTILINE | re.DOTALL)
_TURN = re.compile(r"^Turn (\d+)", re.MULTILINE)
_ENDED = re.compile(r"^Ended: (.+)$", re.MULTILINE)
_NOTE = re.compile(r"^(F\d+): (.+)$", re.MULTILINE)
_MOST = re.compile(r"at most (\d+) clusters")


def clusters_about(brief: str, said: str) -> dict[str, Any] | None:
    """Return notes on failures, or clusters of notes; None where neither is asked for."""
    if '{"failures"' in brief:
        return {"failures": [_note(name, text) for name, text in _FAILURE.findall(said)]}
    if '{"clusters"' in brief:
        most = _MOST.search(brief)
        return {"clusters": _clusters(said, int(most[1]) if most else 8)}
    return None


def _note(name: str, text: str) -> dict[str, Any]:
    turns = [int(number) for number in _TURN.findall(text)]
    ended = _ENDED.search(text)
    line = text.strip().splitlines()[-1] if text.strip() else ""
    cause = f"It ended with: {ended[1] if ended else 'nothing that is known'}."
    return {"id": name, "cause": cause, "turn": max(turns, default=1), "quote": line[-60:]}


def _clusters(said: str, most: int) -> list[dict[str, Any]]:
    notes = _NOTE.findall(said)
    kinds = [kind for kind, _ in Counter(cause for _, cause in notes).most_common(most)]
    return [
        {
            "name": kind.removesuffix(".")[:80],
            "description": "Grouped by the fake endpoint, which reads no plans.",
            "members": [name for name, cause in notes if cause == kind],
        }
        for kind in kinds
    ]
