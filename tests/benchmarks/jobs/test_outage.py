"""A budget, a rate limit, an outage and judges that cannot be understood change no result."""

from collections.abc import Iterator

import pytest

from benchmarks.llm.connections import close_connections
from tests.factories.benchmarks import save_sample_dataset
from tests.functional.outage import Trial, Weather

pytestmark = [pytest.mark.django_db, pytest.mark.either]
REFUSED = 15


@pytest.fixture
def server() -> Iterator[Weather]:
    with Weather(retry_after="0.01") as server:
        yield server
    close_connections()


def test_a_bad_day_changes_nothing_and_all_of_it_is_told(server: Weather) -> None:
    settings = {"reply_attempts": 1, "max_turns": 2}
    found = Trial(
        save_sample_dataset(1), server, workers=1, settings=settings, say=lambda text: None,
        over=lambda server: server.refused >= REFUSED,
    ).play()  # fmt: skip
    assert found["outage"]["refused"] == REFUSED
    assert found["outage"]["taken_up_again"] > 0
    assert found["calm"]["judges_not_understood"] > 0
    assert found["calm"]["unscored"] >= 8 * found["calm"]["judges_not_understood"]
    assert found["budget"]["committed_at_cap"] <= found["budget"]["cap"]
