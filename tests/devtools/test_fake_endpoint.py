"""The fake endpoint itself: what it says, what it does wrong, and what it counts."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.systems.adaplanbench.parsers import PARSERS
from devtools.fake_endpoint.models import MODELS, model_named
from devtools.fake_endpoint.replies import Reader, reply_to
from devtools.fake_endpoint.server import FakeServer
from tests.benchmarks.llm.stage import Play
from tests.benchmarks.systems.adapt.stage import every_task, play, saying

ROOT = Path(__file__).resolve().parents[2]
PLAN = "1. Go over it with a hair dryer.\n2. Tie a string round it."


def post(url, body, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/chat/completions", data, headers)
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


def get(server, path):
    url = server.base_url.removesuffix("/v1") + path
    with urllib.request.urlopen(url, timeout=10) as reply:
        return json.load(reply)


def body(*texts, model="fake", seed=1):
    roles = ("system", "user", "assistant", "user")
    messages = [{"role": r, "content": t} for r, t in zip(roles, texts, strict=False)]
    return {"model": model, "messages": messages, "seed": seed}


def asks_of_an_episode():
    """One ask for each role of AdaPlanBench, as its own episode puts them."""
    from benchmarks.systems.adaplanbench.asks import AdaPlanAsks, EarlierDialogue, split_constraints

    task = Play().task
    constraints = split_constraints(task, "both")
    asks = AdaPlanAsks(task, constraints)
    point = {"title": "Safety", "reasons": ["It may burn."]}
    return [
        asks.agent(EarlierDialogue(), False),
        asks.constraint_judge("world", PLAN, 1),
        asks.constraint_judge("user", PLAN, 1),
        asks.rubric_judge("1", PLAN, 1),
        asks.simulator(EarlierDialogue(), PLAN, [(constraints["world"][0], False)]),
        asks.refiner(EarlierDialogue(), PLAN, [point]),
    ]


class TestReplies:
    @pytest.mark.parametrize("ask", asks_of_an_episode(), ids=lambda ask: ask.role)
    def test_every_role_of_adaplanbench_gets_what_its_parser_reads(self, ask):
        for seed in range(20):
            messages = [{"role": m.speaker, "content": m.text} for m in ask.messages]
            text = reply_to(Reader({"model": "fake", "messages": messages, "seed": seed}))
            value = PARSERS[ask.expect.kind](text, ask.expect.params)
            if ask.expect.kind == "plan":
                assert 3 <= len(value["steps"]) <= 5

    def test_judges_go_by_the_words_of_the_plan(self):
        brief = 'Reply with {"violated": [keys]}\n- a: No hair dryer here.\n- b: No kettle here.'
        found = {"a": 0, "b": 0}
        for seed in range(300):
            for key in json.loads(reply_to(Reader(body(brief, PLAN, seed=seed))))["violated"]:
                found[key] += 1
        assert 100 < found["a"] < 200
        assert found["b"] < 60

    def test_plans_avoid_what_was_objected_to(self):
        told = "No towels, no bucket, nothing with hammer, kettle, vinegar or string."
        for seed in range(50):
            text = reply_to(Reader(body("You help.", "How?", PLAN, told, seed=seed)))
            assert not re.search("bucket|hammer|kettle|vinegar|string", text)

    def test_feedback_says_the_points(self):
        text = reply_to(Reader(body("Points to tell now:\n- I have no kettle.", PLAN)))
        assert text == "I should have said: I have no kettle."

    @pytest.mark.parametrize("method", ["baseline", "react", "always_ask", "never_ask", "teacher"])
    def test_a_session_of_adapt_comes_to_its_end_with_valid_actions(self, method):
        def reply(ask):
            messages = [{"role": m.speaker, "content": m.text} for m in ask.messages]
            return reply_to(Reader({"model": "fake", "messages": messages}))

        task = every_task()[0]
        turns, outcome, _ = play(task, saying(reply), saying(reply), method=method)
        assert outcome.termination == "done"
        assert outcome.metrics["invalid"] == 0
        assert any(turn.payload["parsed"]["kind"] == "move" for turn in turns)
        silent = method in ("never_ask", "teacher")
        assert bool(outcome.metrics["disclosed"]) is not silent
        assert outcome.metrics["questions"] == (0 if silent else 2)

    def test_the_same_request_gets_the_same_reply(self):
        assert reply_to(Reader(body("a", "b"))) == reply_to(Reader(body("a", "b")))


class TestServing:
    def test_a_completion_in_the_usual_form(self, server):
        reply = post(server.base_url, body("You help.", "How?"))
        assert reply["object"] == "chat.completion"
        assert reply["choices"][0]["message"]["role"] == "assistant"
        assert reply["usage"]["total_tokens"] > 0

    @pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"7", b'{"messages": 5}'])
    def test_what_is_no_request_is_refused(self, server, sent):
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server.base_url, sent)
        assert refused.value.code == 400
        refused.value.close()

    def test_a_key_can_be_required(self, serve):
        server = serve(key="open sesame")
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server.base_url, body("a", "b"))
        assert refused.value.code == 401
        refused.value.close()
        assert post(server.base_url, body("a", "b"), Authorization="Bearer open sesame")

    def test_it_lists_its_models(self, server):
        listed = get(server, "/v1/models")["data"]
        assert [model["id"] for model in listed] == list(MODELS)

    def test_unknown_models_work(self):
        assert model_named("gpt-99") is MODELS["fake"]

    def test_it_counts_what_it_was_asked(self, server):
        for seed in (1, 1, 2):
            post(server.base_url, body("a", "b", seed=seed))
        with pytest.raises(urllib.error.HTTPError) as refused:
            post(server.base_url, body("a", "b", model="down"))
        refused.value.close()
        told = get(server, "/counts")
        billed = told.pop("billed")
        assert told.pop("began") == {}
        # a question and an answer may be billed, a refusal may not
        assert billed["tokens_in"] % 3 == 0 and billed["tokens_out"] > 0
        assert told == {
            "received": 4,
            "answered": 3,
            "distinct": 3,
            "answered_again": 1,
            "faults": {"503": 1},
            "models": {"fake": 3, "down": 1},
            "redirects_followed": 0,
            "most_at_once": 1,
        }

    def test_faults_by_chance_are_the_same_in_each_run(self, serve):
        def faults():
            server = serve(shares={"500": 0.2})
            failed = []
            for seed in range(100):
                try:
                    post(server.base_url, body("a", "b", seed=seed))
                except urllib.error.HTTPError as error:
                    error.close()
                    failed.append(seed)
            return failed

        first = faults()
        assert 8 < len(first) < 35
        assert faults() == first

    def test_many_at_once(self, serve):
        server = serve(latency=0.1)
        with ThreadPoolExecutor(60) as pool:
            list(pool.map(lambda n: post(server.base_url, body("a", "b", seed=n)), range(60)))
        assert get(server, "/counts")["answered"] == 60


@pytest.mark.slow
def test_the_command_says_where_it_is_and_stops_when_told():
    command = [sys.executable, "manage.py", "fake_endpoint", "--port", "0"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/v1", first)
        assert found, first
        reply = post(found[0], body("You help.", "How do I dry a wet floor?"))
        assert reply["choices"][0]["message"]["content"].startswith("1. ")
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(60) == 0
        finally:
            process.kill()
        rest = process.stdout.read()
    for name in MODELS:
        assert name in rest


def test_a_stream_begins_when_its_first_piece_is_sent() -> None:
    with FakeServer() as server:
        asked = body("a", "b", seed=5) | {"stream": True}
        request = urllib.request.Request(
            f"{server.base_url}/chat/completions", json.dumps(asked).encode()
        )
        with urllib.request.urlopen(request) as response:
            lines = response.read().decode().splitlines()
        began = get(server, "/counts")["began"]
    assert lines[-2] == "data: [DONE]" and json.loads(lines[0][6:])["choices"][0]["delta"]
    assert time.time() - 60 < began["5"] <= time.time()
