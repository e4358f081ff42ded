"""Anthropic Messages: chats with tool_use and tool_result parts, and logs of requests.

A document or a line is a request body, an object with ``messages``, or ``{request, response}``;
lines of the last kind repeat their history and are put together where they go on from one another.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.dialects import add_message
from benchmarks.formats.sessions.exchanges import Chains, Exchange, with_figures
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import amount, as_mapping, string, total
from benchmarks.formats.sessions.transcript import (
    Transcript,
    as_system,
    finished,
    tool_definitions,
)
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

IDS = ("id", "task_id", "session_id", "conversation_id")
PARTS = ("tool_use", "tool_result", "server_tool_use", "redacted_thinking")
_READ = frozenset(("messages", "system", "tools", "model", "request", "response", "reward", *IDS))


def recognises(shape: Shape) -> bool:
    if shape.kind not in ("object", "list", "lines"):
        return False
    if {"request", "response"} <= shape.top:
        request = shape.rows[0].get("request") if shape.rows else shape.names
        fields = request if isinstance(request, dict | frozenset) else ()
        return "messages" in fields and "choices" not in shape.names
    if "planjury" in shape.top or not shape.tells("type", *PARTS):
        return False
    return "messages" in shape.top or (
        shape.kind != "object" and {"role", "content"} <= shape.first
    )


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file; faults are noted, and what has one is left out."""
    log = Chains()
    for number, (spot, item) in enumerate(_items(source, problems, header), 1):
        before = problems.total
        if isinstance(item.get("request"), dict):
            call = _exchange(spot, item)
            if problems.total == before and log.add(call) is None:
                return
            continue
        trajectory = _row(spot, item, f"{source.name}#{number}")
        if trajectory is not None and problems.total == before:
            yield trajectory
    for chain in log.all:
        transcript = Transcript(chain.id or source.name)
        transcript.model, transcript.tools = chain.model, chain.tools
        transcript.termination = chain.ending
        transcript.about["calls"] = chain.calls
        if (made := finished(transcript, chain.messages, chain.spot)) is not None:
            yield made


def _items(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, dict[str, Any]]]:
    shape = shape_of(source)
    if shape.kind == "lines" and not {"role", "content"} <= shape.first:
        yield from session_lines(source, problems, header)
        return
    top = Spot(problems, source.name)
    if shape.kind == "lines":  # one message a line
        rows = [row for _, row in session_lines(source, problems, header)]
        yield top, {"messages": rows}
    elif shape.kind == "object":
        yield top, source.document(MOST_MESSAGES)
    else:
        chat = []
        for _, index, item in source.entries():
            if isinstance(item, dict) and "role" in item:
                chat.append(item)
                if len(chat) > MOST_MESSAGES:
                    top.fault(f"at most {MOST_MESSAGES} messages", chat)
                    return
            elif isinstance(item, dict):
                yield top.at(index or 0), item
            elif isinstance(item, list):
                yield top.at(index or 0), {"messages": item}
            else:
                top.at(index or 0).fault("an object with 'messages', or a list of them", item)
        if chat:
            yield top, {"messages": chat}


def _row(spot: Spot, item: Mapping[str, Any], default_id: str) -> ImportedTrajectory | None:
    transcript = read_told(spot, item)
    response = item.get("response")
    messages = transcript.messages()
    if isinstance(response, dict):
        messages += read_reply(spot.at("response"), response)
    transcript.id = next((str(item[n]) for n in IDS if isinstance(item.get(n), str | int)), "")
    transcript.task = transcript.id
    transcript.model = string(as_mapping(response).get("model")) or string(item.get("model"))
    transcript.tools = tool_definitions(item.get("tools"))
    reward = item.get("reward")
    if isinstance(reward, int | float) and not isinstance(reward, bool):
        transcript.scores["reward"] = float(reward)
    transcript.about |= {name: value for name, value in item.items() if name not in _READ}
    return finished(transcript, messages, spot, default_id)


def read_told(spot: Spot, request: Mapping[str, Any]) -> Transcript:
    """Return the messages of a request, its system text first."""
    transcript = Transcript()
    as_system(transcript, request.get("system"))
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        spot.at("messages").fault("a list with at least one message", messages)
        return transcript
    for index, message in enumerate(messages):
        add_message(transcript, spot.at("messages").at(index), message)
    return transcript


def _exchange(spot: Spot, item: Mapping[str, Any]) -> Exchange:
    request, response = as_mapping(item.get("request")), as_mapping(item.get("response"))
    return Exchange(
        spot,
        read_told(spot.at("request"), request).messages(),
        read_reply(spot.at("response"), response) if response else [],
        id=string(response.get("id")),
        model=string(response.get("model")) or string(request.get("model")),
        tools=tool_definitions(request.get("tools")),
        ending=string(response.get("stop_reason")),
    )


def read_reply(spot: Spot, response: Mapping[str, Any]) -> list[ImportedMessage]:
    """Return the reply of a response with its tokens; prompt tokens include cached ones."""
    transcript = Transcript()
    if "error" in response and "content" not in response:
        return []
    add_message(
        transcript, spot, {**response, "role": response.get("role", "assistant"), "type": None}
    )
    usage = as_mapping(response.get("usage"))
    return with_figures(
        transcript.messages(),
        tokens_in=tokens_in(usage),
        tokens_out=total(usage, "output_tokens"),
        cost=amount(usage.get("cost")),
    )


def tokens_in(usage: Mapping[str, Any]) -> int | None:
    """Return all tokens of a prompt, which the usage states apart by how they were cached."""
    return total(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
