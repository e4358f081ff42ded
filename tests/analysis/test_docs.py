"""Every statistic is written down: formula, assumptions, citation."""

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import analysis.stats
from analysis.pages.catalogue import PAGES

DOCS = Path(__file__).resolve().parents[2] / "docs"
STATISTICS = ("statistics.md", "agreement.md", "comparing-models.md")


def statistics() -> list[str]:
    """``module.function`` for each public function of `analysis.stats`."""
    found = []
    for module in pkgutil.walk_packages(analysis.stats.__path__, "analysis.stats."):
        names = importlib.import_module(module.name)
        found += [
            f"{module.name.rpartition('.')[2]}.{name}"
            for name, member in vars(names).items()
            if inspect.isfunction(member)
            and member.__module__ == names.__name__
            and not name.startswith("_")
        ]
    return found


@pytest.mark.parametrize("name", statistics())
def test_statistic_is_documented(name: str) -> None:
    written = [(DOCS / page).read_text(encoding="utf-8") for page in STATISTICS]
    assert any(f"`{name}`" in page for page in written)


@pytest.mark.parametrize("name", list(PAGES))
def test_page_is_documented(name: str) -> None:
    assert f"/analysis/{PAGES[name].address}/" in (DOCS / "analysis.md").read_text(encoding="utf-8")
