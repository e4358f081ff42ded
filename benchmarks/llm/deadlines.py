"""Connections that keep a deadline for a whole call, not for each piece of it.

The HTTP library's time limits begin anew with every byte that arrives, so a server that trickles
could hold a call for hours. Imports httpcore2, as ``transport`` does.
"""

import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any

import httpcore2


class Deadline(threading.local):
    """The moment of ``time.monotonic`` by which the calling thread's call must be over."""

    at: float | None = None

    def within(self, timeout: float | None) -> float | None:
        """``timeout``, shortened to what is left."""
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


class DeadlineBackend(httpcore2.NetworkBackend):
    """Opens connections that keep the deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self._inner, self._deadline = httpcore2.SyncBackend(), deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = self._deadline.within(timeout)
        inner = self._inner.connect_tcp(host, port, left, local_address, socket_options)
        return DeadlineStream(inner, self._deadline)
