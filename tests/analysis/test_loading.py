"""What a web server loads after its start."""

import gc
import sys

import pytest

from analysis import loading


def test_what_was_loaded_is_left_alone_by_the_garbage_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loading, "HEAVY", ("analysis.facts.listing",))
    monkeypatch.setattr(loading, "PAGES", {})
    before = gc.get_freeze_count()
    try:
        loading.load_reports()
        assert "numpy" in sys.modules
        assert gc.get_freeze_count() > before + 10_000
    finally:
        gc.unfreeze()
