"""Language models in the agent's place: requests and completions in the chat format."""

import json

import pytest

from benchmarks.llm.chat import read_completion, request_body
from benchmarks.llm.config import EndpointConfig
from devtools.fake_endpoint.replies import Reader, tool_call
from tests.benchmarks.systems.planbench_xl.stage import Stage

REQUEST = {"meta_tool": "by_output_info", "output_information": "order row"}


def config(native):
    return EndpointConfig(
        name="test", base_url="http://localhost:1/v1", model="model", native_tools=native
    )


def completion(message):
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def called(name, arguments, key):
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(stage, message, native):
    return stage.say(read_completion(completion(message), stage.ask, native).text)


def test_a_model_that_calls_functions():
    stage = Stage(calling="native")
    body = request_body(config(True), stage.ask, 1, {})
    assert [tool["function"]["name"] for tool in body["tools"]][0] == "retrieve_tools"

    calls = [called("retrieve_tools", json.dumps(REQUEST), "c-1"), called("?", "", "c-2")]
    turn = said(stage, {"content": None, "tool_calls": calls}, True)
    assert turn.payload["category"] == "retrieve_ok"

    *_, first, one, two = request_body(config(True), stage.ask, 1, {})["messages"]
    assert [call["id"] for call in first["tool_calls"]] == ["c-1", "c-2"]
    assert [(m["role"], m["tool_call_id"]) for m in (one, two)] == [
        ("tool", "c-1"),
        ("tool", "c-2"),
    ]
    assert one["content"] == turn.feedback


def test_a_model_that_knows_no_functions_writes_them():
    stage = Stage(calling="native")
    body = request_body(config(False), stage.ask, 1, {})
    assert "tools" not in body
    assert "call_tool" in body["messages"][0]["content"]

    text = json.dumps({"tool_calls": [{"name": "retrieve_tools", "arguments": REQUEST}]})
    assert said(stage, {"content": text}, False).payload["category"] == "retrieve_ok"
    answered = request_body(config(False), stage.ask, 1, {})["messages"]
    assert [message["role"] for message in answered[-2:]] == ["assistant", "user"]


@pytest.mark.parametrize("native", [True, False])
def test_words_alone_are_no_call(native):
    stage = Stage(calling="native")
    assert said(stage, {"content": "Let me see."}, native).payload["category"] == "err_label"
    assert (
        request_body(config(native), stage.ask, 1, {})["messages"][-2]["content"] == "Let me see."
    )


def test_a_model_that_writes_tags():
    stage = Stage()
    body = request_body(config(True), stage.ask, 1, {})
    assert set(body) == {"model", "messages", "seed"}

    text = f"I need a tool.\n<retrieve_tools>{json.dumps(REQUEST)}</retrieve_tools>"
    assert said(stage, {"content": text}, True).payload["category"] == "retrieve_ok"


def test_an_empty_reply_is_not_sent_back_empty():
    """Endpoints refuse messages without content."""
    stage = Stage()
    stage.say("")
    assert request_body(config(True), stage.ask, 1, {})["messages"][-2]["content"].strip()


def test_the_fake_endpoint_can_be_the_agent():
    stage = Stage(calling="native", max_call_errors=50, max_retrieval_errors=50)
    for seed in range(6):
        body = request_body(config(True), stage.ask, seed, {})
        call = tool_call(Reader(body)) or called("final_answer", '{"answer": "enough"}', "end")
        said(stage, {"content": None, "tool_calls": [call]}, True)
        if stage.outcome:
            break
    assert stage.outcome.termination in ("answered", "max_steps")


@pytest.mark.parametrize(
    "call", [{}, {"function": "x"}, {"id": 5, "function": {"name": ["y"], "arguments": [1]}}]
)
def test_calls_of_any_shape_can_be_sent_back(call):
    stage = Stage(calling="native")
    turn = stage.say(json.dumps({"content": 7, "tool_calls": [call, None, "z"]}))

    assert turn.payload["category"] == "err_label"
    sent = request_body(config(True), stage.ask, 1, {})["messages"][-2]["tool_calls"]
    assert isinstance(sent[0]["function"]["arguments"], str)
