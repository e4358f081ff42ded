"""A button that sends no form does something: a script, htmx or the browser reads one of its
attributes.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUTTON = re.compile(r'<button type="button"[^>]*>')
DATA = re.compile(r"\bdata-([a-z][a-z-]*)")
# Read by htmx, by the browser, or by a script that knows the element.
ACTS = re.compile(r"\s(?:hx-|popovertarget=|id=)")
STYLE_GUIDE = "style_guide"


def as_property(name: str) -> str:
    """Return the name that a script reads an attribute by: ``show-pane`` as ``showPane``."""
    return re.sub(r"-(\w)", lambda letter: letter[1].upper(), name)


def test_every_button_is_read_by_a_script() -> None:
    paths = sorted((ROOT / "static/js").rglob("*.js"))
    scripts = "\n".join(path.read_text() for path in paths)
    idle = [
        f"{path.relative_to(ROOT)}: {button}"
        for path in sorted((ROOT / "templates").rglob("*.html"))
        if STYLE_GUIDE not in path.parts
        for button in BUTTON.findall(path.read_text())
        if not ACTS.search(button)
        and not any(
            any(
                way in scripts
                for way in (f"data-{name}", f"dataset.{as_property(name)}", f'"{name}"')
            )
            for name in DATA.findall(button)
        )
    ]
    assert idle == []
