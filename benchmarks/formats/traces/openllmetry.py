"""Spans of OpenLLMetry (Traceloop) up to 0.49: ``gen_ai.prompt.N`` and ``gen_ai.completion.N``.

For Anthropic the content of a prompt is JSON as text. Newer versions write the semantic conventions
for generative AI, which ``otel`` reads.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.core.problems import Problems
from benchmarks.formats.sessions.dialects import add_message
from benchmarks.formats.sessions.exchanges import Exchange, with_figures
from benchmarks.formats.sessions.lines import decoded
from benchmarks.formats.sessions.parts import string
from benchmarks.formats.sessions.parts import whole as count
from benchmarks.formats.sessions.transcript import Transcript
from benchmarks.formats.shape import Shape
from benchmarks.formats.source import FileSource, Spot
from benchmarks.formats.traces.spans import Dialect, Span, nested, read_spans
from benchmarks.formats.trajectory import ImportedMessage, ImportedTrajectory

PROMPT, COMPLETION = "gen_ai.prompt", "gen_ai.completion"
ADVICE = (
    f"a span of a model's call with {COMPLETION}.0: the program must record content "
    "(TRACELOOP_TRACE_CONTENT=true)"
)
_SESSIONS = ("traceloop.association.properties.session_id", "gen_ai.conversation.id")
_FIELDS = ("role", "content", "tool_call_id", "name", "refusal", "reasoning")


def recognises(shape: Shape) -> bool:
    if shape.tells("key", "gen_ai.output.messages", "gen_ai.input.messages"):
        return False
    fields = [f"{start}.0.{name}" for start in (PROMPT, COMPLETION) for name in ("role", "content")]
    return shape.kind in ("object", "lines") and shape.tells("key", *fields)


def read(
    source: FileSource, problems: Problems, header: dict[str, Any]
) -> Iterator[ImportedTrajectory]:
    """Yield the trajectories of a file of spans; faults are noted."""
    dialect = Dialect(_is_agent, _exchange, _session, ADVICE)
    yield from read_spans(source, problems, header, dialect)


def _is_agent(span: Span) -> bool:
    return span.about.get("traceloop.span.kind") == "agent"


def _session(span: Span) -> str:
    return next((s for name in _SESSIONS if (s := string(span.about.get(name)))), "")


def _exchange(span: Span) -> Exchange | None:
    about = span.about
    completions = nested(about, COMPLETION)
    if not completions:
        return None
    reply = _messages(span.spot.at(COMPLETION), completions[:1], "assistant")
    tools = [
        {name: decoded(value) for name, value in one.items()}
        for one in nested(about, "llm.request.functions")
    ]
    model = string(about.get("gen_ai.response.model")) or string(about.get("gen_ai.request.model"))
    return Exchange(
        span.spot,
        _messages(span.spot.at(PROMPT), nested(about, PROMPT), "user"),
        with_figures(
            reply,
            at=span.at,
            tokens_in=_tokens(about, "input_tokens", "prompt_tokens"),
            tokens_out=_tokens(about, "output_tokens", "completion_tokens"),
        ),
        model=model,
        tools=tuple(tools),
        ending=string(completions[0].get("finish_reason")),
    )


def _tokens(about: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        if (tokens := count(about.get(f"gen_ai.usage.{name}"))) is not None:
            return tokens
    return None


def _messages(spot: Spot, given: list[dict[str, Any]], default: str) -> list[ImportedMessage]:
    transcript = Transcript()
    for index, flat in enumerate(given):
        message = {name: flat[name] for name in _FIELDS if name in flat}
        message.setdefault("role", default)
        content = decoded(message.get("content"))
        if isinstance(content, list) and all(
            isinstance(part, dict) and isinstance(part.get("type"), str) for part in content
        ):
            message["content"] = content
        calls = nested(flat, "tool_calls")
        if calls:
            message["tool_calls"] = calls
        add_message(transcript, spot.at(index), message)
    return transcript.messages()
