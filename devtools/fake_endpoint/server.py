"""A fake OpenAI-compatible endpoint over real HTTP, for tests and for runs without a key.

``POST /v1/chat/completions`` answers, ``POST /v1/completions`` tells made-up probabilities of a
text's tokens (with ``echo`` and ``logprobs`` alone), ``GET /v1/models`` lists what it can be asked
to do wrong (``models``), ``GET /counts`` says what it was asked. It listens on this machine alone.
"""

import gzip
import json
import random
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.core.digests import derive_seed
from benchmarks.llm.config import FAKE_OWNER
from devtools.fake_endpoint.models import MODELS, Fault, Model, model_named
from devtools.fake_endpoint.replies import Reader, completion, echoed, stream_events

HOST = "127.0.0.1"
_STATUS = {"429": 429, "quota": 429, "500": 500, "503": 503, "400": 400, "401": 401, "echo": 400}
# Answered, and to be billed, is what is neither this nor nothing.
_REFUSALS = frozenset({*_STATUS, "redirect", "error-inside"})
_STALL, _DRIP, _FLOOD = 600.0, 0.05, 64 * 1024


@dataclass
class Counts:
    """The requests that the server got; ``tries`` and ``answered`` are by digest of the request.

    ``by_seed`` has for each seed how often it came, was answered, refused, or neither ("broken");
    ``began`` has when the first piece of its streamed reply was sent, by the time of day.
    The tokens are those that a server would bill: all but those of refusals.
    """

    received: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    tries: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    by_seed: dict[Any, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    began: dict[Any, float] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    followed: int = 0
    at_once: int = 0
    most_at_once: int = 0

    def report(self) -> dict[str, Any]:
        return {
            "received": self.received,
            "answered": sum(self.answered.values()),
            "distinct": len(self.tries),
            "answered_again": sum(n - 1 for n in self.answered.values()),
            "faults": dict(self.faults),
            "models": dict(self.models),
            "billed": {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out},
            "redirects_followed": self.followed,
            "most_at_once": self.most_at_once,
            "began": dict(self.began),
        }


class FakeServer(ThreadingHTTPServer):
    """The server. Used as a context it runs in a thread; ``port`` 0 lets the system choose.

    Parameters
    ----------
    key
        Refuse calls without ``Authorization: Bearer KEY``.
    latency
        Seconds that each answer takes, on top of its model's own.
    shares
        Chances of faults for all models that have none of their own.
    at_once
        Refuse with 429 what goes beyond so many calls at once, where not 0.
    retry_after
        What a 429 or 503 says in Retry-After; empty for nothing.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 512
    allow_reuse_address = True

    def __init__(
        self,
        port: int = 0,
        *,
        key: str = "",
        latency: float = 0.0,
        shares: Mapping[Fault, float] | None = None,
        at_once: int = 0,
        retry_after: str = "1",
    ) -> None:
        super().__init__((HOST, port), Handler)
        self.key, self.latency, self.shares = key, latency, shares or {}
        self.at_once, self.retry_after = at_once, retry_after
        self.counts = Counts()
        self.requests: deque[dict[str, Any]] = deque(maxlen=1000)
        self.last_headers: dict[str, str] = {}
        self.lock = threading.Lock()
        self.closing = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://{HOST}:{self.server_port}/v1"

    def __enter__(self) -> "FakeServer":
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that go away: this server is for testing that."""

    def fault_of(self, reader: Reader, model: Model, number: int) -> Fault:
        """Return what befalls the ``number``-th try of a request; the same in each run."""
        if model.fault and (not model.tries or number <= model.tries):
            return model.fault
        shares = model.shares if model.shares is not None else self.shares
        draw = random.Random(derive_seed("fault", reader.digest, number)).random()
        for fault, share in shares.items() if not model.fault else ():
            draw -= share
            if draw < 0:
                return fault
        return ""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: FakeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: there is /counts."""

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.counts.followed += self.path.startswith("/elsewhere")
            report = self.server.counts.report()
        if self.path == "/counts":
            self._send(200, report)
        elif self.path == "/v1/models":
            listed = [
                {"id": name, "object": "model", "owned_by": FAKE_OWNER, "about": model.about}
                for name, model in MODELS.items()
            ]
            self._send(200, {"object": "list", "data": listed})
        else:
            self._refuse(404, "not_found", "there is nothing here")

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw)
            reader = Reader(body)
        except (ValueError, AttributeError, TypeError):
            return self._refuse(400, "bad_request", "that is no JSON object")
        if self.path.startswith("/elsewhere"):
            with self.server.lock:
                self.server.counts.followed += 1
        scores = self.path == "/v1/completions" and model_named(str(body.get("model"))).scores
        if self.path != "/v1/chat/completions" and not scores:
            return self._refuse(404, "not_found", "there is nothing here")
        if scores and not (body.get("echo") and body.get("logprobs") and body.get("prompt")):
            return self._refuse(400, "unsupported", "completions here need echo and logprobs")
        if self.server.key and self.headers.get("authorization") != f"Bearer {self.server.key}":
            return self._refuse(401, "invalid_api_key", "Incorrect API key provided")
        if body.get("stream") and model_named(str(body.get("model"))).refuses_streams:
            return self._refuse(400, "unsupported", "this model does not stream")
        counts = self.server.counts
        name = str(body.get("model", ""))
        with self.server.lock:
            counts.received += 1
            counts.models[name] += 1
            counts.tries[reader.digest] += 1
            number = counts.tries[reader.digest]
            counts.at_once += 1
            counts.most_at_once = max(counts.most_at_once, counts.at_once)
            crowded = 0 < self.server.at_once < counts.at_once
            self.server.requests.append(body)
            self.server.last_headers = dict(self.headers.items())
        try:
            model = model_named(name)
            fault = self.server.fault_of(reader, model, number)
            self._serve(reader, model, "429" if crowded else fault)
        finally:
            with self.server.lock:
                counts.at_once -= 1

    def _serve(self, reader: Reader, model: Model, fault: Fault) -> None:
        if latency := self.server.latency + model.latency:
            self.server.closing.wait(latency)
        if "prompt" in reader.body:
            reply, usage = echoed(reader, model)
        else:
            reply, usage = completion(reader, model, self.headers.get("authorization"))
        self._count(reader, fault, usage)
        streams = reader.body.get("stream") and model.pause is not None
        if streams and fault in ("", "cut", "flood"):
            self._stream(reader, reply, model, fault)
        elif fault:
            self._misbehave(fault, reader)
        else:
            self._send(200, reply)

    def _stream(self, reader: Reader, reply: dict[str, Any], model: Model, fault: Fault) -> None:
        """Send a reply in pieces as server-sent events; a faulty one has no end, or no middle."""
        self.close_connection = True
        self.send_response(200)
        for name, value in (("content-type", "text/event-stream"), ("connection", "close")):
            self.send_header(name, value)
        self.end_headers()
        pieces = list(stream_events(reply, by_letter=(model.pause or 0) >= 1))
        if fault == "cut":
            pieces = pieces[: len(pieces) // 2]
        with suppress(OSError):
            for number, piece in enumerate(pieces):
                if number:
                    self.server.closing.wait(model.pause)
                else:
                    with self.server.lock:
                        self.server.counts.began[reader.body.get("seed")] = time.time()
                self.wfile.write(piece)
                self.wfile.flush()
                while fault == "flood" and not self.server.closing.is_set():
                    self.wfile.write(piece * 500)

    def _count(self, reader: Reader, fault: Fault, usage: Mapping[str, int]) -> None:
        counts = self.server.counts
        with self.server.lock:
            if fault:
                counts.faults[fault] += 1
            else:
                counts.answered[reader.digest] += 1
            end = "refused" if fault in _REFUSALS else "broken" if fault else "answered"
            counts.by_seed[reader.body.get("seed")].update(["received", end])
            if end != "refused":
                counts.tokens_in += usage["prompt_tokens"]
                counts.tokens_out += usage["completion_tokens"]

    def _misbehave(self, fault: Fault, reader: Reader) -> None:
        match fault:
            case "stall":
                self.server.closing.wait(_STALL)
                self.close_connection = True
            case "redirect":
                self._send(302, {}, {"location": f"{self.server.base_url[:-3]}/elsewhere?key=x"})
            case "not-json":
                self._write(
                    200, b"<html><h1>Bad Gateway</h1></html>", {"content-type": "text/html"}
                )
            case "not-a-chat":
                self._send(200, [{"choices": "none"}])
            case "error-inside":
                self._send(200, {"error": {"code": 503, "message": "no provider is free"}})
            case "hang-up":
                self._write(200, b'{"choices": [{"mess', {"content-length": "5000"})
                self.close_connection = True
            case "drip":
                self._pour(b" ", _DRIP)
            case "flood":
                self._pour(b" " * _FLOOD, 0)
            case "compressed":
                self._write(200, gzip.compress(b"{}"), {"content-encoding": "gzip"})
            case _:
                self._fail(fault, reader)

    def _fail(self, fault: Fault, reader: Reader) -> None:
        status = _STATUS[fault]
        held = self.headers.get("authorization") or ""
        wait = {"retry-after": self.server.retry_after} if fault in ("429", "503") else {}
        codes = {"429": "rate_limit_exceeded", "quota": "insufficient_quota", "401": "invalid_key"}
        words = {
            "400": "Unsupported value: 'temperature' does not support 0.2 with this model.",
            "401": f"Incorrect API key provided: {held[7:15]}{'*' * 12}{held[-4:]}.",
            "echo": f"{held} asked https://u:p@host/v1?key={held[7:]} {json.dumps(reader.body)}",
        }
        code = codes.get(fault, "server_error" if status >= 500 else "bad_request")
        headers = wait | ({"x-echo": held} if fault == "echo" else {})
        self._refuse(status, code, words.get(fault, "That did not work."), headers)

    def _pour(self, part: bytes, pause: float) -> None:
        """Send ``part`` over and over, until somebody has had enough."""
        head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
        self.close_connection = True
        try:
            self.wfile.write(head.encode())
            while not self.server.closing.wait(pause):
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:
            return

    def _refuse(
        self, status: int, code: str, words: str, headers: Mapping[str, str] | None = None
    ) -> None:
        error = {"message": words, "type": code, "param": None, "code": code}
        self._send(status, {"error": error}, headers)

    def _send(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        kind = {"content-type": "application/json"}
        self._write(status, json.dumps(value).encode(), kind | dict(headers or {}))

    def _write(self, status: int, payload: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"content-length": str(len(payload))} | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)


def serve(server: FakeServer) -> None:
    """Serve until interrupted."""
    with suppress(KeyboardInterrupt):
        server.serve_forever()
    server.closing.set()
    server.server_close()
