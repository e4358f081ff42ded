"""A run on a rough endpoint, its worker killed now and then: a small one of those in harried.py."""

import json

import pytest
from django.conf import settings

from tests.installations import Install

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not settings.TEST_DATABASE_URL,
        reason="played on PostgreSQL and Redis, where several write at once; on SQLite workers are "
        "killed in test_kill_worker.py",
    ),
]

TRAJECTORIES, KILLS = 8, 2


def test_kills_and_a_rough_endpoint_change_nothing(install: Install) -> None:
    home = install("harried")
    process = home.start(
        "-m", "tests.functional.harried", "--json", str(home.folder / "found.json"),
        "--trajectories", str(TRAJECTORIES), "--kills", str(KILLS), "--hasty",
    )  # fmt: skip
    assert process.wait(timeout=300) == 0, home.log.read_text()[-4000:]
    found = json.loads((home.folder / "found.json").read_text())
    calm, harried, account = found["calm"], found["harried"], found["account"]
    assert harried["kills"] == KILLS
    assert calm["stored"] == harried["stored"] > 10 * TRAJECTORIES
    assert harried["faults"]["500"] > 0
    assert account["unknown_outcome"] > 0
    capped = found["cap"]
    assert 0 < capped["billed_by_server"] <= capped["committed"] + 1e-9
    assert capped["committed"] <= capped["cap"]
