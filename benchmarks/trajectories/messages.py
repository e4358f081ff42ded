"""Messages and tool calls of imported trajectories.

The importer stores the messages of a turn in its payload, those before the first turn as
``opening``; a system message is stored as its digest.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.template.defaultfilters import filesizeformat

from benchmarks.models import StoredMessage, Turn
from benchmarks.trajectories.tool_views import (
    ESCAPES,
    FileChange,
    command_of,
    exit_code,
    file_changes,
    is_patch,
    is_terminal,
)

SPEAKERS = {"system": "System", "user": "User", "assistant": "Agent", "tool": "Tool"}
# Longer tool results are cut here; the rest is folded.
CLIP = 1200
# Texts of more characters are fetched when a reader opens them.
FETCHED = 20_000
# A folded text shows so many lines, each of so many characters.
LINES, PREVIEW = 3, 160
# What programs write around the output of a command.
FRAME = ("Exit code:", "Wall time:", "Output:", "<returncode>", "<output>", "</output>")


class ToolCallView(NamedTuple):
    """A tool call with readable arguments."""

    name: str
    arguments: str
    by: str
    command: str = ""
    changes: tuple[FileChange, ...] = ()
    id: str = ""

    @property
    def preview(self) -> str:
        """Return the beginning of the arguments in one line."""
        return " ".join(self.arguments[:PREVIEW].split())


class AttachmentView(NamedTuple):
    """An image or file in words; ``digest`` names an image that is stored."""

    words: str
    digest: str = ""


@dataclass(frozen=True)
class MessageView:
    """A message; ``hidden``: the agent never saw it, ``failed``: the tool call failed.

    ``by_program``: the agent's program wrote it in its user's place. ``attachments`` describe
    images and files. ``terminal``: it is what a terminal showed.
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
    attachments: tuple[AttachmentView, ...] = ()
    terminal: bool = False

    @property
    def exit_code(self) -> int | None:
        """Return how a command ended, where its output states it."""
        return exit_code(self.text) if self.terminal else None

    @property
    def went_wrong(self) -> bool:
        """Return whether a call failed, or a command ended with an exit code other than 0."""
        return self.failed or bool(self.exit_code)

    @property
    def is_patch(self) -> bool:
        """Return whether a tool returned a difference between files."""
        return self.speaker == "tool" and is_patch(self.text)

    @property
    def is_long(self) -> bool:
        """Return whether a page of many messages fetches the text only when it is asked for."""
        return len(self.text) > FETCHED

    @cached_property
    def lines(self) -> list[str]:
        """Return the first lines that say something, as they stand on a folded text."""
        start = ESCAPES.sub("", self.text[: LINES * PREVIEW])
        lines = [line.strip() for line in start.splitlines()]
        if self.terminal:
            lines = [line for line in lines if not line.startswith(FRAME)]
        return [line[:PREVIEW] for line in lines if line][:LINES]

    @property
    def size(self) -> str:
        """Return how long the text is: in lines, and in kB where it is long."""
        lines = self.readable.count("\n") + 1
        if len(self.readable) <= CLIP and lines <= LINES:
            return ""
        kilobytes = f", {len(self.readable) / 1000:.1f} kB" if len(self.readable) > CLIP else ""
        return f"{lines:,} line{'' if lines == 1 else 's'}{kilobytes}"

    @property
    def title(self) -> str:
        """Return who speaks, without an agent's name, which could reveal its model."""
        title = SPEAKERS[self.speaker]
        return f"{title}: {self.name}" if self.name and self.speaker != "assistant" else title

    @cached_property
    def readable(self) -> str:
        return indented(self.text)

    @property
    def speeches(self) -> list[str]:
        """Return its texts as an annotator reads them, in their order (`external/_message.html`).

        Positions of passages count their characters.
        """
        listed = self.speaker in ("system", "tool")
        own = [self.readable] if listed else [self.text] * bool(self.text)
        calls = [call.arguments or "(no arguments)" for call in self.calls]
        return [*own, *calls, *[self.reasoning] * bool(self.reasoning)]

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
    prompts = _prompts(row for turn in rows for row in turn)
    return [
        [_message_view(row, prompts, tools) for row in turn]
        for turn, tools in ((turn, called_tools(turn)) for turn in rows)
    ]


def message_part(turn: Turn, first: int, last: int) -> list[MessageView]:
    """Return messages of a turn by their places in it, from 1, both included."""
    rows = stored_rows(turn.payload)
    part = rows[first - 1 : last]
    prompts, tools = _prompts(part), called_tools(rows)
    return [_message_view(row, prompts, tools) for row in part]


def _prompts(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, StoredMessage]:
    digests = {row["digest"] for row in rows if row.get("digest")}
    return StoredMessage.objects.in_bulk(digests) if digests else {}


def called_tools(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tool of each call by the call's id."""
    return {call.get("id", ""): call["name"] for row in rows for call in row.get("calls", ())}


def _message_view(
    row: Mapping[str, Any],
    prompts: Mapping[str, StoredMessage],
    tools: Mapping[str, str],
) -> MessageView:
    stored = prompts.get(row.get("digest", ""))
    notes = [
        _readable_time(row.get("at", "")),
        f"{row['tokens_in']:,} tokens in" if "tokens_in" in row else "",
        f"{row['tokens_out']:,} tokens out" if "tokens_out" in row else "",
    ]
    return MessageView(
        row["speaker"],
        row.get("name", ""),
        stored.text if stored else row.get("text", ""),
        tuple(
            ToolCallView(
                call["name"],
                as_text(call["arguments"]),
                call.get("by", "agent"),
                command_of(call["name"], call["arguments"]),
                tuple(file_changes(call["name"], call["arguments"])),
                call.get("id", ""),
            )
            for call in row.get("calls", ())
        ),
        bool(row.get("hidden")),
        row.get("reasoning", ""),
        ", ".join(note for note in notes if note),
        call_failed(row),
        (row.get("extra") or {}).get("by_program") is True,
        attachment_views(row),
        _from_terminal(row, tools),
    )


def _from_terminal(row: Mapping[str, Any], tools: Mapping[str, str]) -> bool:
    return row["speaker"] == "tool" and is_terminal(
        tools.get(row.get("call_id", "")) or row.get("name", "")
    )


def _readable_time(stated: str) -> str:
    """Return a time as people read it, to the second; one that is of no known form as it is."""
    try:
        return f"{datetime.fromisoformat(stated):%Y-%m-%d %H:%M:%S %Z}".rstrip()
    except ValueError:
        return stated


def attachment_views(row: Mapping[str, Any]) -> tuple[AttachmentView, ...]:
    """Return kind, name, type and size of each image and file of a message, with its digest."""
    given = (row.get("extra") or {}).get("attachments")
    views = []
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict):
            size = one.get("bytes")
            about = [one.get("name"), one.get("type")]
            about += [filesizeformat(size)] if isinstance(size, int) else []
            words = ", ".join([str(one.get("kind", "file")), *map(str, filter(None, about))])
            views.append(AttachmentView(words, str(one.get("digest", ""))))
    return tuple(views)


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


def went_wrong(row: Mapping[str, Any], tools: Mapping[str, str]) -> bool:
    """Return whether a stored message reports a failed call or command, as its view says it."""
    if call_failed(row):
        return True
    return _from_terminal(row, tools) and bool(exit_code(row.get("text", "")))


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
