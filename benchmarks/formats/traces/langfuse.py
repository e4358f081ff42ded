"""Traces of Langfuse: ``{trace, observations}``, or a trace with its observations.

Inputs and outputs are often JSON as text. The first generation of a trace and those that go on from
it are the trajectory; other generations stand apart. Where the inputs say nothing, generations and
tools are put together by time.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.problems import Problems
from benchmarks.formats.messages import MOST_MESSAGES
from benchmarks.formats.sessions.exchanges import Chains, Exchange, with_figures
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.parts import (
    Result,
    amount,
    as_list,
    as_mapping,
    read_result,
    string,
)
from benchmarks.formats.sessions.parts import (
    whole as count,
)
from benchmarks.formats.sessions.rows import rows_of
from benchmarks.formats.sessions.transcript import (
    Transcript,
    as_system,
    finished,
    leave_out,
    tool_definitions,
)
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.traces.frameworks import as_arguments, is_lossy, messages_of
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

_ABOUT = ("name", "sessionId", "userId", "release", "version", "tags", "environment")
_UNCACHED = ("input", "output")


def recognises(shape: Shape) -> bool:
    return (
        shape.kind in ("object", "list", "lines")
        and "observations" in shape.top
        and ("trace" in shape.top or "traceId" in shape.names)
    )


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield a trajectory for each trace; faults are noted, and what has one is left out."""
    for spot, row in rows_of(source, problems, header):
        before = problems.total
        made = _trace(spot, row, header, source.name)
        if made is not None and problems.total == before:
            yield made


def _trace(
    spot: Spot, row: Mapping[str, Any], header: dict[str, Any], default_id: str
) -> ImportedTrajectory | None:
    trace, given = row.get("trace", row), row.get("observations")
    if not isinstance(trace, dict):
        spot.at("trace").fault("an object", trace)
        return None
    if not isinstance(given, list) or len(given) > MOST_MESSAGES:
        spot.at("observations").fault(f"a list of at most {MOST_MESSAGES} observations", given)
        return None
    observations = [
        (spot.at("observations").at(index), one)
        for index, one in enumerate(given)
        if isinstance(one, dict)
    ]
    observations.sort(key=lambda one: string(one[1].get("startTime")))
    generations = [one for one in observations if one[1].get("type") == "GENERATION"]
    tools = [one for _, one in observations if one.get("type") == "TOOL"]
    others = len(given) - len(generations) - len(tools)
    if others:
        leave_out(header, "observation that is no generation and no tool", others)
    transcript = Transcript(string(trace.get("id")) or default_id)
    if any(is_lossy(one.get("input")) for _, one in generations):
        messages = _by_time(transcript, observations)
    else:
        messages = _chained(transcript, generations, tools, header)
    _describe(transcript, trace)
    if not any("failed" in m.extra for m in messages):
        transcript.counts["errors"] = None
    return finished(transcript, messages, spot)


def _chained(
    transcript: Transcript,
    generations: Sequence[tuple[Spot, Mapping[str, Any]]],
    tools: Sequence[Mapping[str, Any]],
    header: dict[str, Any],
) -> list[ImportedMessage]:
    """Return the messages of the first generation and of those that go on from it."""
    log = Chains()
    for spot, one in generations:
        exchange = Exchange(
            spot,
            messages_of(spot.at("input"), one.get("input"), "user"),
            _reply(spot, one),
            model=string(one.get("model")),
            tools=tool_definitions(decoded(one.get("toolDefinitions"))),
        )
        if log.add(exchange) is None:
            return []
    if not log.all:
        return []
    main = log.all[0]
    apart = len(generations) - main.calls
    if apart:
        leave_out(header, "generation that stands apart", apart)
        transcript.about["apart"] = apart
    transcript.model, transcript.tools = main.model, main.tools
    answered = {m.call_id for m in main.messages if m.speaker == "tool"}
    waiting = Transcript()
    for message in main.messages:
        for call in message.calls:
            if call.id and call.id not in answered:
                waiting.takes(call)
    _answer(waiting, tools, {c.id: c.arguments for m in main.messages for c in m.calls})
    return [*main.messages, *waiting.messages()]


def _answer(
    transcript: Transcript, tools: Sequence[Mapping[str, Any]], arguments: Mapping[str, Any]
) -> None:
    """Add what tools returned to calls that still wait, by name and arguments."""
    for tool in tools:
        wanted = canonical_json(as_arguments(tool.get("input")))
        named = [id for id in transcript.waiting if transcript.called[id] == tool.get("name")]
        same = [id for id in named if canonical_json(arguments.get(id)) == wanted]
        if same:
            _add_result(transcript, same[0], tool)


def _add_result(transcript: Transcript, id: str, tool: Mapping[str, Any]) -> None:
    output = decoded(tool.get("output"))
    content = as_mapping(as_mapping(output).get("kwargs", output)).get("content", output)
    text, attachments = read_result(content)
    failed = True if tool.get("level") == "ERROR" else None
    result = Result(id, text, string(tool.get("name")), failed, attachments=attachments)
    transcript.result(result, at=string(tool.get("endTime")))


def _by_time(
    transcript: Transcript, observations: Sequence[tuple[Spot, Mapping[str, Any]]]
) -> list[ImportedMessage]:
    """Return what generations wrote and tools returned, in the order of their beginnings."""
    messages: list[ImportedMessage] = []
    arguments: dict[str, Any] = {}
    root = next((one for _, one in observations if not one.get("parentObservationId")), {})
    opening = as_mapping(decoded(root.get("input")))
    system = Transcript()
    as_system(system, opening.get("system"))
    messages += system.messages()
    calls = Transcript()
    for spot, one in observations:
        if one.get("type") == "GENERATION":
            if not is_lossy(one.get("input")) and not any(m.speaker == "user" for m in messages):
                messages += messages_of(spot.at("input"), one.get("input"), "user")
            reply = _reply(spot, one)
            for call in (call for message in reply for call in message.calls):
                calls.takes(call)
                arguments[call.id] = call.arguments
            messages += reply
            transcript.model = string(one.get("model")) or transcript.model
        elif one.get("type") == "TOOL":
            before = len(calls.said)
            _answer(calls, [one], arguments)
            messages += calls.said[before:]
    return messages


def _reply(spot: Spot, one: Mapping[str, Any]) -> list[ImportedMessage]:
    usage = as_mapping(decoded(one.get("usageDetails")))
    cost = as_mapping(decoded(one.get("costDetails"))).get("total", one.get("totalCost"))
    return with_figures(
        messages_of(spot.at("output"), one.get("output"), "assistant"),
        at=string(one.get("endTime")),
        tokens_in=_tokens(usage, "input"),
        tokens_out=_tokens(usage, "output"),
        cost=amount(cost),
    )


def _tokens(usage: Mapping[str, Any], kind: str) -> int | None:
    """Return tokens of a kind; cached and reasoning ones stand apart from the others."""
    counts = [
        number
        for name, value in usage.items()
        if name == kind or name.startswith(f"{kind}_")
        if (number := count(value)) is not None
    ]
    return sum(counts) if counts else None


def _describe(transcript: Transcript, trace: Mapping[str, Any]) -> None:
    scores: dict[str, float | None] = {"reward": None}
    for score in as_list(decoded(trace.get("scores"))):
        about = as_mapping(score)
        value = about.get("value")
        if isinstance(about.get("name"), str) and isinstance(value, int | float):
            scores[about["name"][:120]] = float(value)
    transcript.scores = scores
    transcript.about |= {name: trace[name] for name in _ABOUT if trace.get(name)}
