"""Tests that a hostile server or environment can do no harm: over HTTP, all of it logged."""

import logging
import socket
import time
import traceback
from contextlib import suppress
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpcore2
import pytest

from benchmarks.core.answerers import Cast
from benchmarks.core.driver import Driver
from benchmarks.core.errors import AnswererFailed
from benchmarks.core.log import MemoryLog
from benchmarks.core.types import Outcome, Turn
from benchmarks.llm.hosts import AddressGate
from benchmarks.llm.security import REDACTED, Secret, read_address
from benchmarks.llm.transport import EndpointClient
from devtools.fake_endpoint.models import MODELS
from tests.benchmarks.llm.stage import KEY, QUICK, answerer, ask

PIECES = [KEY[i : i + 12] for i in range(len(KEY) - 11)]
QUESTION = "My secret wish is that nothing smells of vinegar."


def shows_key(text: str) -> bool:
    return any(piece in text for piece in PIECES)


def asked_through_the_driver(who) -> MemoryLog:
    """The log after one ask put by the real driver."""

    def episode():
        (reply,) = yield [ask("You help.", QUESTION)]
        yield Turn(1, reply.text)
        return Outcome("done", {})

    log = MemoryLog()
    parsers = {"plan": lambda text, params: {"text": text}}
    Driver(Cast({"agent": {"": who}}), log, parsers, lambda step, slot: 1).run(episode())
    return log


@pytest.mark.parametrize("quotes", [False, True])
@pytest.mark.parametrize("model", ["echo", "echo-error", "unauthorized", "redirect", "refuses"])
def test_no_key_in_errors_logs_or_stored_exchanges(serve, caplog, capfd, model, quotes):
    caplog.set_level(logging.DEBUG)
    log = asked_through_the_driver(answerer(serve(), model, quotes=quotes))
    stored = repr([asdict(row) for row in log.exchanges()]) + repr(log.turns)
    assert not shows_key(stored)
    assert not shows_key(caplog.text)
    assert not any(shows_key(text) for text in capfd.readouterr())
    (row,) = log.exchanges()
    assert row.state == ("answered" if model == "echo" else "failed")
    assert (REDACTED in row.text) == (model == "echo")


@pytest.mark.parametrize("model", ["echo-error", "refuses", "stall", "hang-up", "not-json"])
def test_errors_of_runs_hold_neither_question_nor_address(serve, model):
    server = serve()
    with pytest.raises(AnswererFailed) as failed:
        limit = 0.2 if model == "stall" else 5.0
        answerer(server, model, timeout=limit).answer(ask("You help.", QUESTION), 1)
    shown = "".join(traceback.format_exception(failed.value))
    assert "vinegar" not in shown
    assert "Bearer" not in str(failed.value)
    assert str(server.server_port) not in str(failed.value)
    assert not shows_key(shown)


def test_a_traceback_with_all_its_variables_shows_no_key(serve):
    with pytest.raises(AnswererFailed) as failed:
        answerer(serve(), "echo-error").answer(ask(), 1)
    frames = traceback.TracebackException.from_exception(failed.value, capture_locals=True)
    shown = "".join(repr(frame.locals) for frame in frames.stack)
    assert "EndpointAnswerer(" in shown
    assert not shows_key(shown)


def test_an_answerer_shows_no_key(server):
    who = answerer(server)
    who.answer(ask(), 1)
    assert not shows_key(repr(who))
    assert not shows_key(repr(who.identity))


def test_redirects_are_not_followed(server):
    with pytest.raises(AnswererFailed, match="redirects are not followed"):
        answerer(server, "redirect").answer(ask(), 1)
    assert server.counts.followed == 0


class _Proxy(BaseHTTPRequestHandler):
    """Notes who comes by."""

    def do_POST(self):
        self.server.visits += 1
        self.send_error(502)

    do_CONNECT = do_POST

    def log_message(self, *args):
        pass


def test_proxies_of_the_environment_are_not_used(server, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), _Proxy) as proxy:
        proxy.visits = 0
        Thread(target=proxy.serve_forever, args=(0.05,), daemon=True).start()
        url = f"http://127.0.0.1:{proxy.server_port}"
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert answerer(server).answer(ask(), 1).text
        proxy.shutdown()
        assert proxy.visits == 0


