"""Rollouts of Codex, lines of {timestamp, type, payload}.

The items of the model (``response_item``) are read; events repeat them and only say which user
items a person wrote, and how many tokens there were in all.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.dialects import add_item
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import (
    Parts,
    as_mapping,
    read_parts,
    string,
    total,
)
from benchmarks.formats.sessions.transcript import Transcript, leave_out
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

KINDS = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
# The format writes items, not messages.
UNSTATED = ("assistant",)
_ABOUT = ("cwd", "cli_version", "originator", "model_provider", "git", "forked_from_id")
# Items that no message can hold.
_LEFT_OUT = frozenset(("ghost_snapshot", "other"))
# Beginnings of user items that the program writes, for files that do not mark what a person wrote.
_PROGRAM = (
    "<environment_context>", "<user_instructions>", "<permissions instructions>",
    "<turn_aborted>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<skill>",
    "<collaboration_mode>", "<user_shell_command>", "<subagent_notification>",
)  # fmt: skip


def recognises(shape: Shape) -> bool:
    return shape.kind == "lines" and any(
        row.get("type") in KINDS and isinstance(row.get("payload"), dict)
        for row in shape.rows
        if isinstance(row.get("type"), str)
    )


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the session; faults are noted."""
    rollout = _Rollout(header)
    said = rollout.transcript.said
    for spot, line in session_lines(source, problems, header, ("payload",)):
        if len(said) > 2 * MOST_MESSAGES:
            spot.fault(f"at most {MOST_MESSAGES} messages", Unquoted("more"))
            return
        kind, payload = string(line.get("type")), line.get("payload")
        if isinstance(payload, dict):
            rollout.add(spot, kind, payload, string(line.get("timestamp")))
        else:
            leave_out(header, kind or "line without a type")
    if problems.total:
        return
    trajectory = rollout.finished().trajectory(Spot(problems, source.name), source.name)
    if trajectory is not None:
        yield trajectory


class _Rollout:
    """A session of Codex as its lines come."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.transcript = Transcript(unstated=UNSTATED)
        self.users: list[ImportedMessage] = []
        self.typed: list[str] = []  # by a person, with no user item yet
        self.marks = False

    def finished(self) -> Transcript:
        """Return the transcript, in which a person's messages are told from the program's."""
        for message in self.users:
            person = message.extra.pop("typed", False)
            if not self.marks:
                person = not message.text.lstrip().startswith(_PROGRAM)
            if not person:
                message.extra["by_program"] = True
        if not any("failed" in message.extra for message in self.transcript.said):
            self.transcript.counts["errors"] = None
        return self.transcript

    def add(self, spot: Spot, kind: str, payload: Mapping[str, Any], at: str) -> None:
        if kind == "response_item":
            self._item(spot.at("payload"), payload, at)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self.transcript.model = string(payload.get("model")) or self.transcript.model
        elif kind == "compacted":
            text = string(payload.get("message"))
            if text.strip():
                self.transcript.say("user", Parts(texts=[text]), by_program=True, at=at)
            leave_out(self.header, kind)
        else:
            leave_out(self.header, kind)

    def _meta(self, payload: Mapping[str, Any]) -> None:
        """Note the session; a resumed file holds those that it goes on from, too."""
        id = string(payload.get("id"))
        if self.transcript.id:
            self.transcript.about.setdefault("earlier_sessions", []).append(id)
            return
        self.transcript.id = id
        self.transcript.about |= {n: payload[n] for n in _ABOUT if payload.get(n)}
        source = as_mapping(payload.get("source"))
        spawned = as_mapping(as_mapping(source.get("subagent")).get("thread_spawn"))
        self.transcript.parent = string(
            spawned.get("parent_thread_id") or payload.get("parent_thread_id")
        )
        instructions = as_mapping(payload.get("base_instructions")).get("text")
        if string(instructions).strip():
            self.transcript.say("system", Parts(texts=[string(instructions)]))

    def _item(self, spot: Spot, item: Mapping[str, Any], at: str) -> None:
        kind = string(item.get("type"))
        if kind == "message" and item.get("role") == "user":
            parts = read_parts(item.get("content"))
            message = self.transcript.say("user", parts, at=at)
            self.users.append(message)
            if self.typed and self.typed[0].strip() == parts.text.strip():
                self.typed.pop(0)
                message.extra["typed"] = True
        elif kind == "agent_message":  # from another agent
            parts = read_parts(item.get("content"))
            self.transcript.say("user", parts, by_program=True, at=at)
        elif kind in _LEFT_OUT:
            leave_out(self.header, kind)
        else:
            add_item(self.transcript, spot, item, at=at)

    def _event(self, payload: Mapping[str, Any]) -> None:
        kind = string(payload.get("type"))
        if kind == "user_message":
            self.marks = True
            text = string(payload.get("message"))
            near = [message for message in self.users[-3:] if "typed" not in message.extra]
            same = [d for d in near if d.text.strip() == text.strip()]
            last = self.transcript.said[-1] if self.transcript.said else None
            if same or (near and near[-1] is last):
                (same or near)[-1].extra["typed"] = True
            else:
                self.typed = [*self.typed[-3:], text]
        elif kind == "token_count":
            usage = as_mapping(as_mapping(payload.get("info")).get("total_token_usage"))
            if usage:  # a running total: the last one stands
                self.transcript.counts["tokens_in"] = total(usage, "input_tokens")
                self.transcript.counts["tokens_out"] = total(usage, "output_tokens")
        elif kind == "turn_aborted":
            self.transcript.termination = "aborted"
        elif kind in ("task_started", "task_complete"):
            self.transcript.termination = ""
        leave_out(self.header, f"event_msg/{kind}")
