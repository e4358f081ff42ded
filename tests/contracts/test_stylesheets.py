"""Styles stay small, none is left over from a page that is gone, and licences are kept."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
STYLES = sorted((ROOT / "static").rglob("*.css"))
MAX_BYTES = 120_000
# Put on elements by the htmx library.
OF_LIBRARIES = {"htmx-request"}
CLASS = re.compile(r"\.([a-z][\w-]*)")
WORD = re.compile(r"[a-zA-Z][\w-]*")
# Beginnings of names whose end a template or a script fills in, as in class="cols-{{ n }}".
STEM = re.compile(r"([a-z][\w-]*-)(?:\$?\{)")


def selectors(css: str) -> list[str]:
    """Return what stands before each block of a stylesheet, without at-rules and attributes."""
    css = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", css, flags=re.DOTALL)
    heads = [head.rpartition(";")[2].strip() for head in re.findall(r"([^{}]+)\{", css)]
    return [head for head in heads if not head.startswith("@")]


def sources() -> str:
    """Return every template, module and script that may name a class."""
    command = ["git", "ls-files", "-z", "*.html", "*.py", "*.js"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603
    own = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    mine = [n for n in own if not n.startswith(("tests/", "static/vendor/", "client/", "docs/"))]
    return "\n".join((ROOT / name).read_text() for name in mine)


def test_all_styles_together_stay_small() -> None:
    assert sum(path.stat().st_size for path in STYLES) <= MAX_BYTES


def test_every_class_in_a_selector_is_used() -> None:
    text = sources()
    words, stems = set(WORD.findall(text)) | OF_LIBRARIES, tuple(set(STEM.findall(text)))
    dead = [
        f"{path.name}: .{name}"
        for path in STYLES
        for selector in selectors(path.read_text())
        for name in CLASS.findall(selector)
        if name not in words and not name.startswith(stems)
    ]
    assert dead == []


def test_rules_taken_from_elsewhere_keep_their_licence() -> None:
    assert "base.LICENSE.txt" in (ROOT / "static/css/base.css").read_text()
    licence = (ROOT / "static/css/base.LICENSE.txt").read_text()
    assert "Copyright (c) 2019-2024 Pico" in licence
    assert "The above copyright notice and this permission notice shall be included" in licence