def test_nothing_of_the_environment_travels_along(server, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password from-netrc")
    netrc.chmod(0o600)
    for name, value in {
        "OPENAI_API_KEY": "sk-from-the-environment",
        "OPENAI_ADMIN_KEY": "sk-admin-from-the-environment",
        "OPENAI_ORG_ID": "org-from-the-environment",
        "OPENAI_PROJECT_ID": "project-from-the-environment",
        "OPENAI_CUSTOM_HEADERS": "X-Extra: from-the-environment\nHost: elsewhere.example.org",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "NETRC": str(netrc),
    }.items():
        monkeypatch.setenv(name, value)
    answerer(server, key_variable="").answer(ask(), 1)
    assert sorted(name.lower() for name in server.last_headers) == [
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    ]
    assert "environment" not in repr(server.last_headers)
    assert "elsewhere" not in repr(server.last_headers)


class _Wire(httpcore2.MockStream):
    """A connection that keeps what is sent."""

    def __init__(self, reply: bytes, sent: list[bytes]) -> None:
        super().__init__([reply])
        self.sent = sent

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.sent.append(buffer)

    def start_tls(self, *given, **kinds):
        return self


class TestTheClient:
    """Tests of the requests that leave, with a connection that goes nowhere."""

    @pytest.fixture
    def send(self, monkeypatch):
        """Sends a request; returns the host and port reached, what was sent, and the reply."""

        def send(url: str, head: bytes = b"", host: str = "localhost"):
            reached, sent = [], []

            def connect(self, host, port, *rest, **kinds):
                reached.append((host, port))
                return _Wire(_http(b"{}", head=head), sent)

            monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect)
            monkeypatch.setattr(
                "benchmarks.llm.transport.socket.getaddrinfo",
                lambda host, port, **kinds: [(0, 0, 0, "", (f"ip of {host}", port))],
            )
            monkeypatch.setattr(AddressGate, "check", lambda gate, found: None)
            gate = AddressGate(read_address(url), ())
            client = EndpointClient(gate, Secret(KEY), 1)
            reply = client.send("POST", "/chat/completions", 5.0, {"model": "ü"})
            client.close()
            return reached, b"".join(sent).decode(), reply

        return send

    @pytest.mark.parametrize(
        ("url", "reached", "host", "target"),
        [
            ("http://LocalHost:8000/v1", ("ip of localhost", 8000), "localhost:8000", "/v1"),
            ("http://[::1]/v1/", ("ip of ::1", 80), "[::1]", "/v1"),
            ("https://a.example.org:443", ("ip of a.example.org", 443), "a.example.org", ""),
            ("https://a.example.org:8443/x/v1", ("ip of a.example.org", 8443),
             "a.example.org:8443", "/x/v1"),
        ],
    )  # fmt: skip
    def test_a_request_goes_to_the_address_however_it_is_written(
        self, send, url, reached, host, target
    ):
        found, sent, _ = send(url)
        assert found == [reached]
        assert sent.startswith(f"POST {target}/chat/completions HTTP/1.1\r\nhost: {host}\r\n")
        assert f"\r\nauthorization: Bearer {KEY}\r\n" in sent
        assert "\r\ncontent-length: 14\r\n" in sent
        assert sent.endswith('{"model":"ü"}')

    def test_a_redirect_is_a_reply_like_any_other(self, send):
        reached, _, reply = send("http://localhost:1/v1", b"location: http://192.0.2.1/\r\n")
        assert len(reached) == 1
        assert reply.content == b"{}"

    def test_what_a_caller_gets_holds_no_key(self, send):
        assert not shows_key(repr(send("http://localhost:1/v1")[2]))


class _Raw:
    """A server that says the same bytes to everybody, at once or one by one."""

    def __init__(self, payload: bytes, pause: float = 0.0) -> None:
        self.payload, self.pause = payload, pause
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.recv(65536)
                size = 1 if self.pause else len(self.payload)
                for start in range(0, len(self.payload), max(1, size)):
                    connection.sendall(self.payload[start : start + size])
                    time.sleep(self.pause)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass

    def close(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


@pytest.mark.parametrize("where", ["status", "header", "body"])
def test_no_trickle_outlasts_the_time_of_a_try(serve, where):
    head = {
        "status": b"",
        "header": b"HTTP/1.1 200 OK\r\nx: ",
        "body": b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n",
    }
    raw = _Raw(head[where] + b"a" * 999, pause=0.02)
    patience = replace(QUICK, tries=1)
    began = time.monotonic()
    with pytest.raises(AnswererFailed, match="no complete reply within 0.4 s"):
        answerer(serve(), base_url=raw.url, timeout=0.4, policy=patience).answer(ask(), 1)
    assert time.monotonic() - began < 15  # the trickle lasts 20 s
    raw.close()


def _http(body: bytes, status: bytes = b"200 OK", head: bytes = b"") -> bytes:
    return b"HTTP/1.1 %s\r\ncontent-length: %d\r\n%s\r\n%s" % (status, len(body), head, body)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\x00" * 100,
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 50_000 + b"\r\n",
        b"HTTP/1.1 999 \r\n\r\n",
        _http(b"{}", b"200 OK", b"content-type: application/json; charset=no-such\r\n"),
        _http(b"\xff\xfe", b"400 Bad", b"content-type: application/json; charset=no-such\r\n"),
        _http(b"[" * 50_000, b"400 Bad", b"content-type: application/json\r\n"),
        _http(b'{"error": "text"}', b"400 Bad", b"content-type: application/json\r\n"),
        _http(b'{"error": {"code": {}, "type": [1], "param": 5, "message": []}}', b"422 No"),
        _http(b'{"error": {"code": {}, "type": [1], "param": 5, "message": []}}', b"500 No"),
        _http(b"", b"204 No Content"),
        _http(b"", b"304 Not Modified"),
        _http(b"", b"301 Moved", b"location: http://192.0.2.1/\r\n"),
        _http(b"x", b"429 Slow", b"retry-after: \xff\xfe\r\n"),
        _http(b"x", b"429 Slow", b"retry-after-ms: 1e999\r\n"),
        _http(b'{"choices": [{"message": {"content": "\\ud800 ok"}}]}'),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 1\r\n\r\nx",
    ],
)
def test_whatever_comes_it_is_an_answer_or_a_failure(serve, payload):
    raw = _Raw(payload)
    try:
        answer = answerer(serve(), base_url=raw.url, timeout=1.0).answer(ask(), 1)
    except AnswererFailed as failed:
        assert str(failed).startswith("endpoint 'test': ")
    else:
        assert answer.text == "\ud800 ok"
    finally:
        raw.close()


def test_every_model_is_tried_somewhere():
    assert {"echo", "echo-error", "redirect", "flood", "drip"} <= set(MODELS)
