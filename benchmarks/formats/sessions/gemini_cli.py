"""Sessions of Gemini CLI: one JSON document, or lines with patches.

In lines the same message may come again, with more in it: the last one stands. A message holds its
calls and their results.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import (
    Result,
    as_list,
    as_mapping,
    read_parts,
    read_tool_call,
    string,
    total,
)
from benchmarks.formats.sessions.transcript import Transcript, leave_out
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory

_ABOUT = ("projectHash", "startTime", "lastUpdated", "kind", "summary")
_PROGRAM = ("System: Please continue.", "<session_context>", "<environment_context>")
_FAILED = ("error", "cancelled")


def recognises(shape: Shape) -> bool:
    if shape.kind == "lines":
        return any({"sessionId", "projectHash"} <= row.keys() for row in shape.rows)
    return shape.kind == "object" and shape.has("sessionId", "messages", "projectHash")


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the session; faults are noted."""
    top = Spot(problems, source.name)
    about: dict[str, Any] = {}
    messages: dict[str, tuple[Spot, Mapping[str, Any]]] = {}
    if shape_of(source).kind == "lines":
        for spot, line in session_lines(source, problems, header):
            _take(spot, line, about, messages, header)
            if len(messages) > MOST_MESSAGES:
                spot.fault(f"at most {MOST_MESSAGES} messages", Unquoted("more"))
                return
    else:
        about = source.document(MOST_MESSAGES)
        given = about.pop("messages", None)
        if not isinstance(given, list):
            top.at("messages").fault("a list of messages", given)
            return
        for index, message in enumerate(given):
            _take(top.at("messages").at(index), message, about, messages, header)
    transcript = Transcript(string(about.get("sessionId")))
    transcript.about |= {name: about[name] for name in _ABOUT if about.get(name)}
    for spot, message in messages.values():
        _add(transcript, spot, message, header)
    if problems.total:
        return
    if (trajectory := transcript.trajectory(top, source.name)) is not None:
        yield trajectory


def _take(
    spot: Spot,
    line: Any,
    about: dict[str, Any],
    messages: dict[str, tuple[Spot, Mapping[str, Any]]],
    header: dict[str, Any],
) -> None:
    """Take a line: the header, a patch of it, or a message, which replaces one of the same id."""
    if not isinstance(line, dict):
        spot.fault("a message: an object with 'type' and 'content'", line)
    elif isinstance(line.get("$set"), dict):
        about |= {name: value for name, value in line["$set"].items() if name != "messages"}
    elif isinstance(line.get("$rewindTo"), str):
        ids = list(messages)
        if line["$rewindTo"] in messages:
            for id in ids[ids.index(line["$rewindTo"]) :]:
                del messages[id]
                leave_out(header, "message taken back")
    elif "type" not in line and "sessionId" in line:
        about |= line
    else:
        id = string(line.get("id")) or f"\x1f{len(messages)}"
        messages[id] = (messages[id][0] if id in messages else spot, line)


def _add(
    transcript: Transcript, spot: Spot, message: Mapping[str, Any], header: dict[str, Any]
) -> None:
    kind, at = message.get("type"), string(message.get("timestamp"))
    if kind == "user":
        parts = read_parts(message.get("content"))
        for result in parts.results:
            transcript.result(result, at=at)
        if parts.results and not parts.texts:
            return
        by_program = parts.text.strip().startswith(_PROGRAM)
        said = transcript.say("user", parts, by_program=by_program, at=at)
        shown = read_parts(message.get("displayContent")).text
        if shown and shown != parts.text:
            said.extra["shown"] = shown
    elif kind == "gemini":
        _add_answer(transcript, message, at)
    elif isinstance(kind, str):
        leave_out(header, kind)
    else:
        spot.at("type").fault("a text, such as user or gemini", kind)


def _add_answer(transcript: Transcript, message: Mapping[str, Any], at: str) -> None:
    parts = read_parts(message.get("content"))
    for thought in as_list(message.get("thoughts")):
        about = as_mapping(thought)
        words = [string(about.get(name)) for name in ("subject", "description")]
        parts.thoughts.append(": ".join(filter(None, words)))
    calls = [as_mapping(call) for call in as_list(message.get("toolCalls"))]
    parts.calls += [read_tool_call(call) for call in calls]
    answer = transcript.agent(parts, at=at)
    tokens = as_mapping(message.get("tokens"))
    answer.tokens_in = total(tokens, "input")
    answer.tokens_out = total(tokens, "output", "thoughts")
    transcript.model = string(message.get("model")) or transcript.model
    for call in calls:
        results = read_parts(call.get("result")).results
        if results or call.get("result"):
            text = "\n".join(result.text for result in results) or read_parts(call["result"]).text
            seen = [one for result in results for one in result.attachments]
            failed = call.get("status") in _FAILED
            result = Result(string(call.get("id")), text, string(call.get("name")), failed,
                            attachments=seen)  # fmt: skip
            transcript.result(result, at=string(call.get("timestamp")))
