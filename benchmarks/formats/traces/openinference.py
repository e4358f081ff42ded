"""Spans of OpenInference, as OTLP/JSON or as Phoenix exports them.

Its Anthropic instrumentation writes results of tools as the user's, parallel ones over one another,
and no system text: there the request and the response themselves are read, which the span has too.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.sessions.anthropic import read_reply, read_told
from benchmarks.formats.sessions.dialects import add_message
from benchmarks.formats.sessions.exchanges import Exchange, with_figures
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.parts import as_mapping, string
from benchmarks.formats.sessions.parts import whole as count
from benchmarks.formats.sessions.transcript import Transcript
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.traces.spans import Dialect, Span, nested, read_spans
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

KIND = "openinference.span.kind"
INPUT, OUTPUT = "llm.input_messages", "llm.output_messages"
ADVICE = (
    f"a span of a model's call with {OUTPUT}: the program must not hide inputs and outputs "
    "(OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS)"
)


def recognises(shape: Shape) -> bool:
    if shape.kind not in ("object", "list", "lines"):
        return False
    listed = bool({"span_kind", "openinference", KIND} & shape.names) and "context" in shape.names
    return shape.tells("key", KIND, f"{OUTPUT}.0.message.role") or listed


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file of spans; faults are noted."""
    dialect = Dialect(_is_agent, _exchange, _session, ADVICE)
    yield from read_spans(source, problems, header, dialect)


def _is_agent(span: Span) -> bool:
    return string(span.about.get(KIND)).upper() == "AGENT"


def _session(span: Span) -> str:
    return string(span.about.get("session.id"))


def _exchange(span: Span) -> Exchange | None:
    about = span.about
    outputs = nested(about, OUTPUT)
    if string(about.get(KIND)).upper() not in ("LLM", "") or not outputs:
        return None
    makers = [string(about.get(name)).lower() for name in ("llm.system", "llm.provider")]
    request = as_mapping(decoded(about.get("input.value")))
    if "anthropic" in makers and isinstance(request.get("messages"), list):
        told = read_told(span.spot.at("input.value"), request).messages()
    else:
        told = _messages(span.spot.at(INPUT), nested(about, INPUT))
    response = as_mapping(decoded(about.get("output.value")))
    if "anthropic" in makers and isinstance(response.get("content"), list):
        reply = read_reply(span.spot.at("output.value"), response)
    else:
        reply = _messages(span.spot.at(OUTPUT), outputs[:1])
    definitions = [decoded(tool.get("tool.json_schema")) for tool in nested(about, "llm.tools")]
    return Exchange(
        span.spot,
        told,
        with_figures(
            reply,
            at=span.at,
            tokens_in=count(about.get("llm.token_count.prompt")),
            tokens_out=count(about.get("llm.token_count.completion")),
        ),
        model=string(about.get("llm.model_name")),
        tools=tuple(tool for tool in definitions if isinstance(tool, dict)),
    )


def _messages(spot: Spot, given: list[dict[str, Any]]) -> list[ImportedMessage]:
    transcript = Transcript()
    for index, message in enumerate(given):
        add_message(transcript, spot.at(index), _as_message(message))
    return transcript.messages()


def _as_message(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message of dotted names in the chat format."""
    names = ("role", "content", "name", "tool_call_id")
    message = {name: flat[f"message.{name}"] for name in names if f"message.{name}" in flat}
    parts = []
    for part in nested(flat, "message.contents"):
        kind = string(part.get("message_content.type")) or "text"
        text = part.get("message_content.text")
        url = part.get("message_content.image.image.url")
        parts.append(
            {"type": kind, **({"text": text} if text else {}), **({"url": url} if url else {})}
        )
    if parts and not message.get("content"):
        message["content"] = parts
    calls = [
        {
            "id": call.get("tool_call.id"),
            "name": call.get("tool_call.function.name"),
            "arguments": call.get("tool_call.function.arguments", {}),
        }
        for call in nested(flat, "message.tool_calls")
    ]
    if calls:
        message["tool_calls"] = calls
    if message.get("tool_call_id") and message.get("role") in ("user", "tool", "function", None):
        message["role"] = "tool"
    return message
