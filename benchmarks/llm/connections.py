"""Connections to endpoints, with limits and what guards the key, shared by a process."""

import logging
import os
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.llm.config import EndpointConfig
from benchmarks.llm.hosts import AddressGate, check_host
from benchmarks.llm.limits import Limiter
from benchmarks.llm.security import Redactor, Secret, read_key

if TYPE_CHECKING:
    from benchmarks.llm.transport import EndpointClient

# It logs addresses and, in detail, headers of replies, in which a server may repeat a key.
_TALKATIVE = "httpcore2"


@dataclass(frozen=True)
class EndpointConnection:
    """The connection to an endpoint that all calls share."""

    client: "EndpointClient"
    limiter: Limiter
    redactor: Redactor
    gate: AddressGate
    # Holds something once the server has refused to stream; it is not asked for that again.
    unstreamed: set[str] = field(default_factory=set)


_opened: dict[tuple[int, str], EndpointConnection] = {}
_shares: dict[tuple[int, str], float] = {}
_lock = threading.Lock()


def open_connection(
    config: EndpointConfig, hosts: Collection[str], environ: Mapping[str, str] = os.environ
) -> EndpointConnection:
    """Return the process's connection to an endpoint.

    It is opened at the first call, after a check of the rules.
    """
    check_host(config.address, hosts)
    # A forked process must not talk on its parent's connections.
    key = (os.getpid(), config.connection_digest)
    with _lock:
        if key not in _opened:
            secret = read_key(config.key_variable, environ)
            limiter = Limiter(config.concurrency, config.requests_per_minute)
            limiter.share(_shares.get(key, 1.0))
            gate = AddressGate(config.address, hosts)
            client = _client(config, secret, gate)
            _opened[key] = EndpointConnection(client, limiter, Redactor(secret), gate)
        # Connections that are opened from now on go by the list of this call.
        _opened[key].gate.hosts = hosts
        return _opened[key]


def share_limits(digest: str, part: float) -> None:
    """Take a part of the limits of an endpoint (by ``connection_digest``) in this process."""
    key = (os.getpid(), digest)
    with _lock:
        if _shares.get(key, 1.0) != part:
            _shares[key] = part
            if key in _opened:
                _opened[key].limiter.share(part)


def allowed_part(digest: str) -> float:
    """Return the part of an endpoint's calls at once that it bears: 1 unless it refused some of
    ours.
    """
    with _lock:
        connection = _opened.get((os.getpid(), digest))
    return 1.0 if connection is None else connection.limiter.allowed_part


def close_connections() -> None:
    """Close all connections, so that the next calls see new keys. Calls under way are cut off."""
    with _lock:
        for connection in _opened.values():
            connection.client.close()
        _opened.clear()


def load_client() -> None:
    """Import the HTTP library, so that no call has to wait for it."""
    from benchmarks.llm import transport  # noqa: F401


def _client(config: EndpointConfig, secret: Secret | None, gate: AddressGate) -> "EndpointClient":
    """Return a client behind our gate, whose library is imported only now."""
    from benchmarks.llm.transport import EndpointClient

    logging.getLogger(_TALKATIVE).setLevel(logging.WARNING)
    return EndpointClient(gate, secret, config.concurrency)
