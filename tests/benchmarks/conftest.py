"""People and what they open, and fake endpoints."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from benchmarks.llm.connections import close_connections
from devtools.fake_endpoint.server import FakeServer
from tests.visitors import admin, played, reader, researcher, stranger  # noqa: F401


@pytest.fixture
def serve() -> Iterator[Callable[..., FakeServer]]:
    """Starts fake endpoints that end with the test."""
    with ExitStack() as stack:

        def start(**options: Any) -> FakeServer:
            return stack.enter_context(FakeServer(**{"retry_after": "0.05", **options}))

        stack.callback(close_connections)
        yield start


@pytest.fixture
def server(serve: Callable[..., FakeServer]) -> FakeServer:
    return serve()
