"""Conversations in the shape of ShareGPT: ``conversations`` of ``{from, value}``.

A call is a message of its own (``function_call``) or stands in a text between marks; results follow
in order.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.openhands import thinking_apart
from benchmarks.formats.sessions.parts import Parts, Result, read_parts, read_tool_call, string
from benchmarks.formats.sessions.rows import read_rows
from benchmarks.formats.sessions.transcript import Transcript, as_system, tool_definitions
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedTrajectory, ToolCall

UNSTATED = ("errors",)
CHAT = "conversations"
_USER = ("human", "user")
_AGENT = ("gpt", "assistant", "model", "chatgpt", "bing", "bard", "claude")
_CALL = ("function_call", "tool_call", "function-call")
_RESULT = ("observation", "tool", "function_response", "function", "tool_response", "ipython")
_READ = frozenset((CHAT, "system", "tools", "model", "id", "task_id", "reward"))
CALL_BEGINS, CALL_ENDS = "<tool_call>", "</tool_call>"
ANSWER_BEGINS, ANSWER_ENDS = "<tool_response>", "</tool_response>"


def recognises(shape: Shape) -> bool:
    return shape.kind in ("object", "list", "lines") and CHAT in shape.top


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield a trajectory for each row; faults are noted, and what has one is left out."""
    return read_rows(source, problems, header, _row)


def _row(spot: Spot, row: Mapping[str, Any], default_id: str) -> ImportedTrajectory | None:
    given = next((row[n] for n in ("id", "task_id") if isinstance(row.get(n), str | int)), "")
    transcript = Transcript(str(given) or default_id, UNSTATED)
    as_system(transcript, row.get("system"))
    chat = row.get(CHAT)
    if not isinstance(chat, list) or not chat or len(chat) > MOST_MESSAGES:
        spot.at(CHAT).fault(f"a list of 1 to {MOST_MESSAGES} messages", chat)
        return None
    for index, message in enumerate(chat):
        if not isinstance(message, dict):
            spot.at(CHAT).at(index).fault("a message: an object with 'from' and 'value'", message)
        elif not _add(transcript, message):
            known = ", ".join((*_USER[:1], *_AGENT[:1], *_CALL[:1], *_RESULT[:1], "system"))
            place = spot.at(CHAT).at(index).at("from")
            place.fault(f"one of {known}", message.get("from", message.get("role")))
    transcript.model = string(row.get("model"))
    transcript.tools = tool_definitions(decoded(row.get("tools")))
    reward = row.get("reward")
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        transcript.scores["reward"] = float(reward)
    transcript.about |= {name: value for name, value in row.items() if name not in _READ}
    return transcript.trajectory(spot)


def _add(transcript: Transcript, message: Mapping[str, Any]) -> bool:
    """Append a message; return whether its speaker is known."""
    speaker = message.get("from", message.get("role"))
    parts = read_parts(message.get("value", message.get("content")))
    if speaker in _USER:
        transcript.say("user", parts)
    elif speaker in _CALL:
        transcript.agent(Parts(calls=_calls(transcript, parts.text)))
    elif speaker in _AGENT:
        texts = thinking_apart(parts.text)
        texts.attachments, texts.thoughts = parts.attachments, [*texts.thoughts, *parts.thoughts]
        inline, rest = _inline_calls(texts.text) if CALL_BEGINS in texts.text else ([], "")
        if inline:
            texts.texts = [rest] if rest else []
            texts.calls = [call for one in inline for call in _calls(transcript, one)]
        transcript.agent(texts)
    elif speaker in _RESULT:
        id = next(iter(transcript.waiting), "")
        text = parts.text.strip()
        if text.startswith(ANSWER_BEGINS) and text.endswith(ANSWER_ENDS):
            text = text.removeprefix(ANSWER_BEGINS).removesuffix(ANSWER_ENDS).strip()
        else:
            text = parts.text
        transcript.result(Result(id, text, attachments=parts.attachments))
    elif speaker == "system":
        transcript.say("system", parts)
    else:
        return False
    return True


def _inline_calls(text: str) -> tuple[list[str], str]:
    """Return the calls between marks in a text, and the text around them."""
    first, *pieces = text.split(CALL_BEGINS)
    calls, rest = [], [first]
    for piece in pieces:
        call, ends, after = piece.partition(CALL_ENDS)
        if ends:
            calls.append(call.strip())
            rest.append(after)
        else:
            rest.append(f"{CALL_BEGINS}{piece}")
    return calls, "".join(rest).strip()


def _calls(transcript: Transcript, text: str) -> list[ToolCall]:
    """Return the calls in a text: one, or a list of them; ids are given by their order."""
    value = decoded(text)
    calls: list[ToolCall] = []
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            call = read_tool_call(one)
        else:
            call = ToolCall("(no name)", text, raw=True)
        id = f"call-{len(transcript.called) + len(calls) + 1}"
        calls.append(ToolCall(call.name, call.arguments, id, raw=call.raw))
    return calls
