"""Sessions of Pi, and session traces (STS) of other harnesses in the same outer shape.

In a session trace, results have the role of a tool, calls stand beside the text, and times are in
milliseconds; those that were exported here hold all of a trajectory.

From version 3 on entries form a tree: the path to the last entry is read, other branches are left
out. Answers that were aborted before they held anything are left out, but for their tokens.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions import session_traces
from benchmarks.formats.sessions.dialects import ROLES, add_message
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import (
    Parts,
    Result,
    amount,
    as_mapping,
    call_id,
    read_parts,
    read_result,
    string,
    total,
)
from benchmarks.formats.sessions.transcript import Transcript, leave_out
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory

_ABOUT = ("cwd", "version", "harness", "name", "parentSession", "branchedFrom")
_OPTIONS = ("model_change", "thinking_level_change", "label", "session_info", "custom")
_WORDS = ("summary", "content", "text", "output")


def recognises(shape: Shape) -> bool:
    rows = shape.rows
    return shape.kind == "lines" and bool(rows) and (
        rows[0].get("type") == "session"
        and all(isinstance(row.get("type"), str) and "payload" not in row for row in rows)
    )  # fmt: skip


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the session; faults are noted."""
    transcript = Transcript()
    own = None
    entries: list[tuple[Spot, dict[str, Any]]] = []
    for spot, line in session_lines(source, problems, header, ("message", "id")):
        if line.get("type") == "session":
            if not transcript.id:
                transcript.id = string(line.get("id"))
                transcript.about |= {n: line[n] for n in _ABOUT if n in line}
                transcript.model = string(line.get("modelId"))
                own = line.get(session_traces.HARNESS)
            else:
                leave_out(header, "another session line")
            continue
        entries.append((spot, line))
        if len(entries) > 2 * MOST_MESSAGES:
            spot.fault(f"at most {2 * MOST_MESSAGES} entries", Unquoted("more"))
            return
    if isinstance(own, dict) and not problems.total:
        written = session_traces.read_own(Spot(problems, f"{source.name}, line 1"), own, entries)
        if written is not None and not problems.total:
            yield written
        return
    for spot, line in _path(entries, header):
        _add(transcript, spot, line, header)
    if problems.total:
        return
    trajectory = transcript.trajectory(Spot(problems, source.name), source.name)
    if trajectory is not None:
        yield trajectory


def _path(
    entries: list[tuple[Spot, dict[str, Any]]], header: dict[str, Any]
) -> list[tuple[Spot, dict[str, Any]]]:
    """Return the entries from the first to the last one; all, where they form no tree."""
    places = {
        line["id"]: i for i, (_, line) in enumerate(entries) if isinstance(line.get("id"), str)
    }
    if not places or not any("parentId" in line for _, line in entries):
        return entries
    path: list[int] = []
    place: int | None = max(places.values())
    seen: set[int] = set()
    while place is not None and place not in seen:
        seen.add(place)  # a cycle ends the path
        path.append(place)
        parent = entries[place][1].get("parentId")
        place = places.get(parent) if isinstance(parent, str) else None
    if len(entries) > len(path):
        leave_out(header, "entry of another branch", len(entries) - len(path))
    return [entries[place] for place in reversed(path)]


def _add(
    transcript: Transcript, spot: Spot, line: Mapping[str, Any], header: dict[str, Any]
) -> None:
    kind, at = string(line.get("type")), string(line.get("timestamp"))
    if kind != "message":
        if kind in ("compaction", "branch_summary", "custom_message"):
            text = next((line[n] for n in _WORDS if isinstance(line.get(n), str)), "")
            parts = read_parts(line["content"]) if not text and "content" in line else Parts([text])
            transcript.say("user", parts, by_program=True, at=at)
        elif kind == "model_change":
            transcript.model = string(line.get("modelId")) or transcript.model
        leave_out(header, kind or "line without a type")
        return
    message = line.get("message")
    if not isinstance(message, dict):
        spot.at("message").fault("an object with 'role' and 'content'", message)
        return
    at = at or session_traces.iso_moment(message.get("timestamp"))
    role = message.get("role")
    if role == "assistant":
        _add_answer(transcript, spot.at("message"), message, at, header)
    elif role == "toolResult":
        text, attachments = read_result(message.get("content"))
        failed = message.get("isError")
        result = Result(
            call_id(message), text, string(message.get("toolName")),
            failed if isinstance(failed, bool) else None, attachments=attachments,
        )  # fmt: skip
        if transcript.result(result, at=at) is None:
            leave_out(header, "repeated result")
    elif role == "bashExecution":  # typed by the user, run by the program
        words = [string(message.get(name)) for name in ("command", "output")]
        transcript.say("user", Parts(texts=words), by_program=True, at=at)
    elif isinstance(role, str) and role in ROLES:
        add_message(transcript, spot.at("message"), message, at=at)
    elif isinstance(role, str):
        texts = [message[name] for name in _WORDS if isinstance(message.get(name), str)]
        transcript.say("user", Parts(texts=texts), by_program=True, at=at)
    else:
        spot.at("message").at("role").fault("a text, such as user or assistant", role)


def _add_answer(
    transcript: Transcript,
    spot: Spot,
    message: Mapping[str, Any],
    at: str,
    header: dict[str, Any],
) -> None:
    usage = as_mapping(message.get("usage"))
    tokens_in = total(usage, "input", "cacheRead", "cacheWrite")
    tokens_out = total(usage, "output")
    if tokens_in is None and tokens_out is None:  # as others write it
        tokens_in = total(
            usage, "input_tokens", "prompt_tokens", "cache_read_input_tokens",
            "cache_creation_input_tokens",
        )  # fmt: skip
        tokens_out = total(usage, "output_tokens", "completion_tokens")
    content = message.get("content")
    stop = string(message.get("stopReason"))
    transcript.model = string(message.get("model")) or transcript.model
    transcript.termination = stop if stop in ("aborted", "error", "length") else ""
    calls = message.get("tool_calls", message.get("toolCalls"))
    thoughts = message.get("reasoningContent")
    if not content and content in (None, []) and not (calls or thoughts):
        transcript.add_tokens(tokens_in, tokens_out)
        leave_out(header, f"empty answer ({stop or 'no reason'})")
        return
    given = {
        "role": "assistant", "content": content, "tool_calls": calls, "reasoning_content": thoughts
    }  # fmt: skip
    before = len(transcript.said)
    add_message(transcript, spot, given, at=at)
    answer = transcript.said[before]
    answer.tokens_in, answer.tokens_out = tokens_in, tokens_out
    answer.cost = amount(as_mapping(usage.get("cost")).get("total"))
    if stop in ("aborted", "error"):
        answer.extra["stopped"] = stop
