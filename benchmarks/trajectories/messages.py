"""Messages and tool calls of imported trajectories.

The importer stores the messages of a turn in its payload, those before the first turn as
``opening``; a system message is stored as its digest.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.template.defaultfilters import filesizeformat

from benchmarks.models import StoredMessage, Turn

SPEAKERS = {"system": "System", "user": "User", "assistant": "Agent", "tool": "Tool"}
# Longer tool results are cut here; the rest is folded.
CLIP = 1200


@dataclass(frozen=True)
class ToolCallView:
    """A tool call with readable arguments."""

    name: str
    arguments: str
    by: str

    @property
    def preview(self) -> str:
        """Return the arguments in one line."""
        return " ".join(self.arguments.split())


@dataclass(frozen=True)
class MessageView:
    """A message; ``hidden``: the agent never saw it, ``failed``: the tool call failed.

    ``by_program``: the agent's program wrote it in its user's place. ``attachments`` describe
    images and files, whose content is not shown.
    """

    speaker: str
    name: str
    text: str
    calls: tuple[ToolCallView, ...]
    hidden: bool
    reasoning: str
    note: str
    failed: bool
    by_program: bool = False
    attachments: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return who speaks, without an agent's name, which could reveal its model."""
        title = SPEAKERS[self.speaker]
        return f"{title}: {self.name}" if self.name and self.speaker != "assistant" else title

    @cached_property
    def readable(self) -> str:
        return indented(self.text)

    @property
    def head(self) -> str:
        return self.readable[:CLIP] if self.rest else self.readable

    @property
    def rest(self) -> str:
        """Return the folded rest of the text; empty if it would be a few lines only."""
        return self.readable[CLIP:] if len(self.readable) > CLIP * 5 // 4 else ""


def stored_rows(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the stored messages of a turn, with those before the first turn."""
    return [*payload.get("opening", ()), *payload.get("messages", ())]


def messages_of(turns: Sequence[Turn]) -> list[list[MessageView]]:
    """Return the messages of each turn; all system messages take one query."""
    rows = [stored_rows(turn.payload) for turn in turns]
    digests = {row["digest"] for turn in rows for row in turn if row.get("digest")}
    prompts = StoredMessage.objects.in_bulk(digests) if digests else {}
    return [[_message_view(row, prompts) for row in turn] for turn in rows]


def _message_view(row: Mapping[str, Any], prompts: Mapping[str, StoredMessage]) -> MessageView:
    stored = prompts.get(row.get("digest", ""))
    notes = [
        row.get("at", ""),
        f"{row['tokens_in']} tokens in" if "tokens_in" in row else "",
        f"{row['tokens_out']} tokens out" if "tokens_out" in row else "",
    ]
    return MessageView(
        row["speaker"],
        row.get("name", ""),
        stored.text if stored else row.get("text", ""),
        tuple(
            ToolCallView(call["name"], as_text(call["arguments"]), call.get("by", "agent"))
            for call in row.get("calls", ())
        ),
        bool(row.get("hidden")),
        row.get("reasoning", ""),
        ", ".join(note for note in notes if note),
        call_failed(row),
        (row.get("extra") or {}).get("by_program") is True,
        attachment_words(row),
    )


def attachment_words(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return kind, name, type and size of each image and file of a message."""
    given = (row.get("extra") or {}).get("attachments")
    words = []
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            size = one.get("bytes")
            about = [one.get("name"), one.get("type")]
            about += [filesizeformat(size)] if isinstance(size, int) else []
            words.append(", ".join([str(one.get("kind", "file")), *map(str, filter(None, about))]))
    return tuple(words)


def as_text(value: Any) -> str:
    """Return a text unchanged, any other value as indented JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)


def indented(text: str) -> str:
    """Indent a text that is one line of JSON; return any other text unchanged.

    Only whitespace may change: 1.50 must not become 1.5.
    """
    if not text.startswith(("{", "[")) or "\n" in text:
        return text
    try:
        value = json.loads(text)
        same = any(text == json.dumps(value, ensure_ascii=ascii) for ascii in (True, False))
    except (ValueError, RecursionError):
        return text
    return json.dumps(value, indent=2, ensure_ascii=False) if same else text


def call_failed(row: Mapping[str, Any]) -> bool:
    """Return whether a stored message is the error report of a tool."""
    if row.get("speaker") != "tool":
        return False
    stated = row.get("extra", {}).get("failed")
    if isinstance(stated, bool):
        return stated
    if row.get("extra", {}).get("error"):
        return True
    text = row.get("text", "").lstrip()
    if text[:5].lower() == "error":
        return True
    if not text.startswith("{") or '"error"' not in text:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value.get("error"))


def message_features(turns: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return what the turns of a trajectory contain, by the names of question requirements."""
    features: set[str] = set()
    for place, payload in enumerate(turns):
        features.update(_things(payload))
        if place:
            features.add("several_turns")
    return frozenset(features)


def _things(payload: Mapping[str, Any]) -> Iterator[str]:
    for row in stored_rows(payload):
        if row["speaker"] == "system" and not row.get("hidden"):
            yield "instructions"
        if row["speaker"] == "assistant" and any(
            call.get("by", "agent") == "agent" for call in row.get("calls", ())
        ):
            yield "tools"
        if call_failed(row) and not row.get("hidden"):
            yield "failed_calls"
    for row in payload.get("messages", ()):
        if row["speaker"] == "user" and not row.get("hidden") and row.get("text"):
            yield "user_replies"
