"""Trajectories of mini-SWE-agent: messages with calls, or with one fenced command in a text.

A message with the role ``exit`` is the ending; what was submitted answers the last call. What the
program says about a message without a command is the program's.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.dialects import add_item, add_message
from benchmarks.formats.sessions.parts import (
    Parts,
    Result,
    amount,
    as_list,
    as_mapping,
    read_parts,
    string,
    total,
)
from benchmarks.formats.sessions.parts import (
    whole as count,
)
from benchmarks.formats.sessions.transcript import Transcript
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory, ToolCall

FENCE, LANGUAGES = "```", ("", "bash", "sh", "mswea_bash_command")
LAST_SECOND = 253_402_300_799  # the end of the year 9999
_ABOUT = ("exit_status", "submission", "mini_version", "instance_id", "model_stats", "config")


def recognises(shape: Shape) -> bool:
    if shape.kind == "list":
        return shape.first_has("role", "content") and ".traj" in shape.file
    stated = "info" in shape.keys and "model_stats" in shape.names
    known = stated or "trajectory_format" in shape.keys
    return shape.kind == "object" and "messages" in shape.keys and known


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the one trajectory; faults are noted."""
    top = Spot(problems, source.name)
    messages: list[Any] = []
    root: dict[str, Any] = {}
    for field, index, item in source.entries():
        if field in ("", "messages") and index is not None:
            messages.append(item)
            if len(messages) > MOST_MESSAGES:
                top.fault(f"at most {MOST_MESSAGES} messages", messages)
                return
        elif index is None:
            root[field] = item
    info = as_mapping(root.get("info"))
    transcript = Transcript(
        string(root.get("instance_id")) or string(info.get("instance_id"))
        or source.name.split(".traj")[0]
    )  # fmt: skip
    transcript.task = string(root.get("instance_id")) or string(info.get("instance_id"))
    for index, message in enumerate(messages):
        _add(transcript, top.at("messages").at(index), message)
    _describe(transcript, info)
    if not problems.total and (made := transcript.trajectory(top)) is not None:
        yield made


def _add(transcript: Transcript, spot: Spot, message: Any) -> None:
    if not isinstance(message, dict):
        spot.fault("a message: an object with 'role' and 'content'", message)
        return
    role, extra = message.get("role"), as_mapping(message.get("extra"))
    at = _time(extra.get("timestamp"))
    before = len(transcript.said)
    if message.get("object") == "response":
        _add_response(transcript, spot, message, at)
    elif role == "exit":
        last = next(reversed(transcript.waiting), "")
        text = string(extra.get("submission")) or string(message.get("content"))
        transcript.termination = string(extra.get("exit_status")) or transcript.termination
        if last:
            transcript.result(Result(last, text), at=at)
        return
    elif role == "user" and any(d.speaker == "assistant" for d in transcript.said):
        parts = read_parts(message.get("content"))
        waiting = next(iter(transcript.waiting), "")
        if waiting:
            transcript.result(Result(waiting, parts.text, attachments=parts.attachments), at=at)
        else:
            transcript.say("user", parts, by_program=True, at=at)
    elif role == "assistant" and not message.get("tool_calls"):
        parts = read_parts(message.get("content"))
        commands, rest = _commands(parts.text)
        if len(commands) == 1:
            call = ToolCall("bash", {"command": commands[0]}, f"step-{before}")
            parts = Parts(texts=[rest] if rest else [], thoughts=parts.thoughts, calls=[call])
        transcript.waiting.clear()
        transcript.agent(parts, at=at)
    else:
        add_message(transcript, spot, message, at=at)
    for new in transcript.said[before:]:
        _add_facts(transcript, new, extra)


def _commands(text: str) -> tuple[list[str], str]:
    """Return the commands in fences of a text, and the text around all fences."""
    pieces = text.split(FENCE)
    commands = []
    for block in pieces[1:-1:2]:
        language, line_ends, body = block.partition("\n")
        if line_ends and language.strip() in LANGUAGES:
            commands.append(body.removesuffix("\n"))
    return commands, "".join(pieces[::2]).strip()


def _add_response(transcript: Transcript, spot: Spot, response: Mapping[str, Any], at: str) -> None:
    """Add a response of the Responses API as one message."""
    items = Transcript()
    for index, item in enumerate(as_list(response.get("output"))):
        if isinstance(item, dict):
            add_item(items, spot.at("output").at(index), item)
    parts = Parts()
    for one in items.messages():
        parts.texts += [one.text] if one.text else []
        parts.thoughts.append(one.reasoning)
        parts.calls += one.calls
        parts.encrypted |= one.extra.get("encrypted") is True
    said = transcript.agent(parts, at=at)
    usage = as_mapping(response.get("usage"))
    said.tokens_in, said.tokens_out = (
        total(usage, "input_tokens"),
        total(usage, "output_tokens"),
    )
    transcript.model = string(response.get("model")) or transcript.model


def _add_facts(transcript: Transcript, message: ImportedMessage, extra: Mapping[str, Any]) -> None:
    if message.speaker == "tool":
        code = extra.get("returncode")
        if isinstance(code, int) and not isinstance(code, bool):
            message.extra["failed"] = code != 0
    elif message.speaker == "assistant":
        message.cost = amount(extra.get("cost"))
        response = as_mapping(extra.get("response"))
        usage = as_mapping(response.get("usage"))
        if message.tokens_in is None:
            message.tokens_in = count(usage.get("prompt_tokens", usage.get("input_tokens")))
            message.tokens_out = count(usage.get("completion_tokens", usage.get("output_tokens")))
        transcript.model = string(response.get("model")) or transcript.model


def _describe(transcript: Transcript, info: Mapping[str, Any]) -> None:
    transcript.termination = string(info.get("exit_status")) or transcript.termination
    model = as_mapping(as_mapping(info.get("config")).get("model"))
    transcript.model = transcript.model or string(model.get("model_name"))
    cost = as_mapping(info.get("model_stats")).get("instance_cost")
    transcript.scores = {"reward": None, "cost": amount(cost)}
    transcript.about |= {name: info[name] for name in _ABOUT if info.get(name)}
    if not any("failed" in d.extra for d in transcript.said if d.speaker == "tool"):
        transcript.counts["errors"] = None


def _time(given: Any) -> str:
    seconds = amount(given)
    if seconds is None or seconds > LAST_SECOND:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
