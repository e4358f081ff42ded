"""Session traces (STS) as the Hugging Face Hub shows them: a line about the session, then messages.

A message has a text, reasoning, calls, the call that it answers, and a time in milliseconds. The
Hub ignores what else the first line holds: everything that messages have no place for is there
under ``planjury``, but for the content of images, so that the trajectory can be read again.
Format: https://huggingface.co/docs/hub/session-traces-format
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from benchmarks.core.problems import Unquoted
from benchmarks.formats import planjury_rows
from benchmarks.formats.source import Spot
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

HARNESS = "planjury"
# Fields of a message of the chat format, and how session traces call them.
_NAMES = {
    "role": "role",
    "reasoning_content": "reasoningContent",
    "tool_calls": "toolCalls",
    "tool_call_id": "toolCallId",
}
_TITLE = 100


def write_lines(trajectory: ImportedTrajectory) -> Iterator[dict[str, Any]]:
    """Yield the lines of one trajectory; what the agent never saw is in the first of them."""
    beside, shown = [], []
    for message in trajectory.messages:
        row = planjury_rows.write_message(_without_images(message))
        row.pop("content", None)
        if message.hidden:
            beside.append({**row, "content": message.text})
            continue
        line = {new: row.pop(old) for old, new in _NAMES.items() if old in row}
        stamp = milliseconds(message.at)
        known = {"timestamp": stamp, "model": trajectory.agent or None}
        if message.speaker != "assistant":
            known.pop("model")
        shown.append(
            {**line, "content": message.text, **{n: v for n, v in known.items() if v is not None}}
        )
        beside.append(row)
    prompt = " ".join(trajectory.task.prompt.split())
    yield {
        "type": "session",
        "harness": HARNESS,
        "id": trajectory.session.get("id") or f"{trajectory.task.id}#{trajectory.attempt or 1}",
        "name": prompt[:_TITLE],
        HARNESS: {**planjury_rows.about_row(trajectory), "messages": beside},
    }
    for one in shown:
        yield {"type": "message", "message": one}


def _without_images(message: ImportedMessage) -> ImportedMessage:
    given = message.extra.get("attachments")
    if not isinstance(given, list):
        return message
    kept = [{n: v for n, v in one.items() if n != "data"} for one in given if isinstance(one, dict)]
    return replace(message, extra={**message.extra, "attachments": kept})


def milliseconds(moment: str) -> int | None:
    """Return an ISO moment in milliseconds since 1970; without a zone it is UTC."""
    try:
        parsed = datetime.fromisoformat(moment)
        zoned = parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
        return round(zoned.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def iso_moment(stamp: Any) -> str:
    """Return milliseconds since 1970 as an ISO moment; empty if they are none."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float):
        return ""
    try:
        return datetime.fromtimestamp(stamp / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""


def read_own(
    top: Spot, own: Any, lines: Sequence[tuple[Spot, dict[str, Any]]]
) -> ImportedTrajectory | None:
    """Return a trajectory that was written here, from its first line and its messages."""
    beside = own.get("messages") if isinstance(own, dict) else None
    if not isinstance(beside, list) or not all(isinstance(one, dict) for one in beside):
        top.at(HARNESS).at("messages").fault("a list of objects", beside)
        return None
    visible = sum(one.get("hidden") is not True for one in beside)
    if visible != len(lines):
        expected = f"{visible} messages, or no {HARNESS!r} in the first line"
        top.fault(expected, Unquoted(f"{len(lines)}"))
        return None
    messages, rest = [], iter(lines)
    for one in beside:
        if one.get("hidden") is True:
            messages.append(one)
            continue
        spot, line = next(rest)
        given = line.get("message")
        if not isinstance(given, dict):
            spot.at("message").fault("an object with 'role' and 'content'", given)
            return None
        row = {old: given[new] for old, new in _NAMES.items() if new in given}
        messages.append({**one, **row, "content": given.get("content")})
    return planjury_rows.trajectory(top, {**own, "messages": messages})
