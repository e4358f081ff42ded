"""The answerer behind which a language model stands: any OpenAI-compatible endpoint."""

import os
import random
import re
import ssl
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from benchmarks.core.answerers import Answer, Identity
from benchmarks.core.digests import canonical_json
from benchmarks.core.errors import AnswererFailed, OutcomeUnknown
from benchmarks.core.types import Ask
from benchmarks.llm.chat import MalformedReply, read_completion, read_error, request_body
from benchmarks.llm.config import EndpointConfig, SchemaBuilder
from benchmarks.llm.connections import EndpointConnection, open_connection
from benchmarks.llm.hosts import LOOPBACK
from benchmarks.llm.limits import CallPermit, NoPlace
from benchmarks.llm.retries import EXHAUSTED, RetryPolicy, Trouble, read_wait, retried
from benchmarks.llm.scoring import NOT_SERVED, REQUIRED, read_scores, scoring_body, wants_scores
from benchmarks.llm.security import EndpointRefused, Redactor, ReplyRefused
from benchmarks.llm.streaming import REFUSED, STREAMED, StreamedCompletion

# --- Prices ---------------------------------------------------------------------------------------

# What chat templates put around each message, and around all of them, in tokens; generous.
PER_MESSAGE, PER_REQUEST = 16, 64


def estimate_tokens(messages: Sequence[Any], rest: Sequence[Any] = ()) -> int:
    """Return the most tokens that a prompt can have: no token is shorter than a byte."""
    size = sum(len(canonical_json(part).encode()) for part in (*messages, *rest))
    return size + PER_MESSAGE * len(messages) + PER_REQUEST


def estimate_cost(config: EndpointConfig, body: dict[str, Any]) -> float | None:
    """Return the most that a request can cost; None where prices or the reply's length are
    unknown.
    """
    longest = 0 if config.price_out == 0 else config.max_tokens(body)
    if longest is None:
        return None
    rest = [body[name] for name in ("tools", "response_format") if name in body]
    prompt = body["messages"] if "messages" in body else [body["prompt"]]
    return config.cost(estimate_tokens(prompt, rest), longest)


# --- The answerer
# ----------------------------------------------------------------------------------

if TYPE_CHECKING:
    from benchmarks.llm.transport import HttpReply

CHAT = "/chat/completions"
_NAME = re.compile(r"[A-Za-z0-9_.\[\]-]{1,60}")
# What a server says about a refused key may show parts of it.
_ABOUT_KEYS = (401, 403)
# A gateway gave up on a server that may well have gone on; other errors are no replies to bill.
_GAVE_UP = (408, 502, 504, 522, 524)


