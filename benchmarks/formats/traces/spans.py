"""Spans of calls of a model, as OTLP or as a list: which belong together, and what they say.

Calls that go on from one another are a trajectory. Those under an agent's span inside another
agent's are a sub-agent's, a trajectory of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from benchmarks.core.problems import Problems, Unquoted
from benchmarks.formats.sessions.exchanges import Chain, Chains, Exchange
from benchmarks.formats.sessions.parts import as_mapping, string
from benchmarks.formats.sessions.transcript import Transcript, finished, leave_out
from benchmarks.formats.shape import shape_of
from benchmarks.formats.source import FileSource, Spot, read_line
from benchmarks.formats.traces.otlp import (
    LOGS,
    SPANS,
    attributes,
    iso,
    members,
    moment,
    resources,
    span_id,
)
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

MOST_SPANS = 200_000
MOST_PLACES = 20_000
DEEPEST_AGENT = 100


@dataclass
class Span:
    """A span with its attributes by their dotted names; times are nanoseconds since 1970."""

    spot: Spot
    trace: str
    id: str
    parent: str
    start: int
    end: int
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def at(self) -> str:
        """Return when the span ended, ISO 8601."""
        return iso(self.end)


@dataclass(frozen=True)
class Dialect:
    """How a convention names things: ``agent`` says whether a span is an agent's, ``exchange``
    returns the call of a model that a span is (none for other spans), ``session`` the conversation
    that it names.
    """

    agent: Callable[[Span], bool]
    exchange: Callable[[Span], Exchange | None]
    session: Callable[[Span], str]
    advice: str


def read_spans(
    source: FileSource, problems: Problems, header: dict[str, Any], dialect: Dialect
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file of spans; faults are noted."""
    tree: dict[str, tuple[str, bool]] = {}
    sessions: dict[str, str] = {}
    calls: list[tuple[int, int, Span, Exchange]] = []
    told: dict[tuple[Any, ...], ImportedMessage] = {}
    for number, span in enumerate(spans_of(source, problems)):
        if number >= MOST_SPANS:
            span.spot.fault(f"at most {MOST_SPANS} spans", Unquoted("more; split the file"))
            return
        tree[span.id] = (span.parent, dialect.agent(span))
        session = dialect.session(span)
        if session:
            sessions.setdefault(span.trace, session)
        call = dialect.exchange(span)
        if call is None:
            leave_out(header, "span that is no call of a model")
            continue
        call.told = [told.setdefault(_key(message), message) for message in call.told]
        span.about = {}
        calls.append((span.start, number, span, call))
    log = Chains()
    for _, _, span, call in sorted(calls, key=lambda one: one[:2]):
        call.group = f"{sessions.get(span.trace, span.trace)}\x1f{_agent_of(span, tree)}"
        call.id = span.id
        if log.add(call) is None:
            return
    if not calls and not problems.total:
        Spot(problems, source.name).fault(dialect.advice, Unquoted("none"))
    yield from _trajectories(log, tree)


def _trajectories(
    log: Chains, tree: Mapping[str, tuple[str, bool]]
) -> Iterator[ImportedTrajectory]:
    ids: dict[str, str] = {}
    counts: dict[str, int] = {}
    for chain in log.all:
        session, _, agent = chain.group.partition("\x1f")
        base = agent or session
        counts[base] = counts.get(base, 0) + 1
        id = base if counts[base] == 1 else f"{base}#{counts[base]}"
        ids.setdefault(chain.group, id)
        transcript = Transcript(id)
        if agent:
            outer = _nested(tree.get(agent, ("", False))[0], tree)
            transcript.parent = ids.get(f"{session}\x1f{outer}", session)
        made = finished(_described(transcript, chain), chain.messages, chain.spot)
        if made is not None:
            yield made


def _described(transcript: Transcript, chain: Chain) -> Transcript:
    transcript.model, transcript.tools = chain.model, chain.tools
    transcript.termination = chain.ending
    transcript.about["calls"] = chain.calls
    results = [m for m in chain.messages if m.speaker == "tool"]
    if not any("failed" in m.extra for m in results):
        transcript.counts["errors"] = None
    return transcript


def _agent_of(span: Span, tree: Mapping[str, tuple[str, bool]]) -> str:
    return _nested(span.parent, tree)


