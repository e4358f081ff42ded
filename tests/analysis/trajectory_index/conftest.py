"""No test knows what another one has read."""

from collections.abc import Iterator

import pytest

from analysis.trajectory_index import table


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    table._known.clear()
    yield
    table._known.clear()
