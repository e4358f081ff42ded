"""Streamed replies: the same answers as at once, seen while they grow, and bounded."""

import json
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from benchmarks.core.errors import AnswererFailed, OutcomeUnknown
from benchmarks.core.types import Ask
from benchmarks.llm import transport
from benchmarks.llm.chat import MalformedReply
from benchmarks.llm.endpoint import EndpointAnswerer
from benchmarks.llm.streaming import LONGEST_SHOWN, StreamedCompletion, visible_text
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.llm.stage import LOOKUP, answerer, ask


def event(text: str, finish: str | None = None) -> str:
    choice = {"delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n"


def streaming(
    server: FakeServer, model: str, **changes: object
) -> tuple[EndpointAnswerer, list[str]]:
    """An answerer that streams, and the texts that were to be seen of its replies."""
    seen: list[str] = []

    def grows(ask: Ask) -> Callable[[str], None]:
        return seen.append

    return replace(answerer(server, model, **changes), grows=grows), seen


@pytest.mark.parametrize("model", ["fake", "thinks", "think-tags", "no-usage", "empty"])
def test_a_streamed_reply_is_the_same_as_one_at_once(model: str) -> None:
    with FakeServer() as server:
        who, seen = streaming(server, model)
        streamed, whole = who.answer(ask(), 7), answerer(server, model).answer(ask(), 7)
    assert replace(streamed, latency=None) == replace(whole, latency=None)
    assert seen[0] == ""
    if streamed.text:
        assert seen[-1] == streamed.text
        assert all(streamed.text.startswith(text) for text in seen)


def test_calls_of_tools_are_streamed_in_parts() -> None:
    with FakeServer() as server:
        who, _ = streaming(server, "fake", native_tools=True)
        streamed = who.answer(ask(tools=(LOOKUP,)), 7)
        whole = answerer(server, native_tools=True).answer(ask(tools=(LOOKUP,)), 7)
    assert streamed.text == whole.text and "look_up" in whole.text


@pytest.mark.parametrize("model", ["no-streams", "unstreamed"])
def test_a_server_that_cannot_stream_answers_at_once(model: str) -> None:
    with FakeServer() as server:
        who, seen = streaming(server, model)
        texts = {who.answer(ask(), 7).text for _ in range(3)}
        asked = [body.get("stream", False) for body in server.requests]
    assert len(texts) == 1 and set(seen) == {""}
    # One refusal is enough.
    assert asked == ([False] * 3 if model == "no-streams" else [True] * 3)


def test_the_first_piece_is_seen_long_before_the_last() -> None:
    with FakeServer() as server:
        who, seen = streaming(server, "writes")
        times: list[float] = []
        who = replace(who, grows=lambda ask: lambda text: times.append(time.monotonic()))
        who.answer(ask(), 7)
        ended = time.monotonic()
    assert len(times) > 3 and ended - times[1] > 0.5
    assert seen == []


def test_a_stream_that_is_cut_off_is_no_reply() -> None:
    with FakeServer() as server:
        who, seen = streaming(server, "cut-twice")
        for _ in range(2):
            with pytest.raises(OutcomeUnknown, match="a stream that was cut off"):
                who.answer(ask(), 7)
        whole = who.answer(ask(), 7).text
    # Each try begins with an empty text.
    assert seen.count("") == 3 and seen[-1] == whole


def test_a_stream_without_an_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LONGEST_REPLY", 100_000)
    with FakeServer() as server:
        who, _ = streaming(server, "flood")
        with pytest.raises(OutcomeUnknown, match="longer than 100000 bytes"):
            who.answer(ask(), 7)


def test_a_stream_that_creeps_is_given_up_in_time() -> None:
    with FakeServer() as server:
        who, seen = streaming(server, "creeps", timeout=1.0)
        began = time.monotonic()
        with pytest.raises(OutcomeUnknown, match="no complete reply within 1 s"):
            who.answer(ask(), 7)
        assert time.monotonic() - began < 5
    assert len(seen[1]) == 1


def test_refusals_stay_refusals() -> None:
    with FakeServer() as server:
        who, _ = streaming(server, "refuses")
        with pytest.raises(AnswererFailed, match="answered 400"):
            who.answer(ask(), 7)


def pieces(*parts: str) -> StreamedCompletion:
    stream = StreamedCompletion(lambda text: None, time.monotonic)
    for part in parts:
        stream.feed(part.encode())
    return stream


def test_events_may_be_cut_anywhere() -> None:
    text = event("a") + "\n: comment\r\n" + event("b", "stop").replace("\n", "\r\n")
    whole = pieces(text).completion()
    assert pieces(*text).completion() == whole and b'"content": "ab"' in whole


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        ("data: {", "an event that is no JSON"),
        ("data: " + "[" * 100_000, "an event that is no JSON"),
        ("data: 3", "an event that is no object"),
        ('data: {"error": {"message": "no"}}', "an error in place of a reply"),
        (event("a"), "a stream that was cut off"),
        ('data: {"choices": [{"delta": 3}]}\ndata: {"choices": 3}', "a stream that was cut off"),
        ("", "a stream that was cut off"),
    ],
)
def test_what_is_no_stream_is_said(sent: str, why: str) -> None:
    with pytest.raises(MalformedReply, match=why):
        pieces(sent + "\n").completion()


def test_thoughts_are_never_seen() -> None:
    thought = "<think>a secret</think>\n\n1. Go"
    seen = {visible_text(thought[:end]) for end in range(len(thought) + 1)}
    assert seen == {"", "1", "1.", "1. G", "1. Go"}


def test_a_long_text_is_seen_up_to_a_bound() -> None:
    seen: list[str] = []
    stream = StreamedCompletion(seen.append, time.monotonic)
    for _ in range(100):
        stream.feed(event("x" * 1000).encode())
    stream.feed(event("", "stop").encode())
    assert len(stream.completion()) > 100_000 and len(seen[-1]) <= LONGEST_SHOWN
