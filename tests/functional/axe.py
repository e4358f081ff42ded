"""Accessibility as axe sees it, for the tests that drive a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page

AXE = (Path(__file__).parent.parent / "vendor" / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Of what is sound nothing is told: finding words for it takes most of axe's time.
RUN = """rules => axe.run({
  runOnly: {type: 'tag', values: rules}, resultTypes: ['violations'], elementRef: false,
}).then(found => found.violations)"""
LOOKS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1280, "light"), (390, "dark"))
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# A colour half-way through its change has whatever contrast the moment gives it. Animations that
# never end are not waited for, nor for long those of what is folded away: they stand still.
SETTLED = """Promise.race([
  Promise.allSettled(
    document.getAnimations().filter(one => one instanceof CSSTransition).map(one => one.finished)
  ),
  new Promise(done => setTimeout(done, 1000)),
])"""


def looks(page: Page) -> Iterator[str]:
    """The page wide and light, then narrow and dark; says which. Neither scrolls sideways."""
    page.wait_for_load_state()
    for width, theme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        # More of a page is drawn anew than a script can tell of: two frames later it is there.
        page.evaluate(DRAWN)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (page.url, width)
        yield f"{width} {theme}"


def violations(page: Page, *, serious: bool = False) -> list[str]:
    """Return what axe objects to on this page, once nothing moves any more: rule and element.

    ``serious``: leave out what it holds to be minor or moderate.

    The script comes in by the debugger, because the page's policy forbids foreign ones.
    """
    # A page that is still being read lacks what stands further down.
    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        session = page.context.new_cdp_session(page)
        session.send("Runtime.evaluate", {"expression": AXE})
        session.detach()
    page.evaluate(SETTLED)
    found: list[dict[str, Any]] = page.evaluate(RUN, RULES)
    grave = [v for v in found if not serious or v["impact"] in ("serious", "critical")]
    return [f"{v['id']}: {node['html'][:200]}" for v in grave for node in v["nodes"]]


def check_looks(page: Page) -> None:
    """Find no violation in any look; the window is of a laptop's size afterwards."""
    for look in looks(page):
        found = violations(page)
        assert not found, (look, found)
    page.set_viewport_size({"width": 1280, "height": 900})
