"""Kills of the web server while people annotate: a small one of those in killed_annotating.py."""

import json

import pytest

from tests.installations import Install

pytestmark = [pytest.mark.slow, pytest.mark.either]

CLIENTS, KILLS, CUTS = 3, 3, 2


def test_kills_of_the_web_server_lose_and_double_nothing(install: Install) -> None:
    home = install("killed")
    process = home.start(
        "-m", "tests.functional.killed_annotating", "--json", str(home.folder / "found.json"),
        "--clients", str(CLIENTS), "--kills", str(KILLS), "--cuts", str(CUTS), "--submits", "12",
    )  # fmt: skip
    assert process.wait(timeout=300) == 0, home.log.read_text()[-4000:]
    found = json.loads((home.folder / "found.json").read_text())
    assert (sum(found["kills"].values()), found["cuts"]) == (KILLS, CUTS)
    assert found["answers_acknowledged"] > KILLS
    assert found["submitted"] >= 1
    assert (found["answers_lost"], found["answers_doubled"], found["items_over_target"]) == (0,) * 3
