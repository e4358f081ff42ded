"""The most that a call can cost is never less than what it does cost."""

import pytest

from benchmarks.llm.chat import request_body
from benchmarks.llm.endpoint import estimate_cost, estimate_tokens
from tests.benchmarks.llm.stage import answerer, ask, config


class TestEstimates:
    def test_a_prompt_has_at_most_a_token_per_byte(self):
        # é is two bytes; around the text stand the message's own 28 bytes of JSON.
        message = {"role": "user", "content": "é" * 100}
        assert estimate_tokens([message]) >= 200

    def test_prices_times_the_longest_prompt_and_reply(self):
        endpoint = config(price_in=1.0, price_out=5.0, parameters={"max_tokens": 1000})
        body = request_body(endpoint, ask("b" * 400, "u" * 600), 1, {})
        estimate = estimate_cost(endpoint, body)
        assert estimate is not None
        # 1,000 tokens at 5 per million, and the prompt: more than its 1,000 letters, not much more
        assert 0.005 + 0.001 < estimate < 0.005 + 0.00125

    def test_tools_and_schemas_count(self):
        endpoint = config(price_in=1.0, price_out=1.0, parameters={"max_tokens": 1})
        body = request_body(endpoint, ask(), 1, {})
        bare = estimate_cost(endpoint, body)
        with_tools = estimate_cost(endpoint, body | {"tools": [{"name": "x" * 1000}]})
        assert bare is not None and with_tools is not None
        assert with_tools - bare >= 0.001

    @pytest.mark.parametrize(
        "changes",
        [
            {"price_in": 1.0, "price_out": 1.0},
            {"price_in": 1.0, "parameters": {"max_tokens": 5}},
            {"price_out": 1.0, "parameters": {"max_tokens": 5}},
        ],
    )
    def test_without_prices_or_a_longest_reply_there_is_none(self, changes):
        endpoint = config(**changes)
        assert estimate_cost(endpoint, request_body(endpoint, ask(), 1, {})) is None

    def test_who_takes_nothing_for_replies_needs_no_longest(self):
        endpoint = config(price_in=0.0, price_out=0.0)
        assert estimate_cost(endpoint, request_body(endpoint, ask(), 1, {})) == 0


def test_an_answerer_says_the_most_that_an_answer_costs(server):
    who = answerer(server, price_in=1.0, price_out=2.0, parameters={"max_tokens": 500})
    most = who.most(ask(), 1)
    cost = who.answer(ask(), 1).cost
    assert most is not None and cost is not None
    assert 0 < cost < most
