"""What pages show of trajectories made elsewhere: messages, calls of tools, what was hidden."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import template

from benchmarks.core.words import plain
from benchmarks.importers.words import MISSING
from benchmarks.models import StoredMessage
from benchmarks.selectors.turns import TurnView

register = template.Library()
SPEAKERS = {"system": "System", "user": "User", "assistant": "Agent", "tool": "Tool"}


@dataclass(frozen=True)
class Call:
    """A call of a tool with its arguments as they can be read."""

    name: str
    arguments: str
    by: str


@dataclass(frozen=True)
class Said:
    """One message; ``hidden`` means that the agent never saw it."""

    speaker: str
    title: str
    text: str
    calls: tuple[Call, ...]
    hidden: bool
    reasoning: str
    note: str


@register.simple_tag
def talk(turn: TurnView) -> list[Said]:
    """The messages of a turn, with those before the first one; empty where none are stored."""
    payload = turn.row.payload
    rows = [*payload.get("opening", ()), *payload.get("messages", ())]
    digests = [row["digest"] for row in rows if row.get("digest")]
    prompts = StoredMessage.objects.in_bulk(digests) if digests else {}
    return [_said(row, prompts) for row in rows]


def _said(row: Mapping[str, Any], prompts: Mapping[str, StoredMessage]) -> Said:
    stored = prompts.get(row.get("digest", ""))
    title = SPEAKERS[row["speaker"]]
    notes = [
        row.get("at", ""),
        f"{row['tokens_in']} tokens in" if "tokens_in" in row else "",
        f"{row['tokens_out']} tokens out" if "tokens_out" in row else "",
    ]
    return Said(
        row["speaker"],
        f"{title}: {row['name']}" if row.get("name") else title,
        stored.text if stored else row.get("text", ""),
        tuple(
            Call(call["name"], shown(call["arguments"]), call.get("by", "agent"))
            for call in row.get("calls", ())
        ),
        bool(row.get("hidden")),
        row.get("reasoning", ""),
        ", ".join(note for note in notes if note),
    )


@register.filter
def shown(value: Any) -> str:
    """A text as it is, everything else as indented JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def facts(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name in words, value as text) of what is not empty."""
    return [
        (plain(name), shown(inner))
        for name, inner in (value or {}).items()
        if inner not in (None, "", [], {})
    ]


@register.simple_tag
def what_is_missing() -> str:
    """Why pages about judges and constraints have nothing to say here."""
    return MISSING
