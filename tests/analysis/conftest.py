"""People and what they open, and reports of earlier tests."""

from collections.abc import Iterator

import pytest
from django.core.cache import caches

from tests.visitors import admin, played, reader, researcher, stranger  # noqa: F401


@pytest.fixture
def no_stored_reports(db: None) -> Iterator[None]:
    """No report is stored: rows of two tests may have the same id and version."""
    for name in ("kept", "reports"):
        caches[name].clear()
    yield
    for name in ("kept", "reports"):
        caches[name].clear()
