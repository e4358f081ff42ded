"""Tags for imported trajectories: messages, calls of tools, what was hidden."""

from collections.abc import Mapping
from typing import Any

from django import template

from benchmarks.core.ports.labels import plain
from benchmarks.core.registry import EXTERNAL, find_system
from benchmarks.trajectories.messages import MessageView, as_text, messages_of
from benchmarks.trajectories.turns import TurnView

register = template.Library()


@register.simple_tag
def talk(turn: TurnView) -> list[MessageView]:
    """Return the messages of a turn, with those before the first one; empty where none are
    stored.
    """
    return messages_of([turn.row])[0]


@register.filter
def shown(value: Any) -> str:
    """Return a text as it is, everything else as indented JSON."""
    return as_text(value)


@register.filter
def facts(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return (name in words, value as text) of what is not empty."""
    return [
        (plain(name), as_text(inner))
        for name, inner in (value or {}).items()
        if inner not in (None, "", [], {})
    ]


@register.simple_tag
def what_is_missing() -> str:
    """Say why pages about judges and constraints have nothing to say here."""
    return find_system(EXTERNAL).labels.not_judged
