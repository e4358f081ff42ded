"""Find test data that is too large, or not ours, to be kept in the repository.

Set ``PLANJURY_SHARED_DATA`` to its folder, or keep it as ``shared/data`` beside the repository.
Tests that need it are skipped with a reason where it is absent.
"""

import csv
import gzip
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_data(*parts: str) -> Path:
    """The path of a shared file; skips the test that asks where it does not exist."""
    given = os.environ.get("PLANJURY_SHARED_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs shared data: {'/'.join(parts)} (set PLANJURY_SHARED_DATA)")
    return path


@cache
def _records(path: Path) -> tuple[dict[str, Any], ...]:
    return tuple(json.loads(path.read_text(encoding="utf-8"))["records"])


def reference_records(**wanted: Any) -> list[dict[str, Any]]:
    """Reference values of agreement statistics made with R, by the given fields."""
    records = _records(shared_data("agreement", "reference_values.json"))
    found = [r for r in records if all(r.get(key) == value for key, value in wanted.items())]
    assert found, f"no reference value for {wanted}"
    return found


def shared_rows(*parts: str) -> list[dict[str, str]]:
    """The rows of a gzipped CSV file."""
    with gzip.open(shared_data(*parts), "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