@dataclass(frozen=True)
class EndpointAnswerer:
    """Puts asks to an endpoint, again where that helps, within its limits.

    It tries again as long as what was sent was surely not billed. Where nobody knows, it raises
    ``OutcomeUnknown``: whoever asked decides, and writes down, whether the ask is put once more.

    Parameters
    ----------
    schemas
        Kinds of reply that are JSON, each with what builds its schema from ``Expect.params``.
    hosts
        The hosts that may be called.
    quotes
        Whether error texts repeat a server's words. They may hold what was asked, so this is for
        trying an endpoint with a harmless question, not for runs.
    clock, wall, sleep
        Time for limits, the time of day, and waiting; ``sleep`` may raise ``AnswererFailed`` to
        give a call up early.
    grows
        What is told of the text of a reply while it is being written, or None; then the reply is
        streamed, if the server can. A try begins with an empty text.
    """

    config: EndpointConfig
    schemas: Mapping[str, SchemaBuilder] = field(default_factory=dict)
    hosts: Collection[str] = LOOPBACK
    policy: RetryPolicy = RetryPolicy()
    quotes: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    grows: Callable[[Ask], Callable[[str], None] | None] = lambda ask: None
    instant: bool = False

    @property
    def identity(self) -> Identity:
        return self.config.identity

    def most(self, ask: Ask, seed: int) -> float | None:
        """Return the most that an answer can cost; None without both prices and a limit of its
        length.
        """
        return estimate_cost(self.config, self._body(ask, seed))

    def answer(self, ask: Ask, seed: int) -> Answer:
        try:
            connection = open_connection(self.config, self.hosts, self.environ)
            body = self._body(ask, seed)
            return self._persist(connection, ask, body, seed)
        except EndpointRefused as error:
            raise self._failure(str(error)) from None

    def _body(self, ask: Ask, seed: int) -> dict[str, Any]:
        if wants_scores(ask):
            return scoring_body(self.config, ask)
        return request_body(self.config, ask, seed, self.schemas)

    def _persist(
        self, connection: EndpointConnection, ask: Ask, body: dict[str, Any], seed: int
    ) -> Answer:
        """Try until there is an answer, the trouble is of a lasting kind, or the bounds are met."""
        give_up = self.clock() + self.policy.total
        chance = random.Random(seed)
        tries = 0
        while True:
            waits = self.clock()
            try:
                with connection.limiter.place(self.policy.queue) as place:
                    give_up += self.clock() - waits  # the queue is ours, not the endpoint's
                    tries += 1
                    left = max(0.001, give_up - self.clock())
                    result = self._try(connection, ask, body, min(self.config.timeout, left))
                    _report(result, place)
            except NoPlace:
                raise self._failure("no place became free in time", tries) from None
            if isinstance(result, Answer):
                return replace(result, tries=tries)
            if result.billed:
                if result.again:  # by whoever asked, but not at once
                    pause = self.policy.pause(1, result.wait, chance)
                    self.sleep(min(pause, self.policy.longest))
                raise OutcomeUnknown(self._words(result.reason, tries), tries, result.again)
            if not result.again or tries >= self.policy.tries:
                raise self._failure(result.reason, tries)
            if result.wait is not None and result.wait > self.policy.patience:
                raise self._failure(f"{result.reason}, asks to wait {result.wait:.0f} s", tries)
            pause = self.policy.pause(tries, result.wait, chance)
            if self.clock() + pause >= give_up:
                raise self._failure(f"{result.reason}, no time is left", tries)
            self.sleep(pause)

    def _try(
        self, connection: EndpointConnection, ask: Ask, body: dict[str, Any], seconds: float
    ) -> Answer | Trouble:
        """Return one request: its answer, or what went wrong."""
        from benchmarks.llm.transport import BREAKDOWNS

        began = self.clock()
        scores = wants_scores(ask)
        path = "/completions" if scores else CHAT
        try:
            if (grow := None if scores else self.grows(ask)) is not None:
                reply = self._send_streamed(connection, body, seconds, grow)
            else:
                reply = connection.client.send("POST", path, seconds, body)
            if not reply.ok:
                refusal = self._refusal(reply, connection.redactor)
                if scores and reply.status in NOT_SERVED:
                    refusal = replace(refusal, reason=f"{refusal.reason}; {REQUIRED}")
                return refusal
            if scores:
                done = read_scores(reply.content, ask)
            else:
                done = read_completion(reply.content, ask, self.config.native_tools)
        except BREAKDOWNS as error:
            return _breakdown(error, seconds)
        except ReplyRefused as error:
            return Trouble(str(error), again=False, billed=True)
        except EndpointRefused as error:
            return Trouble(str(error), again=False)
        except MalformedReply as error:
            again = error.code is None or retried(error.code)
            reason = f"{error} ({error.code})" if error.code else str(error)
            quoted = self._quoted(error.words, connection.redactor)
            return Trouble(reason + quoted, again, hasty=error.code == 429, billed=not error.code)
        clean = connection.redactor.clean
        return Answer(
            clean(done.text),
            tokens_in=done.tokens_in,
            tokens_out=done.tokens_out,
            cost=self.config.cost(done.tokens_in, done.tokens_out),
            latency=self.clock() - began,
            reasoning=clean(done.reasoning),
            model_reported=clean(done.model),
            finish=clean(done.finish),
        )

    def _send_streamed(
        self,
        connection: EndpointConnection,
        body: dict[str, Any],
        seconds: float,
        grow: Callable[[str], None],
    ) -> "HttpReply":
        """Return a reply that was streamed, with its content as if it had come at once.

        A server that refuses to stream, or does not, is asked without.
        """
        began, client = self.clock(), connection.client
        grow("")  # whatever an earlier try had brought
        if not connection.unstreamed:
            clean = connection.redactor.clean
            stream = StreamedCompletion(lambda text: grow(clean(text)), self.clock)
            reply = client.send("POST", CHAT, seconds, {**body, **STREAMED}, stream.feed)
            if reply.ok and reply.streamed:
                return replace(reply, content=stream.completion())
            if reply.status not in REFUSED:
                return reply
            seconds = max(0.001, seconds - (self.clock() - began))
        reply = client.send("POST", CHAT, seconds, body)
        if reply.ok:
            connection.unstreamed.add(CHAT)
        return reply

    def _refusal(self, reply: "HttpReply", redactor: Redactor) -> Trouble:
        """Return an answer with a status that means no.

        Of what the server says, names alone are kept.
        """
        status = reply.status
        if 300 <= status < 400:
            return Trouble(f"answered {status}: redirects are not followed", again=False)
        if status in _ABOUT_KEYS:
            known = self.config.key_variable
            about = f"the key in {known}" if known else "calls without a key"
            return Trouble(f"answered {status}: it does not accept {about}", again=False)
        body = read_error(reply.content)
        names = [body.get(name) for name in ("code", "type", "param")]
        named = [n for n in names if isinstance(n, str) and _NAME.fullmatch(n)]
        detail = redactor.clean(", ".join(dict.fromkeys(named)))
        words = body.get("message")
        return Trouble(
            f"answered {status}"
            + (f" ({detail})" if detail else "")
            + self._quoted(words if isinstance(words, str) else "", redactor),
            again=retried(status) and not EXHAUSTED.intersection(named),
            wait=read_wait(reply.headers, self.wall()),
            hasty=status == 429,
            billed=status in _GAVE_UP,
        )

    def _quoted(self, words: str, redactor: Redactor) -> str:
        quote = redactor.quote(words) if self.quotes else ""
        return f": “{quote}”" if quote else ""

    def _failure(self, reason: str, tries: int = 0) -> AnswererFailed:
        return AnswererFailed(self._words(reason, tries), tries)

    def _words(self, reason: str, tries: int) -> str:
        after = f", gave up after {tries} tries" if tries > 1 else ""
        return f"endpoint {self.config.name!r}: {reason}{after}"


def _report(result: Answer | Trouble, place: CallPermit) -> None:
    """Tell the limiter how the endpoint bore a try."""
    if isinstance(result, Answer):
        place.answered()
        return
    if result.hasty:
        place.refused()
    if result.wait is not None:
        place.hold(result.wait)


def _breakdown(error: Exception, seconds: float) -> Trouble:
    """Return the trouble for no answer: it could not be reached, fell silent, or broke off."""
    import httpcore2

    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error)):
        return Trouble("its certificate cannot be verified", again=False)
    kinds = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)
    if isinstance(error, kinds):  # nothing was sent
        return Trouble("cannot be reached", again=True)
    if isinstance(error, httpcore2.TimeoutException):
        return Trouble(
            f"no complete reply within {seconds:.3g} s", again=True, hasty=True, billed=True
        )
    return Trouble("the connection broke off", again=True, billed=True)


def _causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return causes
