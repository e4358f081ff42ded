"""The last gate before the network: each request is held against the rules once more.

Imports httpx2, so it is itself imported only when a line to an endpoint is opened.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore2
import httpx2

from benchmarks.llm.hosts import AddressGate
from benchmarks.llm.security import Address, EndpointRefused, ReplyRefused, Secret

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
        for found in self._addresses(host, port):
            left = self._deadline.within(timeout)
            try:
                inner = self._inner.connect_tcp(found, port, left, local_address, socket_options)
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
        for found in addresses:
            self._gate.check(found)
        return addresses


LONGEST_REPLY = 8 * 1024 * 1024
CONNECT_TIMEOUT = 10.0
KEEP_ALIVE = 5.0
# The SDK adds headers from the environment (OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS …) and about this
# machine; these alone leave.
_SENT = ("accept", "connection", "content-length", "content-type", "user-agent")


class GuardedTransport(httpx2.BaseTransport):
    """Lets requests to one address through, with the key and few other headers.

    The key is put in here, so that neither the SDK nor a request that shows up in a traceback
    holds it for longer than the call. Replies are bounded in size and in time.
    """

    def __init__(
        self,
        address: Address,
        secret: Secret | None,
        inner: httpx2.BaseTransport,
        deadline: Deadline,
    ) -> None:
        self._address, self._secret = address, secret
        self._inner, self._deadline = inner, deadline

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        port = url.port or {"http": 80, "https": 443}.get(url.scheme)
        wanted = self._address
        if (url.scheme, url.host, port) != (wanted.scheme, wanted.host, wanted.port):
            raise EndpointRefused("a request to another address was stopped")
        headers = [(name, request.headers[name]) for name in _SENT if name in request.headers]
        headers += [("host", wanted.netloc), ("accept-encoding", "identity")]
        if self._secret:
            headers.append(("authorization", f"Bearer {self._secret.reveal()}"))
        guarded = httpx2.Request(
            request.method,
            url,
            headers=headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        timeout = request.extensions.get("timeout", {}).get("read")
        self._deadline.at = None if timeout is None else time.monotonic() + timeout
        response = self._inner.handle_request(guarded)
        guarded.headers.pop("authorization", None)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            response.close()
            raise httpx2.RemoteProtocolError("a compressed reply that nobody asked for")
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Bounded(response.stream)
        # Nobody needs to be told where a redirect leads, nor to be remembered.
        for name in ("location", "set-cookie"):
            response.headers.pop(name, None)
        return response

    def close(self) -> None:
        self._inner.close()


class _Bounded(httpx2.SyncByteStream):
    """A reply that must come to an end."""

    def __init__(self, stream: httpx2.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for part in self._stream:
            size += len(part)
            if size > LONGEST_REPLY:
                raise ReplyRefused(f"the reply is longer than {LONGEST_REPLY} bytes")
            yield part

    def close(self) -> None:
        self._stream.close()


def open_client(gate: AddressGate, secret: Secret | None, connections: int) -> httpx2.Client:
    """Return a client for one address: no redirects, no proxies, no cookies, verified
    certificates.
    """
    deadline = Deadline()
    # SSL_CERT_FILE is honoured, because private endpoints have private authorities.
    verify = ssl.create_default_context()
    inner = httpx2.HTTPTransport(verify=verify, trust_env=False)
    # There is no other way to hand it connections that keep a deadline.
    inner._pool.close()
    inner._pool = httpcore2.ConnectionPool(
        ssl_context=verify,
        max_connections=connections,
        max_keepalive_connections=connections,
        keepalive_expiry=KEEP_ALIVE,
        network_backend=GuardedBackend(deadline, gate),
    )
    return httpx2.Client(
        transport=GuardedTransport(gate.address, secret, inner, deadline),
        trust_env=False,
        follow_redirects=False,
    )


def timeouts(seconds: float) -> Any:
    """Return the limits of one try: reading waits for the whole reply to be made, connecting does
    not.
    """
    return httpx2.Timeout(seconds, connect=min(CONNECT_TIMEOUT, seconds))
