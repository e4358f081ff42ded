"""OpenAI Responses: logs of requests, single calls, and rows of NeMo Gym.

A line is ``{request, response}``, ``{input, output}``, a response object, or a row with
``responses_create_params``, ``response`` and ``reward``. Calls that repeat their history, or name
the response before, are put together; a row is a trajectory of its own.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.dialects import add_message
from benchmarks.formats.sessions.exchanges import Chains, Exchange, with_figures
from benchmarks.formats.sessions.lines import session_lines
from benchmarks.formats.sessions.parts import as_mapping, string, total
from benchmarks.formats.sessions.transcript import (
    Transcript,
    as_system,
    finished,
    tool_definitions,
)
from benchmarks.formats.shape import Shape, shape_of
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

ROW = "responses_create_params"
# The format writes items, not messages, and no mark of a failed call.
UNSTATED = ("assistant", "errors")


def recognises(shape: Shape) -> bool:
    if shape.kind not in ("object", "list", "lines"):
        return False
    top = shape.top
    if ROW in top or {"request", "response"} <= top:
        request = shape.rows[0].get("request") if shape.rows else shape.names
        fields = request if isinstance(request, dict | frozenset) else ()
        return ROW in top or ("input" in fields and "messages" not in fields)
    is_response = {"object", "output"} <= top or {"input", "output"} <= top
    return is_response and shape.tells(
        "type", "function_call", "message", "reasoning", "output_text"
    )


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file; faults are noted, and what has one is left out."""
    log = Chains()
    for number, (spot, item) in enumerate(_items(source, problems, header), 1):
        before = problems.total
        is_row = isinstance(item.get(ROW), dict)
        call = _exchange(spot, item)
        if problems.total > before:
            continue
        if not is_row:
            if log.add(call) is None:
                return
            continue
        transcript = _transcript(call.model, call.tools, f"{source.name}#{number}")
        transcript.id = call.id or transcript.id
        reward = item.get("reward")
        if isinstance(reward, int | float) and not isinstance(reward, bool):
            transcript.scores["reward"] = float(reward)
        known = (ROW, "response", "reward")
        transcript.about |= {name: value for name, value in item.items() if name not in known}
        trajectory = finished(transcript, [*call.told, *call.reply], spot)
        if trajectory is not None:
            yield trajectory
    for chain in log.all:
        transcript = _transcript(chain.model, chain.tools, chain.id or source.name)
        transcript.termination = chain.ending
        transcript.about["calls"] = chain.calls
        if (made := finished(transcript, chain.messages, chain.spot)) is not None:
            yield made


def _transcript(model: str, tools: Any, id: str) -> Transcript:
    transcript = Transcript(id, UNSTATED)
    transcript.model, transcript.tools = model, tools
    return transcript


def _items(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[tuple[Spot, dict[str, Any]]]:
    kind = shape_of(source).kind
    top = Spot(problems, source.name)
    if kind == "lines":
        yield from session_lines(source, problems, header)
    elif kind == "object":
        yield top, source.document(MOST_MESSAGES)
    else:
        for _, index, item in source.entries():
            if isinstance(item, dict):
                yield top.at(index or 0), item
            else:
                top.at(index or 0).fault("an object with input and output", item)


def _exchange(spot: Spot, item: Mapping[str, Any]) -> Exchange:
    request = as_mapping(item.get(ROW, item.get("request", item)))
    given = item.get("response")
    response = as_mapping(given) if "response" in item else item
    told = Transcript()
    as_system(told, request.get("instructions"))
    _add_all(told, spot.at("input"), request.get("input"))
    reply = Transcript()
    if response.get("output") is not None:
        _add_all(reply, spot.at("output"), response["output"])
    elif given is not None or not told.said:
        spot.at("response").fault("an object with 'output'", given)
    usage = as_mapping(response.get("usage"))
    previous = string(request.get("previous_response_id")) or string(
        response.get("previous_response_id")
    )
    return Exchange(
        spot,
        told.messages(),
        _with_figures(reply.messages(), usage),
        id=string(response.get("id")),
        previous=previous,
        model=string(response.get("model")) or string(request.get("model")),
        tools=tool_definitions(request.get("tools") or response.get("tools")),
        ending=string(response.get("status")),
    )


def _with_figures(
    messages: list[ImportedMessage], usage: Mapping[str, Any]
) -> list[ImportedMessage]:
    return with_figures(
        messages,
        tokens_in=total(usage, "input_tokens"),
        tokens_out=total(usage, "output_tokens"),
    )


def _add_all(transcript: Transcript, spot: Spot, items: Any) -> None:
    """Append the items of an input (a text or a list) or an output."""
    if items is None:
        return
    if not isinstance(items, list | str):
        spot.fault("a text or a list of items", items)
        return
    given = [items] if isinstance(items, str) else items
    if len(given) > MOST_MESSAGES:
        spot.fault(f"at most {MOST_MESSAGES} items", Unquoted("more"))
        return
    for index, one in enumerate(given):
        add_message(transcript, spot.at(index), one)
