"""Spans of OpenTelemetry: a file that its SDK wrote imports whole, and odd ones are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.problems import FileRefused
from benchmarks.formats.registry import check_file, detect
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.packages import run_with
from tests.benchmarks.formats.reading import read_whole

HERE = Path(__file__).parent
STORED = HERE / "otel_spans.jsonl"


def assert_whole(path: Path) -> None:
    """All that make_otel_spans.py recorded is there, once, in its order."""
    assert detect(path) == "otel"
    by_name = {one.metadata["conversation"]: one for one in read_whole(path, "otel")}
    assert set(by_name) == {"conversation-1", "conversation-2"}
    first, second = by_name["conversation-1"], by_name["conversation-2"]
    assert [(m.speaker, m.text) for m in first.messages] == [
        ("system", "Be brief."),
        ("user", "Where is my bag?"),
        ("assistant", ""),
        ("tool", "in Oslo"),
        ("assistant", "In Oslo."),
        ("user", "Bring it, please."),
        ("assistant", "It is on its way."),
    ]
    (call,) = first.messages[2].calls
    assert (call.name, call.arguments, call.id) == ("look_up", {"a": 1}, "c1")
    written = [m for m in first.messages if m.speaker == "assistant"]
    assert [(m.tokens_in, m.tokens_out) for m in written] == [(10, 7), (30, 7), (50, 7)]
    assert all(m.at.startswith("20") for m in written)
    assert first.agent == "example-7b" and first.metadata["agent"] == "helper"
    assert first.scores == {"reward": 1.0, "solved": 1.0}
    assert [(s.turn, s.dimension, s.value) for s in first.rubric] == [
        (1, "politeness", 0.5),
        (2, "politeness", 1.0),
    ]
    (aside,) = first.metadata["other_calls"]
    assert aside[-1]["parts"][0]["content"] == "No."
    assert first.termination == "completed"
    # Its tool's result is in the span of the tool alone.
    assert [(m.speaker, m.text) for m in second.messages][-1] == ("tool", "platform 4")
    assert second.scores == {"reward": None} and second.undefined["reward"]


def test_what_the_sdk_wrote_imports_whole() -> None:
    assert_whole(STORED)


def test_what_the_sdk_writes_now_imports_whole(tmp_path: Path) -> None:
    target = tmp_path / "spans.jsonl"
    run_with("opentelemetry.exporter.otlp.json.file", HERE / "make_otel_spans.py", target)
    assert_whole(target)


def test_the_same_in_one_document_and_in_another_order(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in STORED.read_text().splitlines()]
    whole = {"resourceSpans": [one for line in reversed(lines) for one in line["resourceSpans"]]}
    assert_whole(samples.write(tmp_path / "spans.json", whole))


def test_system_instructions_may_stand_on_the_first_span_alone(tmp_path: Path) -> None:
    first, lines = True, []
    for line in STORED.read_text().splitlines():
        document = json.loads(line)
        for resource in document["resourceSpans"]:
            for span in resource["scopeSpans"][0]["spans"]:
                brief = [a for a in span.get("attributes", ()) if "Be brief." in json.dumps(a)]
                brief = [a for a in brief if a["key"] == "gen_ai.system_instructions"]
                if brief and "conversation-1" in json.dumps(span) and not first:
                    span["attributes"].remove(brief[0])
                first = first and not brief
        lines.append(json.dumps(document))
    spans = tmp_path / "spans.jsonl"
    spans.write_text("\n".join(lines))
    assert spans.read_text().count("Be brief.") < STORED.read_text().count("Be brief.")
    assert_whole(spans)


def chat(spot: int, told: list[Any], reply: str, **more: Any) -> dict[str, Any]:
    """A span of a model's call."""

    def text(value: Any) -> dict[str, Any]:
        return {"stringValue": value if isinstance(value, str) else json.dumps(value)}

    about = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": told,
        "gen_ai.output.messages": [says("assistant", reply)],
        **more,
    }
    return {
        "traceId": "t1",
        "spanId": f"s{spot}",
        "startTimeUnixNano": str(10**18 + spot),
        "endTimeUnixNano": str(10**18 + spot),
        "attributes": [{"key": key, "value": text(value)} for key, value in about.items()],
    }


def says(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def document(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def test_calls_that_tell_only_what_is_new(tmp_path: Path) -> None:
    name = {"gen_ai.conversation.id": "c"}
    spans = [
        chat(1, [says("user", "One?")], "1.", **name),
        chat(2, [says("user", "Two?")], "2.", **name),
    ]
    path = samples.write(tmp_path / "spans.json", document(*spans))
    (found,) = read_whole(path, "otel")
    assert [m.text for m in found.messages] == ["One?", "1.", "Two?", "2."]
    # Without a conversation the second begins anew, and is kept beside the first.
    apart = [chat(1, [says("user", "One?")], "1."), chat(2, [says("user", "Two?")], "2.")]
    (found,) = read_whole(samples.write(tmp_path / "apart.json", document(*apart)), "otel")
    assert [m.text for m in found.messages] == ["One?", "1."]
    assert len(found.metadata["other_calls"]) == 1


def broken(**change: Any) -> dict[str, Any]:
    return {**chat(1, [says("user", "One?")], "1."), **change}


@pytest.mark.parametrize(
    ("span", "words"),
    [
        (broken(traceId=7), r"spans\[0\].traceId: expected an id"),
        (broken(startTimeUnixNano="soon"), "startTimeUnixNano: expected nanoseconds"),
        (broken(attributes={"a": 1}), "attributes: expected a list"),
        (
            broken(attributes=[{"key": "gen_ai.x", "value": 3}]),
            r"attributes\[0\].value: expected a value",
        ),
        (chat(1, [{"role": "user"}], "1."), r"messages\[0\]: expected a message"),
        (chat(1, [says("robot", "One?")], "1."), "role: expected one of"),
        (
            chat(1, [], "", **{"gen_ai.output.messages": "[{"}),
            "gen_ai.output.messages: expected a list of messages",
        ),
        ({**chat(1, [], "1."), "attributes": []}, "must record message content"),
        ("span", r"spans\[0\]: expected a span"),
    ],
)
def test_a_fault_names_its_place(span: Any, words: str, tmp_path: Path) -> None:
    path = samples.write(tmp_path / "spans.json", document(span))
    with pytest.raises(FileRefused, match=words):
        check_file(path, "otel")


def test_events_in_logs_complete_their_spans(tmp_path: Path) -> None:
    """Content and evaluations may be logged apart from the spans."""
    span = chat(1, [], "")
    contents = span["attributes"][2:]
    contents[0]["value"]["stringValue"] = json.dumps([says("user", "One?")])
    contents[1]["value"]["stringValue"] = json.dumps([says("assistant", "1.")])
    span["attributes"] = span["attributes"][:2]
    event = {"traceId": "t1", "spanId": "s1", "timeUnixNano": "1"}
    name = "gen_ai.client.inference.operation.details"
    score = [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "solved"}},
        {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.5}},
    ]
    judged = {**event, "spanId": "", "eventName": "gen_ai.evaluation.result", "attributes": score}
    logs = [{**event, "eventName": name, "attributes": contents}, {**judged, "spanId": "s9"}]
    lines = [document(span), {"resourceLogs": [{"scopeLogs": [{"logRecords": logs}]}]}]
    (found,) = read_whole(samples.write_lines(tmp_path / "spans.jsonl", lines), "otel")
    assert [m.text for m in found.messages] == ["One?", "1."]
    assert found.scores == {"reward": 0.5, "solved": 0.5}
