"""Each analysis page of the shipped demo shows answer, figure and table on its first screen."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from analysis.pages.catalogue import PAGES
from tests.installations import Install
from tests.servers import serving, wait_until_answered

pytestmark = [pytest.mark.browser, pytest.mark.embedded, pytest.mark.slow]

SCREEN, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
# The demo has nothing for these.
EMPTY = {"labels", "outcomes", "preferences", "verdicts"}
# A page may have to wait for the reports of those before it; no time is tested here.
PATIENCE = 300_000
# Where the answer, the first figure and the first row of the first table that is seen end.
PARTS = [".answer .lede", ".first-parts .figure", ".first-parts table tbody tr"]
ENDS = """(parts) => parts.map((what) => {
  const seen = [...document.querySelectorAll(what)].find((one) => one.offsetParent);
  return seen ? Math.round(seen.getBoundingClientRect().bottom) : null;
})"""


def test_answer_figure_and_table_stand_on_the_first_screen(
    install: Install, browser: Browser
) -> None:
    there = install("first-screen", migrated=False)
    with serving(**there.environment(PLANJURY_DEMO="1")) as running:
        wait_until_answered(running)
        with browser.new_context(viewport=SCREEN) as context:  # type: ignore[arg-type]
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            base = f"http://localhost:{running.port}"
            page.goto(f"{base}/accounts/login/")
            page.get_by_label("Username").fill("researcher")
            page.get_by_label("Password").fill("planjury-demo")
            page.get_by_role("button", name="Sign in", exact=True).click()
            page.wait_for_url(f"{base}/")
            ends = {
                key: ends_of(page, f"{base}/analysis/{one.address}/") for key, one in PAGES.items()
            }
    assert {key for key, one in ends.items() if one is None} <= EMPTY
    assert {
        key: one
        for key, one in ends.items()
        if one is not None and not all(end is not None and end <= SCREEN["height"] for end in one)
    } == {}


def ends_of(page: Page, address: str) -> Any:
    """Return where parts of a page end, in pixels from its top; None for a page without data.

    No page may be wider than a phone, either.
    """
    page.goto(address)
    # A page that waits for what a worker computes loads itself again when that is there.
    waits = page.locator('#later input[name="waits"], #later[hx-vals*="waits"]')
    expect(waits).to_have_count(0, timeout=PATIENCE)
    if page.locator("#report .empty").count():
        return None
    drawn = page.locator(".first-parts [data-figure]").first
    expect(drawn).to_have_attribute("data-drawn", "", timeout=PATIENCE)
    ends = page.evaluate(ENDS, PARTS)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
    page.set_viewport_size(SCREEN)  # type: ignore[arg-type]
    return ends
