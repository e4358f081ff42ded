"""Damaged sessions: a thousand of each format are refused in words or read completely."""

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.core.digests import canonical_json
from benchmarks.formats.reports import describe_files
from tests.benchmarks.formats import samples
from tests.benchmarks.formats.damage import mutate, rot, spoil
from tests.benchmarks.formats.session_samples import SESSIONS
from tests.shared_data import shared_data

EACH = 500
# PLANJURY_MUTATIONS=1000 tries as many of each real file.
REAL = int(os.environ.get("PLANJURY_MUTATIONS", "40"))


def is_described(path: Path, name: str) -> bool:
    """Whether a damaged file is read; anything but that and a refusal in words is a failure."""
    (report,) = describe_files(path, format=name)
    json.dumps(report, allow_nan=False)
    if report["error"] is not None:
        assert report["error"].strip() and "Traceback" not in report["error"]
        assert report["trajectories"] == []
        return False
    for counts in report["trajectories"]:
        assert counts["matched"] <= min(counts["tool_calls"], counts["tool_results"])
        assert counts["missing"] == counts["tool_calls"] - counts["matched"]
        assert counts["turns"] <= counts["user"]
        canonical_json(counts).encode()
    return True


def damage_values(value: Any, rng: random.Random, path: Path, lines: bool) -> Path:
    changed = mutate(value, rng)
    if lines and isinstance(changed, list):
        return samples.write_lines(path, changed)
    return samples.write(path, changed)


@pytest.mark.parametrize("name", SESSIONS)
def test_a_thousand_changes(name: str, tmp_path: Path) -> None:
    rng = random.Random(f"sessions {name}")
    lines = name in samples.LINES
    sound = samples.write_sample(tmp_path, name)
    path = tmp_path / f"damaged{sound.suffix}"
    value, raw = SESSIONS[name](), sound.read_bytes()
    read = sum(
        is_described(damage_values(value, rng, path, lines), rng.choice(("", name)))
        for _ in range(EACH)
    )
    damages: list[Callable[[bytes, random.Random], bytes]] = [spoil, rot]
    for _ in range(EACH):
        path.write_bytes(rng.choice(damages)(raw, rng))
        read += is_described(path, rng.choice(("", name)))
    assert 0 < read < 2 * EACH, "the changes should break some files and spare others"


def real_files() -> list[Path]:
    try:
        folder = shared_data("sessions")
    except pytest.skip.Exception:
        return []
    return sorted(path for path in folder.glob("*/*") if path.is_file())


@pytest.mark.parametrize("real", real_files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_changed_real_sessions(real: Path, tmp_path: Path) -> None:
    raw = gzip.decompress(real.read_bytes()) if real.suffix == ".gz" else real.read_bytes()
    lines = ".jsonl" in real.name
    rows = raw.decode().splitlines()
    value = [json.loads(row) for row in rows if row.strip()] if lines else json.loads(raw)
    path = tmp_path / real.name.removesuffix(".gz")
    rng = random.Random(f"real sessions {real.name}")
    for _ in range(REAL // 2):
        is_described(damage_values(value, rng, path, lines), "")
        path.write_bytes(rng.choice((spoil, rot))(raw, rng))
        is_described(path, "")
