"""Stored reports belong to the code that computed them."""

import shutil
from pathlib import Path

import pytest
from django.conf import settings

from analysis.reports import deferred_reports, stored_reports
from analysis.reports.content import Report
from benchmarks.source_digest import FOLDERS, LOCK_FILE, digest_of


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the product's sources."""
    base = tmp_path_factory.mktemp("product")
    for folder in FOLDERS:
        shutil.copytree(
            settings.BASE_DIR / folder, base / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    (base / LOCK_FILE).parent.mkdir()
    shutil.copy(settings.BASE_DIR / LOCK_FILE, base / LOCK_FILE)
    return base


@pytest.mark.parametrize(
    "name",
    [
        "annotation/ratings/voting.py",
        "benchmarks/core/means.py",
        "config/settings/base.py",
        "templates/analysis/page.html",
        LOCK_FILE,
    ],
)
def test_one_byte_more_in_a_source_file_changes_the_digest(sources: Path, name: str) -> None:
    file, before = sources / name, digest_of(sources)
    content = file.read_bytes()
    file.write_bytes(content + b"\n")
    try:
        assert digest_of(sources) != before
    finally:
        file.write_bytes(content)
    assert digest_of(sources) == before


def test_a_renamed_file_changes_the_digest(sources: Path) -> None:
    before = digest_of(sources)
    file = sources / "annotation" / "ratings" / "voting.py"
    file.rename(file.with_name("votes.py"))
    assert digest_of(sources) != before
    file.with_name("votes.py").rename(file)


@pytest.mark.parametrize("keep", ["reports", "kept"])
@pytest.mark.django_db
def test_a_report_is_computed_again_when_the_code_has_changed(
    monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    kept = stored_reports.keep_report if keep == "reports" else deferred_reports.keep_deferred
    written: list[str] = []

    def number(code: str) -> str:
        monkeypatch.setattr(stored_reports, "source_digest", lambda: code)

        def write() -> Report:
            written.append(code)
            return Report(sentence=code)

        return kept(stored_reports.key_of("a page", "its filters"), write).sentence

    assert [number("one"), number("one"), number("two")] == ["one", "one", "two"]
    assert written == ["one", "two"]
