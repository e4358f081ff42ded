"""Asks become requests, completions become answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.core.types import Ask, Expect, Message
from benchmarks.llm.chat import MalformedReply, read_completion, request_body, split_thoughts
from tests.benchmarks.llm.stage import LOOKUP, ask, config

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"thing": "mop"}'},
}


def completion(message=None, finish="stop", usage=None, **rest):
    message = {"role": "assistant", "content": "Hello."} if message is None else message
    usage = {"prompt_tokens": 7, "completion_tokens": 3} if usage is None else usage
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json.dumps({"model": "m-1", "choices": [choice], "usage": usage, **rest}).encode()


def read(message, asked=None, native=True, **rest):
    return read_completion(completion(message, **rest), asked or ask(), native)


class TestRequests:
    def test_messages_parameters_and_the_seed_of_the_call(self):
        body = request_body(
            config(parameters={"temperature": 0.2, "top_k": 5}), ask(), 2**40 + 3, {}
        )
        assert body == {
            "model": "fake",
            "messages": [
                {"role": "system", "content": "You help."},
                {"role": "user", "content": "How do I dry a wet floor?"},
            ],
            "seed": 3,  # in 31 bits, which every server can hold
            "temperature": 0.2,
            "top_k": 5,
        }

    @pytest.mark.parametrize(("given", "sent"), [({"seed": 5}, 5), ({"seed": None}, "none")])
    def test_a_seed_of_the_endpoint_comes_first(self, given, sent):
        assert request_body(config(parameters=given), ask(), 9, {}).get("seed", "none") == sent

    def test_a_protocol_may_ask_for_other_sampling(self):
        hot = ask(sampling={"temperature": 0.8, "model": "other", "messages": []})
        body = request_body(config(parameters={"temperature": 0.2, "top_p": 0.9}), hot, 1, {})
        assert (body["temperature"], body["top_p"], body["model"]) == (0.8, 0.9, "fake")
        assert len(body["messages"]) == 2

    def test_but_not_for_what_the_endpoint_does_not_take(self):
        hot = ask(sampling={"temperature": 0.8})
        assert "temperature" not in request_body(
            config(parameters={"temperature": None}), hot, 1, {}
        )

    def test_equal_asks_make_equal_requests(self):
        def once():
            return json.dumps(request_body(config(), ask(), 1, {}))

        assert once() == once()


class TestStructure:
    schemas = {"scores": lambda params: {"type": "object", "properties": dict(params)}}

    def body(self, structured, kind="scores"):
        asked = ask(kind=kind, a={"type": "integer"})
        return request_body(config(structured=structured), asked, 1, self.schemas)

    def test_a_schema_where_the_endpoint_has_that(self):
        assert self.body("json_schema")["response_format"] == {
            "type": "json_schema",
            "json_schema": {
                "name": "scores",
                "strict": True,
                "schema": {"type": "object", "properties": {"a": {"type": "integer"}}},
            },
        }

    def test_a_switch_where_it_has_only_that(self):
        assert self.body("json_object")["response_format"] == {"type": "json_object"}

    def test_text_where_it_has_neither(self):
        assert "response_format" not in self.body("none")

    @pytest.mark.parametrize("structured", ["json_schema", "json_object"])
    def test_replies_in_words_are_left_alone(self, structured):
        assert "response_format" not in self.body(structured, kind="plan")


class TestTools:
    dialogue = Ask(
        "agent",
        (
            Message("system", "You act."),
            Message("user", "Find the mop."),
            Message("assistant", "", tool_calls=(CALL,)),
            Message("tool", "In the cellar.", tool_call_id="c1"),
        ),
        Expect("native_action"),
        tools=(LOOKUP,),
    )

    def test_an_endpoint_that_takes_tools_gets_them_as_such(self):
        body = request_body(
            config(native_tools=True, structured="json_object"), self.dialogue, 1, {}
        )
        assert body["tools"] == [LOOKUP]
        assert body["messages"][2:] == [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "In the cellar.", "tool_call_id": "c1"},
        ]
        assert "response_format" not in body

    def test_arguments_are_sent_as_text_also_where_they_are_stored_as_values(self):
        stored = {"function": {"name": "look_up", "arguments": {"thing": "mop"}}}
        asked = Ask("agent", (Message("assistant", "", (stored,)),), Expect("x"), tools=(LOOKUP,))
        (said,) = request_body(config(native_tools=True), asked, 1, {})["messages"]
        function = {"name": "look_up", "arguments": '{"thing":"mop"}'}
        assert said["tool_calls"] == [{"id": "call_1", "type": "function", "function": function}]

    def test_another_is_told_of_them_in_words(self):
        messages = request_body(config(), self.dialogue, 1, {})["messages"]
        assert messages[0]["role"] == "system"
        assert messages[0]["content"].startswith("You act.\n\nYou can call these functions")
        assert '"name":"look_up"' in messages[0]["content"]
        assert [m["role"] for m in messages[1:]] == ["user", "assistant", "user"]
        assert "look_up" in messages[2]["content"]
        assert messages[3]["content"] == "Result of the call:\nIn the cellar."

    def test_without_a_brief_the_notice_stands_first(self):
        asked = Ask("agent", (Message("user", "Go."),), Expect("x"), tools=(LOOKUP,))
        messages = request_body(config(), asked, 1, {})["messages"]
        assert [m["role"] for m in messages] == ["system", "user"]

    def test_the_answer_is_the_whole_message_as_json(self):
        done = read({"content": None, "tool_calls": [CALL]}, self.dialogue)
        assert json.loads(done.text) == {"content": "", "tool_calls": [CALL]}

    def test_also_where_no_tool_is_called(self):
        done = read({"content": "It is in the cellar."}, self.dialogue)
        assert json.loads(done.text) == {"content": "It is in the cellar.", "tool_calls": []}

    def test_calls_in_words_become_calls(self):
        written = 'I look.\n{"tool_calls": [{"name": "look_up", "arguments": {"thing": "mop"}}]}'
        done = json.loads(read({"content": written}, self.dialogue, native=False).text)
        function = {"name": "look_up", "arguments": '{"thing":"mop"}'}
        assert done["tool_calls"] == [{"id": "call_1", "type": "function", "function": function}]

    @pytest.mark.parametrize("text", ["In the cellar.", '{"tool_calls": "none"}', '{"a": 1}'])
    def test_words_without_calls_stay_words(self, text):
        done = json.loads(read({"content": text}, self.dialogue, native=False).text)
        assert done == {"content": text, "tool_calls": []}

    def test_calls_that_nobody_offered_are_passed_over(self):
        assert read({"content": "A plan.", "tool_calls": [CALL]}).text == "A plan."


class TestReplies:
    def test_text_usage_model_and_why_it_ended(self):
        done = read({"content": "Hello."}, finish="length")
        assert (done.text, done.reasoning, done.finish) == ("Hello.", "", "length")
        assert (done.model, done.tokens_in, done.tokens_out) == ("m-1", 7, 3)

    @pytest.mark.parametrize(
        ("message", "text", "reasoning"),
        [
            ({"content": "A", "reasoning_content": "because"}, "A", "because"),
            ({"content": "A", "reasoning": "because"}, "A", "because"),
            ({"content": "<think>\nbecause\n</think>\n\nA"}, "A", "because"),
            ({"content": "<think></think>A"}, "A", ""),
            ({"content": "because\n</think>\nA"}, "A", "because"),
            ({"content": "<think>never done"}, "", "never done"),
            ({"content": "<think>a</think><think>b</think>A"}, "A", "a\n\nb"),
            ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "because"}]},
                          {"type": "text", "text": "A"}]}, "A", "because"),
            ({"content": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}]}, "AB", ""),
            ({"content": None}, "", ""),
            ({"content": None, "refusal": "I must not."}, "I must not.", ""),
            ({"content": "1. Say <think> aloud."}, "1. Say <think> aloud.", ""),
            ({"content": "  A\n"}, "  A\n", ""),
            ({"content": {"odd": 1}}, "", ""),
        ],
    )  # fmt: skip
    def test_reasoning_is_kept_apart(self, message, text, reasoning):
        done = read(message)
        assert (done.text, done.reasoning) == (text, reasoning)

    @pytest.mark.parametrize(
        ("usage", "tokens"),
        [
            ({}, (None, None)),
            ([], (None, None)),
            ({"prompt_tokens": 7}, (7, None)),
            ({"prompt_tokens": 0, "completion_tokens": 0}, (None, None)),
            ({"prompt_tokens": -1, "completion_tokens": "3"}, (None, None)),
            ({"prompt_tokens": 10**30, "completion_tokens": True}, (None, None)),
            ({"prompt_tokens": 1.5, "completion_tokens": 3}, (None, 3)),
        ],
    )
    def test_impossible_usage_is_no_usage(self, usage, tokens):
        done = read({"content": "A"}, usage=usage)
        assert (done.tokens_in, done.tokens_out) == tokens

    def test_a_reply_without_a_word_may_have_no_tokens(self):
        done = read({"content": ""}, usage={"prompt_tokens": 5, "completion_tokens": 0})
        assert done.tokens_out == 0

    @pytest.mark.parametrize("finish", ["stop", "content_filter", None])
    def test_known_ends(self, finish):
        assert read({"content": "A"}, finish=finish).finish == (finish or "")

    @pytest.mark.parametrize("finish", ["<script>", "x" * 100, "A B"])
    def test_unknown_ends(self, finish):
        assert read({"content": "A"}, finish=finish).finish == "other"

    def test_long_names_of_models_are_cut(self):
        assert len(read({"content": "A"}, model="m" * 500).model) == 120

    @pytest.mark.parametrize(
        "payload",
        [
            b"",
            b"<html>",
            b"[]",
            b"null",
            b"{}",
            b"\xff\xfe\x00",
            b'{"choices": []}',
            b'{"choices": [1]}',
            b'{"choices": [{}]}',
            b'{"choices": [{"message": "hi"}]}',
            b"[" * 100_000,
            b'{"a": ' + b"9" * 10_000 + b"}",
            completion(finish="error"),
        ],
    )
    def test_what_is_no_completion_is_said_to_be_none(self, payload):
        with pytest.raises(MalformedReply):
            read_completion(payload, ask(), False)

    def test_an_error_in_place_of_a_reply_is_told(self):
        payload = json.dumps({"error": {"code": 429, "message": "slow down"}}).encode()
        with pytest.raises(MalformedReply) as malformed:
            read_completion(payload, ask(), False)
        assert (malformed.value.code, malformed.value.words) == (429, "slow down")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "message", "content", "tool_calls", "function", "name", "usage",
                     "arguments", "error", "code", "model", "finish_reason", "reasoning", "text",
                     "type", "id", "prompt_tokens", "refusal"]
                ),
                inner,
                max_size=4,
            ),
            max_leaves=30,
        ),
        st.booleans(),
        st.booleans(),
    )  # fmt: skip
    def test_no_json_breaks_it(self, value, native, tools):
        asked = ask(tools=(LOOKUP,) if tools else ())
        message = {"content": value, "tool_calls": [value]}
        choices = [value], [{"message": value}], [{"message": message}]
        for payload in (value, *({"choices": choice} for choice in choices)):
            try:
                done = read_completion(json.dumps(payload).encode(), asked, native)
            except MalformedReply:
                continue
            assert isinstance(done.text, str) and isinstance(done.reasoning, str)

    @given(st.text(alphabet="<>/think ab"))
    def test_thoughts_and_answer_lose_nothing_but_tags_and_blanks(self, text):
        thoughts, answer = split_thoughts(text)
        if not thoughts:
            assert answer == text or "think>" in text
