"""Kills while people play and a manager steers: a small one of those in killed_sessions.py."""

import json

import pytest

from tests.installations import Install

pytestmark = [pytest.mark.slow, pytest.mark.either]

# So few that it takes seconds: each kind of kill once or so, in every stage of a session.
SESSIONS, PEOPLE, KILLS = 4, 4, 3


def test_kills_of_server_and_worker_lose_and_double_nothing(install: Install) -> None:
    home = install("played")
    process = home.start(
        "-m", "tests.functional.killed_sessions", "--json", str(home.folder / "found.json"),
        "--sessions", str(SESSIONS), "--people", str(PEOPLE), "--kills", str(KILLS),
    )  # fmt: skip
    assert process.wait(timeout=300) == 0, home.log.read_text()[-4000:]
    found = json.loads((home.folder / "found.json").read_text())
    assert found["sessions"] == SESSIONS
    assert found["replies"] >= SESSIONS
    assert (found["replies_lost"], found["replies_twice"]) == (0, 0)
    assert sum(found["kills"].values()) >= 1
    assert found["steered"]
