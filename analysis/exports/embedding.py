"""Pages that stand for themselves: scripts, styles and data within one file, and nothing else.

Such a page is opened from a disk, where no server says what it may do. It says so itself: its
policy allows the scripts and styles that it holds, by their digests, and no address at all.
"""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

# What ends a script early, or a line in old readers of JSON, as escapes that mean the same.
ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
PLOTLY = "vendor/plotly-cartesian-*.min.js"
# The drawing library adds its rules to an element of this id; made by itself, it would be refused.
PLOTLY_STYLE = "/* rules of the drawing library */"


@cache
def static_text(name: str) -> str:
    """Return a static file of ours as text; a star in its name stands for a version."""
    folder = Path(settings.STATICFILES_DIRS[0])
    (path,) = folder.glob(name)
    return path.read_text(encoding="utf-8")


@cache
def typeface(name: str = "css/fonts.css") -> str:
    """Return a stylesheet of the typeface with its files within, as data."""
    fonts = Path(settings.STATICFILES_DIRS[0]) / "fonts"

    def as_data(link: re.Match[str]) -> str:
        return f"url(data:font/woff2;base64,{b64encode((fonts / link[1]).read_bytes()).decode()})"

    return re.sub(r'url\("../fonts/([\w-]+\.woff2)"\)', as_data, static_text(name))


def module_text(*names: str) -> str:
    """Return static ES modules joined into one that imports nothing, to stand within a page.

    Each import of theirs is one line, and their names at the top level differ.
    """
    lines = "".join(static_text(name) for name in names).splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("import "))


def script_tag(text: str, *, module: bool = False) -> SafeString:
    """Return a script of ours as an element; never one with text that somebody wrote."""
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError("this script cannot stand within a page: it would end early")
    kind = ' type="module"' if module else ""
    return mark_safe(f"<script{kind}>{text}</script>")


def style_tag(text: str) -> SafeString:
    """Return a stylesheet of ours within the page."""
    if "</style" in text.lower():
        raise ValueError("this stylesheet cannot stand within a page: it would end early")
    return mark_safe(f"<style>{text}</style>")


def plotly_style_tag() -> SafeString:
    """Return the style element of Plotly with its rules, which it would else add by script."""
    return mark_safe(f'<style id="plotly.js-style-global">{PLOTLY_STYLE}</style>')


def json_tag(text: str, name: str) -> SafeString:
    """Return JSON as data of the page, under an id: whatever it holds, it does not end the
    element.
    """
    for one, escape in ESCAPES.items():
        text = text.replace(one, escape)
    tag = '<script type="application/json" id="{}">{}</script>'
    return format_html(tag, name, mark_safe(text))


def data_tag(value: object, name: str) -> SafeString:
    """Return a plain value as data of the page."""
    return json_tag(json.dumps(value, ensure_ascii=False, allow_nan=False), name)


def policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return the page's content policy: only what the file itself holds, images and fonts as data.

    The drawing library sets styles on its elements, which is allowed for attributes alone.
    """
    run = " ".join(map(digest, scripts)) or "'none'"
    look = " ".join(map(digest, styles)) or "'none'"
    return (
        f"default-src 'none'; script-src {run}; style-src {look}; "
        f"style-src-elem {look}; style-src-attr 'unsafe-inline'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def digest(text: str) -> str:
    """Return the digest of a script or style as a policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
