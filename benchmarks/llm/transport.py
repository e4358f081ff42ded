"""Requests to one address over HTTP, in which the rules are applied once more.

Imports the HTTP library, so it is itself imported only when a connection to an endpoint is opened.
"""

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import httpcore2

from benchmarks.llm.hosts import AddressGate
from benchmarks.llm.security import ReplyRefused, Secret
from benchmarks.llm.streaming import EVENT_STREAM

# --- Deadlines ------------------------------------------------------------------------------------

# The HTTP library's time limits begin anew with every byte that arrives, so a server that trickles
# could hold a call for hours.


class Deadline(threading.local):
    """The moment of ``time.monotonic`` by which the calling thread's call must be over."""

    at: float | None = None

    def within(self, timeout: float | None) -> float | None:
        """Return ``timeout``, shortened to what is left."""
        if self.at is None:
            return timeout
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the call's time is over")
        return left if timeout is None else min(timeout, left)


class DeadlineStream(httpcore2.NetworkStream):
    """A connection that asks the deadline before each piece."""

    def __init__(self, inner: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.within(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.within(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._deadline.within(timeout)
        inner = self._inner.start_tls(ssl_context, server_hostname, left)
        return DeadlineStream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class GuardedBackend(httpcore2.NetworkBackend):
    """Opens connections to checked addresses alone, which keep the deadline.

    The name is resolved here, once, and the connection goes to what was checked: a second look-up
    could lead elsewhere. Certificates are still those of the name.
    """

    def __init__(self, deadline: Deadline, gate: AddressGate) -> None:
        self._inner, self._deadline, self._gate = httpcore2.SyncBackend(), deadline, gate

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failure: Exception = httpcore2.ConnectError("the host has no address")
        for address in self._addresses(host, port):
            left = self._deadline.within(timeout)
            try:
                inner = self._inner.connect_tcp(address, port, left, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return DeadlineStream(inner, self._deadline)
        raise failure

    def _addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host; one that is not allowed refuses all of them."""
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore2.ConnectError("the host cannot be resolved") from error
        addresses = list(dict.fromkeys(str(row[4][0]) for row in rows))
        for address in addresses:
            self._gate.check(address)
        return addresses


# --- Requests -------------------------------------------------------------------------------------

LONGEST_REPLY = 8 * 1024 * 1024
CONNECT_TIMEOUT = 10.0
KEEP_ALIVE = 5.0
# No answer came: the address could not be reached, fell silent, or broke off.
BREAKDOWNS = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    ssl.SSLError,
)
_HEADERS = (
    ("accept", "application/json"),
    ("accept-encoding", "identity"),  # nothing here would decompress a reply
    ("connection", "keep-alive"),
    ("user-agent", "PlanJury"),
)


@dataclass(frozen=True)
class HttpReply:
    """A reply as received; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def streamed(self) -> bool:
        """Return whether the content is a stream of events."""
        return self.headers.get("content-type", "").startswith(EVENT_STREAM)


class EndpointClient:
    """Sends requests to one address, from any thread, over connections that it keeps.

    Where a request goes follows from the checked address alone; redirects are not followed, and
    proxies, passwords and headers of the environment are not used. The key is put in when a request
    is made, and nothing keeps the request. Replies are bounded in size and in time.
    """

    def __init__(self, gate: AddressGate, secret: Secret | None, connections: int) -> None:
        self._address, self._secret, self._deadline = gate.address, secret, Deadline()
        self._pool = httpcore2.ConnectionPool(
            # SSL_CERT_FILE is honoured, because private endpoints have private authorities.
            ssl_context=ssl.create_default_context(),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=KEEP_ALIVE,
            network_backend=GuardedBackend(self._deadline, gate),
        )

    def send(
        self,
        method: str,
        path: str,
        seconds: float,
        body: Any = None,
        watch: Callable[[bytes], None] | None = None,
    ) -> HttpReply:
        """Send a request and return its reply, whatever its status.

        ``path`` is below that of the base URL, ``body`` a JSON value or None. The whole reply must
        be there within ``seconds``. ``watch`` is given each part of a stream of events as it
        arrives. Raises one of ``BREAKDOWNS`` if there is none,
        ``EndpointRefused`` for an address that is not allowed, ``ReplyRefused`` for a reply that is
        too long.
        """
        self._deadline.at = time.monotonic() + seconds
        response = self._pool.handle_request(self._request(method, path, seconds, body))
        try:
            headers = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers
            }
            reply = HttpReply(response.status, headers, b"")
            watching = watch if reply.ok and reply.streamed else None
            return replace(reply, content=_bounded(response.iter_stream(), watching))
        finally:
            response.close()

    def _request(self, method: str, path: str, seconds: float, body: Any) -> httpcore2.Request:
        address = self._address
        headers = [("host", address.netloc), *_HEADERS]
        content = b""
        if body is not None:
            content = json.dumps(
                body, ensure_ascii=False, separators=(",", ":"), allow_nan=False
            ).encode()
            headers += [
                ("content-type", "application/json"),
                ("content-length", str(len(content))),
            ]
        if self._secret:
            headers.append(("authorization", f"Bearer {self._secret.reveal()}"))
        url = httpcore2.URL(
            scheme=address.scheme,
            host=address.host,
            port=address.port,
            target=address.path.removesuffix("/") + path,
        )
        # Reading waits for the whole reply to be made, connecting does not.
        timeout = dict.fromkeys(("read", "write", "pool"), seconds)
        timeout["connect"] = min(CONNECT_TIMEOUT, seconds)
        return httpcore2.Request(
            method, url, headers=headers, content=content, extensions={"timeout": timeout}
        )

    def close(self) -> None:
        """Close all connections; calls under way are cut off."""
        self._pool.close()


def _bounded(parts: Iterable[bytes], watch: Callable[[bytes], None] | None) -> bytes:
    """Return a reply's content, which must come to an end."""
    pieces, size = [], 0
    for part in parts:
        size += len(part)
        if size > LONGEST_REPLY:
            raise ReplyRefused(f"the reply is longer than {LONGEST_REPLY} bytes")
        pieces.append(part)
        if watch is not None:
            watch(part)
    return b"".join(pieces)
