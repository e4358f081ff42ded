"""Texts are scored by completions that echo their prompt; nothing is guessed without them."""

import json
import math
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from benchmarks.core.errors import AnswererFailed
from benchmarks.llm.scoring import PROMPT_FORMS, read_scores, scoring_body
from benchmarks.llm.security import ReplyRefused
from tests.benchmarks.llm.stage import answerer, ask, config

ASK = ask("You help.", "Eggs?", kind="scores", continuation="Open fridge_0")
TOKENS = ["<s>", "You", " help", ":\n", "Open", " fridge", "_0", "\n"]
LOGPROBS = [None, -1.0, -1.0, -1.0, math.log(0.5), math.log(0.25), 0.0, -3.0]


def reply(tokens=TOKENS, logprobs=LOGPROBS, made=1, **changes):
    listed = {"tokens": tokens, "token_logprobs": logprobs}
    usage = {"prompt_tokens": 7, "completion_tokens": made}
    choice = {"text": "", "logprobs": listed, **changes}
    return json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode()


class TestReading:
    def test_the_tokens_of_the_text_and_no_others(self):
        done = read_scores(reply(), ASK)
        found = json.loads(done.text)
        assert found["tokens"] == ["Open", " fridge", "_0"]
        assert found["probabilities"] == pytest.approx([0.5, 0.25, 1.0])
        assert (done.tokens_in, done.tokens_out, done.model) == (7, 1, "m")

    def test_tokens_that_end_within_a_character(self):
        put = ask("You help.", "Eggs?", kind="scores", continuation="Ask é?")
        done = read_scores(reply(["?\n", "Ask", " ", "", "é", "?", "x"], [-1.0] * 7), put)
        assert json.loads(done.text)["tokens"] == ["Ask", " ", "", "é", "?"]

    @pytest.mark.parametrize("made", [0, None])
    def test_servers_that_make_no_token_or_do_not_say(self, made):
        done = read_scores(reply(TOKENS[:-1], LOGPROBS[:-1], made), ASK)
        assert json.loads(done.text)["tokens"] == ["Open", " fridge", "_0"]

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"<html>", "no log probabilities"),
            (b"[" * 100_000, "no log probabilities"),
            (b"[]", "no log probabilities"),
            (reply(logprobs=None), "do not go with"),
            (json.dumps({"choices": [{"text": "x", "logprobs": None}]}).encode(), "no log prob"),
            (reply(TOKENS[:3]), "do not go with"),
            (reply(TOKENS[-1:], LOGPROBS[-1:]), "does not repeat"),
            (reply(["a", "b"], [-1.0, -1.0]), "does not repeat"),
            (reply([*TOKENS[:3], ":\nOpen", *TOKENS[5:]], LOGPROBS[1:]), "belongs to the prompt"),
            (reply(logprobs=[None] * 8), "no log probability"),
            (reply(logprobs=[0.5] * 8), "no log probability"),
            (reply(logprobs=["-1"] * 8), "no log probability"),
        ],
    )
    def test_what_has_no_numbers_is_refused(self, content, words):
        with pytest.raises(ReplyRefused, match=words):
            read_scores(content, ASK)


class TestRequests:
    def test_messages_and_text_are_one_prompt(self):
        body = scoring_body(config(parameters={"temperature": 0.9, "max_tokens": 50}), ASK)
        assert body["prompt"].endswith("assistant:\nOpen fridge_0")
        assert (body["echo"], body["logprobs"], body["max_tokens"]) == (True, 1, 1)
        assert body["temperature"] == 0

    @pytest.mark.parametrize("form", PROMPT_FORMS)
    def test_every_form_ends_where_the_assistant_begins(self, form):
        put = replace(ASK, expect=replace(ASK.expect, params={
            **ASK.expect.params, "prompt_form": form}))  # fmt: skip
        prompt = scoring_body(config(), put)["prompt"]
        head, _, rest = prompt.rpartition("assistant")
        assert "You help." in head and "Eggs?" in head and rest.endswith("Open fridge_0")

    def test_what_it_costs_at_most_is_known_before(self, server):
        who = answerer(server, price_in=1.0, price_out=2.0)
        assert who.most(ASK, 1) > len("You help.") / 1e6


class Scoring(BaseHTTPRequestHandler):
    """Answers completions with the reply above."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.server.paths.append(self.path)
        self.send_response(200)
        self.send_header("content-length", str(len(self.server.reply)))
        self.end_headers()
        self.wfile.write(self.server.reply)


@pytest.fixture
def scoring():
    server = HTTPServer(("127.0.0.1", 0), Scoring)
    server.paths, server.reply = [], reply()
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_over_http(scoring, server):
    url = f"http://127.0.0.1:{scoring.server_port}/v1"
    who = answerer(server, base_url=url, price_in=1.0, price_out=1.0)
    answer = who.answer(ASK, 1)
    assert json.loads(answer.text)["tokens"] == ["Open", " fridge", "_0"]
    assert answer.cost == 8 / 1e6 and scoring.paths == ["/v1/completions"]
    scoring.reply = json.dumps({"choices": [{"text": "Open fridge_0", "logprobs": None}]}).encode()
    with pytest.raises(AnswererFailed, match="endpoint 'test'.*echo.*logprobs"):
        who.answer(ASK, 1)
    assert len(scoring.paths) == 2  # what lacks them now will lack them again


def test_the_fake_endpoint_scores_texts(server):
    done = json.loads(answerer(server).answer(ASK, 1).text)
    assert "".join(done["tokens"]) == "Open fridge_0"
    assert all(0 < value <= 1 for value in done["probabilities"])
    assert json.loads(answerer(server).answer(ASK, 2).text) == done


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("chat-only", "answered 404.*/completions.*logprobs"),
        ("no-logprobs", "no log probabilities.*echo.*logprobs"),
    ],
)
def test_an_endpoint_that_cannot_score_says_so(server, model, words):
    with pytest.raises(AnswererFailed, match=words):
        answerer(server, model).answer(ASK, 1)
