"""An endpoint answers, or fails in all the ways there are, over real HTTP."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from benchmarks.core.errors import AnswererFailed, OutcomeUnknown
from benchmarks.llm.connections import open_connection
from benchmarks.llm.hosts import LOOPBACK
from benchmarks.llm.retries import RetryPolicy
from tests.benchmarks.llm.stage import KEY, LOOKUP, QUICK, VARIABLE, Clock, answerer, ask

PRICED = {"price_in": 1.0, "price_out": 2.0}


def failure(who, **said) -> str:
    with pytest.raises(AnswererFailed) as failed:
        who.answer(ask(**said), 1)
    return str(failed.value)


class TestAnswers:
    def test_text_tokens_cost_latency_and_model(self, serve):
        server = serve(latency=0.02)
        answer = answerer(server, **PRICED).answer(ask(), 1)
        assert answer.text.startswith("1. ")
        assert answer.tokens_in and answer.tokens_out
        assert answer.cost == pytest.approx((answer.tokens_in + 2 * answer.tokens_out) / 1e6)
        assert answer.latency is not None and 0.02 <= answer.latency < 2
        assert (answer.model_reported, answer.finish) == ("fake-2025", "stop")

    def test_equal_asks_and_seeds_get_equal_answers_others_do_not(self, server):
        who = answerer(server)
        texts = [who.answer(ask(), seed).text for seed in (1, 1, 2, 3)]
        assert texts[0] == texts[1]
        assert len(set(texts)) > 1
        assert [r["seed"] for r in server.requests] == [1, 1, 2, 3]

    def test_the_key_travels_in_its_header_alone(self, serve):
        server = serve(key=KEY)
        answerer(server).answer(ask(), 1)
        assert server.last_headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in json.dumps(list(server.requests))

    def test_an_endpoint_without_a_key_gets_none(self, server):
        answerer(server, key_variable="").answer(ask(), 1)
        assert "authorization" not in server.last_headers

    @pytest.mark.parametrize("model", ["thinks", "think-tags"])
    def test_reasoning_stands_apart(self, server, model):
        answer = answerer(server, model).answer(ask(), 1)
        assert answer.text.startswith("1. ")
        assert answer.reasoning.startswith("The question wants")

    def test_a_reply_without_usage_has_no_cost(self, server):
        answer = answerer(server, "no-usage", **PRICED).answer(ask(), 1)
        assert (answer.tokens_in, answer.tokens_out, answer.cost) == (None, None, None)

    def test_without_prices_there_is_no_cost(self, server):
        answer = answerer(server, price_in=1.0).answer(ask(), 1)
        assert answer.tokens_in is not None
        assert answer.cost is None

    @pytest.mark.parametrize(
        ("model", "finish"),
        [("garbage", "stop"), ("empty", "stop"), ("cut-off", "length"),
         ("filtered", "content_filter")],
    )  # fmt: skip
    def test_poor_replies_are_answers_for_the_parser_to_judge(self, server, model, finish):
        answer = answerer(server, model).answer(ask(), 1)
        assert answer.finish == finish
        assert server.counts.received == 1

    def test_schemas_are_followed(self, server):
        schema = {"type": "object", "properties": {"n": {"type": "integer", "enum": [4]}}}
        who = answerer(server, structured="json_schema", schemas={"number": lambda params: schema})
        assert json.loads(who.answer(ask(kind="number"), 1).text) == {"n": 4}

    def test_tools_are_called(self, server):
        who = answerer(server, native_tools=True)
        said = json.loads(who.answer(ask(tools=(LOOKUP,)), 1).text)
        assert said["content"] == ""
        assert said["tool_calls"][0]["function"]["name"] == "look_up"


class TestTroubles:
    @pytest.mark.parametrize(
        ("model", "tries"),
        [("fake", 1), ("flaky-429", 2), ("flaky-500", 3), ("error-inside", 2)],
    )
    def test_what_passes_is_tried_again(self, server, model, tries):
        answer = answerer(server, model).answer(ask(), 1)
        assert answer.text.startswith("1. ")
        assert server.counts.received == answer.tries == tries

    @pytest.mark.parametrize(
        ("model", "reason"),
        [
            ("busy", "answered 429 (rate_limit_exceeded)"),
            ("down", "answered 503 (server_error)"),
        ],
    )
    def test_what_lasts_fails_after_a_few_tries(self, server, model, reason):
        said = failure(answerer(server, model))
        assert said == f"endpoint 'test': {reason}, gave up after 4 tries"
        assert server.counts.received == 4

    @pytest.mark.parametrize(
        ("model", "reason", "again"),
        [
            ("hang-up", "the connection broke off", True),
            ("stall", "no complete reply within 1 s", True),
            ("drip", "no complete reply within 1 s", True),
            ("compressed", "a reply that is no JSON", True),
            ("not-json", "a reply that is no JSON", True),
            ("not-a-chat", "a reply without a choice", True),
            ("flood", "the reply is longer than 8388608 bytes", False),
        ],
    )
    def test_what_may_have_been_billed_is_left_to_who_asked(self, server, model, reason, again):
        limit = 1.0 if model in {"stall", "drip"} else 5.0
        with pytest.raises(OutcomeUnknown) as unknown:
            answerer(server, model, timeout=limit).answer(ask(), 1)
        assert str(unknown.value) == f"endpoint 'test': {reason}"
        assert (unknown.value.tries, unknown.value.again) == (1, again)
        assert server.counts.received == 1

    @pytest.mark.parametrize(
        ("model", "reason"),
        [
            ("refuses", "answered 400 (bad_request)"),
            ("unauthorized", "answered 401: it does not accept the key in PLANJURY_KEY_TEST"),
            ("quota", "answered 429 (insufficient_quota)"),
            ("redirect", "answered 302: redirects are not followed"),
        ],
    )
    def test_what_waiting_does_not_cure_fails_at_once(self, server, model, reason):
        assert failure(answerer(server, model)) == f"endpoint 'test': {reason}"
        assert server.counts.received == 1

    def test_nobody_there(self, serve):
        server = serve()
        gone = answerer(server, base_url="http://127.0.0.1:9/v1")  # the discard port
        said = failure(gone)
        assert said == "endpoint 'test': cannot be reached, gave up after 4 tries"

    def test_words_of_the_server_are_quoted_only_where_that_is_wished(self, server):
        assert "temperature" not in failure(answerer(server, "refuses"))
        quoting = failure(answerer(server, "refuses", quotes=True))
        assert "“Unsupported value: 'temperature' does not support 0.2" in quoting

    def test_a_missing_key_is_named(self, server):
        who = replace(answerer(server), environ={})
        assert failure(who) == f"endpoint 'test': the environment variable {VARIABLE} is not set"
        assert server.counts.received == 0

    def test_a_host_that_is_not_allowed_is_not_called(self, server):
        assert "not in the list" in failure(answerer(server, hosts=["models.example.org"]))
        assert server.counts.received == 0


class TestWaiting:
    def test_pauses_are_those_of_the_policy_and_the_seed(self, serve):
        def pauses(seed):
            clock = Clock()
            quiet = serve(retry_after="")
            who = answerer(quiet, "down", sleep=clock.sleep, policy=RetryPolicy(tries=5))
            with pytest.raises(AnswererFailed):
                who.answer(ask(), seed)
            return clock.slept

        first = pauses(1)
        assert len(first) == 4
        assert all(p <= span for p, span in zip(first, (0.5, 1, 2, 4), strict=True))
        assert pauses(1) == first
        assert pauses(2) != first

    def test_retry_after_is_respected(self, serve):
        clock = Clock()
        who = answerer(serve(retry_after="0.2"), "flaky-429", sleep=clock.sleep)
        began = time.monotonic()
        who.answer(ask(), 1)
        assert len(clock.slept) == 1
        assert 0.2 <= clock.slept[0] <= 0.21
        # and since nobody really slept, the limiter has held the second try back
        assert time.monotonic() - began >= 0.19

    def test_a_date_in_retry_after(self, serve):
        def told(policy):
            server = serve(retry_after="Thu, 29 Feb 2024 12:00:03 GMT")
            noon = 19_782.5 * 86_400
            return failure(answerer(server, "busy", wall=lambda: noon, policy=policy))

        assert told(RetryPolicy(patience=2.0)).endswith("asks to wait 3 s")
        assert told(RetryPolicy(total=1.0)).endswith("no time is left")

    def test_who_asks_for_too_much_patience_has_failed(self, serve):
        server = serve(retry_after="3600")
        said = failure(answerer(server, "busy"))
        assert said == "endpoint 'test': answered 429 (rate_limit_exceeded), asks to wait 3600 s"
        assert server.counts.received == 1

    def test_all_tries_together_are_bounded_in_time(self, serve):
        clock, server = Clock(), serve(retry_after="")
        policy = RetryPolicy(tries=1000, base=8.0, total=60.0)
        who = answerer(server, "down", sleep=clock.sleep, clock=clock, policy=policy)
        assert "no time is left" in failure(who)
        assert clock.now - 1000 <= 60
        assert server.counts.received < 30

    def test_sleep_may_give_up_early(self, server):
        def stopped(seconds):
            raise AnswererFailed("stopped")

        assert failure(answerer(server, "busy", sleep=stopped)) == "stopped"


class TestLimits:
    def test_two_hundred_calls_at_once(self, serve):
        # Long enough that a busy machine has begun most calls before the first is answered.
        server = serve(latency=3.0)
        who = answerer(server, concurrency=200, timeout=60.0)
        with ThreadPoolExecutor(200) as pool:
            answers = list(pool.map(lambda seed: who.answer(ask(), seed), range(200)))
        assert all(answer.text.startswith("1. ") for answer in answers)
        assert server.counts.received == server.counts.report()["answered"] == 200
        assert server.counts.most_at_once > 50

    def test_never_more_at_once_than_configured(self, serve):
        server = serve(latency=0.01)
        who = answerer(server, concurrency=3)
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda seed: who.answer(ask(), seed), range(40)))
        assert server.counts.most_at_once <= 3

    def test_answerers_of_one_endpoint_share_its_limit(self, serve):
        server = serve(latency=0.01)
        several = [
            answerer(server, name=f"variant-{n}", concurrency=2, parameters={"top_k": n})
            for n in range(1, 6)
        ]
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda n: several[n % 5].answer(ask(), n), range(30)))
        assert server.counts.most_at_once <= 2

    def test_it_adapts_to_what_the_endpoint_bears(self, serve):
        # Long enough that a busy machine, too, has begun more than four before the first is over.
        server = serve(at_once=4, latency=0.1, retry_after="")
        who = answerer(server, concurrency=32, policy=replace(QUICK, tries=12))
        limiter = open_connection(who.config, LOOPBACK, who.environ).limiter
        seen = []

        def call(seed):
            answer = who.answer(ask(), seed)
            seen.append(limiter.limit)
            return answer

        with ThreadPoolExecutor(32) as pool:
            answers = list(pool.map(call, range(200)))
        assert len(answers) == 200
        assert max(seen[50:]) <= 16
        refused = server.counts.faults["429"]
        assert 0 < refused < 120  # without adapting, 28 of each 32 calls would be refused

    def test_calls_per_minute(self, serve):
        server = serve()
        who = answerer(server, requests_per_minute=600)  # ten a second, ten at once
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda seed: who.answer(ask(), seed), range(15)))
        assert time.monotonic() - began >= 0.45

    def test_a_time_out_halves_what_is_under_way(self, serve):
        server = serve()
        who = answerer(
            server, "stall", concurrency=8, timeout=0.3, policy=replace(QUICK, longest=0.0)
        )
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: failure(who), range(8)))
        assert open_connection(who.config, LOOPBACK, who.environ).limiter.limit <= 4

    def test_waiting_for_a_place_takes_no_time_from_a_call(self, serve):
        server = serve(latency=0.4)
        who = answerer(server, concurrency=1, policy=replace(QUICK, total=3.0))
        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(lambda seed: who.answer(ask(), seed), range(10)))
        assert len(answers) == 10

    def test_who_finds_no_place_in_time_has_failed(self, serve):
        server = serve()
        slow = answerer(server, "stall", concurrency=1, timeout=3.0, policy=replace(QUICK, tries=1))
        other = replace(slow, policy=replace(QUICK, queue=0.1))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(slow.answer, ask(), 1)
            while not server.counts.received:
                time.sleep(0.005)
            assert "no place became free in time" in failure(other)
        assert server.counts.received == 1


def test_a_line_is_opened_once_for_all_threads(serve):
    server, start = serve(), threading.Barrier(8)

    def call(seed):
        start.wait()
        return answerer(server).answer(ask(), seed)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(call, range(8)))
    who = answerer(server)
    lines = {id(open_connection(who.config, LOOPBACK, who.environ)) for _ in range(3)}
    assert len(lines) == 1
