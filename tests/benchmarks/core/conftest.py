"""Fixtures that tests of the core share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    """Carries the calls of a batch that leave."""
    with ThreadPoolExecutor(4) as executor:
        yield executor
