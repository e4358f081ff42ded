"""Write `otel_spans.jsonl` with the OpenTelemetry SDK and its JSON file exporter.

    pip install opentelemetry-sdk opentelemetry-exporter-otlp-json-file
    python tests/benchmarks/formats/make_otel_spans.py TARGET

A scripted agent takes part in two conversations, as an instrumented program would record it: every
call of the model tells its whole history, a tool is executed, a sub-agent is asked in between, and
evaluations follow. The texts are our own. Conversation 2 sends structured values in place of JSON
texts, and its tool result stands in the span of the tool alone.
"""

import json
import sys
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

MODEL = "example-7b"


def text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def asks(id: str, **arguments: Any) -> dict[str, Any]:
    part = {"type": "tool_call", "id": id, "name": "look_up", "arguments": arguments}
    return {"role": "assistant", "parts": [part]}


def answers(id: str, response: Any) -> dict[str, Any]:
    part = {"type": "tool_call_response", "id": id, "response": response}
    return {"role": "tool", "parts": [part]}


class Recorder:
    """Records a conversation; ``structured`` values are sent as such."""

    def __init__(self, tracer: trace.Tracer, conversation: str, *, structured: bool) -> None:
        self.tracer, self.conversation, self.structured = tracer, conversation, structured

    def value(self, messages: Any) -> Any:
        return messages if self.structured else json.dumps(messages)

    def call(
        self, told: list[Any], reply: dict[str, Any], *, system: str, score: Any = None
    ) -> None:
        """A call of the model, with an evaluation of its reply if there is a ``score``."""
        reason = "tool_call" if reply["parts"][0]["type"] == "tool_call" else "stop"
        with self.tracer.start_as_current_span(f"chat {MODEL}") as span:
            span.set_attributes(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": "example",
                    "gen_ai.conversation.id": self.conversation,
                    "gen_ai.request.model": MODEL,
                    "gen_ai.response.model": f"{MODEL}-2026",
                    "gen_ai.response.finish_reasons": [reason],
                    "gen_ai.usage.input_tokens": 10 * len(told),
                    "gen_ai.usage.output_tokens": 7,
                    "gen_ai.system_instructions": self.value([{"type": "text", "content": system}]),
                    "gen_ai.input.messages": self.value(told),
                    "gen_ai.output.messages": self.value([{**reply, "finish_reason": reason}]),
                }
            )
            if score is not None:
                evaluate(span, "politeness", score)

    def tool(self, id: str, result: str) -> None:
        with self.tracer.start_as_current_span("execute_tool look_up") as span:
            span.set_attributes(
                {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "look_up",
                    "gen_ai.tool.call.id": id,
                    "gen_ai.tool.call.result": result,
                }
            )


def evaluate(span: trace.Span, name: str, score: float) -> None:
    span.add_event(
        "gen_ai.evaluation.result",
        {
            "gen_ai.evaluation.name": name,
            "gen_ai.evaluation.score.value": score,
            "gen_ai.evaluation.explanation": "Scripted.",
        },
    )


def lost_bag(tracer: trace.Tracer) -> None:
    """Two turns with a tool and a sub-agent, one evaluation of a turn and one of the whole."""
    run = Recorder(tracer, "conversation-1", structured=False)
    with tracer.start_as_current_span("invoke_agent helper") as span:
        span.set_attribute("gen_ai.operation.name", "invoke_agent")
        span.set_attribute("gen_ai.agent.name", "helper")
        told = [text("user", "Where is my bag?")]
        run.call(told, asks("c1", a=1), system="Be brief.")
        run.tool("c1", "in Oslo")
        told += [asks("c1", a=1), answers("c1", "in Oslo")]
        run.call([text("user", "Is Oslo far?")], text("assistant", "No."), system="You know maps.")
        run.call(told, text("assistant", "In Oslo."), system="Be brief.", score=0.5)
        told += [text("assistant", "In Oslo."), text("user", "Bring it, please.")]
        run.call(told, text("assistant", "It is on its way."), system="Be brief.", score=1.0)
        evaluate(span, "solved", 1.0)


def left_open(tracer: trace.Tracer) -> None:
    """A conversation that ends with a tool's result, which no later call tells again."""
    run = Recorder(tracer, "conversation-2", structured=True)
    with tracer.start_as_current_span("invoke_agent helper") as span:
        span.set_attribute("gen_ai.operation.name", "invoke_agent")
        run.call([text("user", "Which platform?")], asks("c1", a=1), system="Be brief.")
        run.tool("c1", "platform 4")


def main(target: str) -> None:
    provider = TracerProvider(resource=Resource.create({"service.name": "example-agent"}))
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(target)))
    tracer = provider.get_tracer("example")
    lost_bag(tracer)
    left_open(tracer)
    with tracer.start_as_current_span("GET /health"):  # which is no business of an agent
        pass
    provider.shutdown()


if __name__ == "__main__":
    main(sys.argv[1])
