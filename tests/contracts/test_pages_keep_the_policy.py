"""No template holds what the content security policy forbids; no page needs another host."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = [ROOT / "templates", *(ROOT / "benchmarks" / "systems").glob("*/templates")]
TEMPLATES = sorted(path for folder in FOLDERS for path in folder.rglob("*.html"))
OURS = sorted([*(ROOT / "static" / "css").glob("*.css"), *(ROOT / "static" / "js").glob("*.js")])
# Data for a script is not a script.
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)")
HANDLER = re.compile(r"<[^>]*\s(on[a-z]+|hx-on[:\w-]*)\s*=", re.IGNORECASE)
EVALUATED = re.compile(r"""hx-(vals|headers)\s*=\s*["']js:|hx-trigger\s*=\s*["'][^"']*\[""")
OTHER_HOST = re.compile(
    r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//|url\(["']?(?:https?:)?//"""
)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT)))
def test_template_has_no_inline_script_and_no_handler(path: Path) -> None:
    text = path.read_text()
    for pattern in (INLINE_SCRIPT, HANDLER, EVALUATED, OTHER_HOST):
        found = pattern.search(text)
        assert found is None, found and found.group()


@pytest.mark.parametrize("path", OURS, ids=lambda p: p.name)
def test_stylesheet_or_script_asks_no_other_host(path: Path) -> None:
    text = path.read_text()
    assert "http://" not in text
    assert "https://" not in text
    assert "eval(" not in text