def _nested(id: str, tree: Mapping[str, tuple[str, bool]]) -> str:
    """Return the nearest agent's span that lies in another agent's; nothing where there is none."""
    agents: list[str] = []
    seen: set[str] = set()
    while id and id in tree and id not in seen and len(agents) < 2:
        seen.add(id)
        parent, is_agent = tree[id]
        if is_agent:
            agents.append(id)
        id = parent
    return agents[0] if len(agents) == 2 else ""


def _key(message: ImportedMessage) -> tuple[Any, ...]:
    calls = tuple((call.name, call.id, repr(call.arguments)) for call in message.calls)
    extra = repr(sorted(message.extra))
    return (message.speaker, message.text, message.reasoning, message.call_id, calls, extra)


# --- Files of spans -------------------------------------------------------------------------------


def spans_of(source: FileSource, problems: Problems) -> Iterator[Span]:
    """Yield the spans of OTLP/JSON, or of a list or lines of them as Phoenix writes them."""
    shape = shape_of(source)
    if {SPANS, LOGS} & shape.top:
        for spot, name, resource in resources(source, problems):
            if name == SPANS:
                for scope_spot, scope in members(spot, resource, "scopeSpans"):
                    for at, row in members(scope_spot, scope, "spans"):
                        yield from _otlp(at, row)
        return
    top = Spot(problems, source.name)
    if shape.kind == "lines":
        for number, line in source.lines():
            before = problems.total
            value = read_line(source.name, number, line, problems)
            if problems.total == before:
                yield from _listed(Spot(problems, f"{source.name}, line {number}"), value)
        return
    for name, index, item in source.entries():
        if index is not None:
            yield from _listed((top.at(name) if name else top).at(index), item)


def _otlp(spot: Spot, row: Any) -> Iterator[Span]:
    if not isinstance(row, dict):
        spot.fault("a span: an object with traceId, spanId and attributes", row)
        return
    yield Span(
        spot,
        span_id(spot, row, "traceId"),
        span_id(spot, row, "spanId"),
        string(row.get("parentSpanId")),
        moment(spot, row, "startTimeUnixNano"),
        moment(spot, row, "endTimeUnixNano"),
        attributes(spot, row),
    )


def _listed(spot: Spot, row: Any) -> Iterator[Span]:
    if not isinstance(row, dict):
        spot.fault("a span: an object with context and attributes", row)
        return
    context = as_mapping(row.get("context"))
    about: dict[str, Any] = {}
    _flatten("", row.get("attributes"), about)
    kind = row.get("span_kind")
    if isinstance(kind, str):
        about.setdefault("openinference.span.kind", kind)
    for name, value in row.items():  # columns of a table of spans
        if name.startswith("attributes."):
            _flatten(name.removeprefix("attributes."), value, about)
    ids = [context.get(name, row.get(f"context.{name}")) for name in ("trace_id", "span_id")]
    trace, id = (str(given) if isinstance(given, str | int) else "" for given in ids)
    yield Span(
        spot, trace, id, string(row.get("parent_id")),
        _nanoseconds(row.get("start_time")), _nanoseconds(row.get("end_time")), about,
    )  # fmt: skip


def _flatten(name: str, value: Any, flat: dict[str, Any]) -> None:
    """Put a nested value under dotted names, as OTLP has it; files are nested at most 40 deep."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _flatten(f"{name}.{key}" if name else key, inner, flat)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        for place, inner in enumerate(value):
            _flatten(f"{name}.{place}", inner, flat)
    elif name:
        flat[name] = value


def _nanoseconds(given: Any) -> int:
    if not isinstance(given, str):
        return 0
    try:
        return int(datetime.fromisoformat(given.replace("Z", "+00:00")).timestamp() * 1e9)
    except (ValueError, OverflowError):
        return 0


def nested(about: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the list that stands under dotted names, such as ``llm.input_messages.0.…``."""
    places: dict[int, dict[str, Any]] = {}
    start = f"{prefix}."
    for name, value in about.items():
        if not name.startswith(start):
            continue
        place, _, rest = name.removeprefix(start).partition(".")
        if place.isascii() and place.isdigit() and len(place) < 6 and int(place) < MOST_PLACES:
            places.setdefault(int(place), {})[rest] = value
    return [places[place] for place in sorted(places)]
