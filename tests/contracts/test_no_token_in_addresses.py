"""No address holds a token: forms that are sent as addresses, and parts that htmx asks for."""

import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
FOLDERS = ("templates", "benchmarks/systems")
FORM = re.compile(r"<form\b(?P<tag>[^>]*)>(?P<inside>.*?)</form>", re.DOTALL)
AS_ADDRESS = re.compile(r"""<button\b[^>]*\bformmethod=["']get["']""", re.IGNORECASE)
ASKED = re.compile(r"<[^>]*\bhx-get=[^>]*>", re.DOTALL)


def templates() -> Iterator[tuple[str, str]]:
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.html")):
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def faults(text: str) -> Iterator[str]:
    """Yield the parts of a template that would put a CSRF token into an address."""
    for form in FORM.finditer(text):
        posted = re.search(r"""method=["']post["']""", form["tag"], re.IGNORECASE)
        as_address = not posted or AS_ADDRESS.search(form["inside"])
        if as_address and "csrf_token" in form["inside"]:
            yield f"a form that is sent as an address: <form{form['tag'][:80]}>"
    for tag in ASKED.findall(text):
        if "hx-include" in tag and 'hx-params="not csrfmiddlewaretoken"' not in tag:
            yield f"htmx sends a form as an address: {tag[:120]}"


def test_no_template_sends_a_token_as_an_address() -> None:
    found = [f"{name}: {fault}" for name, text in templates() for fault in faults(text)]
    assert found == []


def test_the_search_finds_what_it_is_for() -> None:
    bad = (
        '<form method="get">{% csrf_token %}</form>',
        '<form id="x">{% csrf_token %}</form>',
        '<form method="post">{% csrf_token %}<button formmethod="get">A</button></form>',
        '<span hx-get="/a/" hx-include="#form"></span>',
    )
    assert all(list(faults(text)) for text in bad)
    assert not list(faults('<form method="post">{% csrf_token %}</form><span hx-get="/a/"></span>'))
