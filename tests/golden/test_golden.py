"""Pages and commands say about the recorded world what the files in ``expected`` hold.

Where that changes on purpose: ``python -m tests.golden --write``, and say why in the commit.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.__main__ import EXPECTED, differences
from tests.shared_data import ROOT

pytestmark = [pytest.mark.embedded, pytest.mark.slow]


def test_pages_and_commands_say_what_was_recorded() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.golden"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[:6000] + ran.stderr[-3000:]


def test_every_difference_is_seen(tmp_path: Path) -> None:
    (tmp_path / "commands.txt").write_text((EXPECTED / "commands.txt").read_text() + "more\n")
    lines = list(differences(EXPECTED, tmp_path))
    assert "+more" in lines
    # Files that are no longer written differ too.
    assert "--- pages/leaderboard.txt" in lines
