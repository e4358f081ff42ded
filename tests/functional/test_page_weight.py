"""Tests of the size of an analysis page, sent by the server as shipped, for a slow line."""

import lzma
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.installations import Install
from tests.servers import Server, serving, wait_until_answered

pytestmark = [pytest.mark.browser, pytest.mark.embedded, pytest.mark.slow]

COLD_KB, WARM_KB = 600, 60
PAGES = ("decline", "agreement", "compare-models")
DEMO = max((Path(__file__).parents[1] / "upgrade").glob("demo-*.sqlite3.xz"))


@pytest.fixture
def server(install: Install) -> Iterator[Server]:
    """The server with its shipped settings, on a copy of the newest kept demo."""
    there = install("weighed", migrated=False)
    (there.folder / "planjury.sqlite3").write_bytes(lzma.decompress(DEMO.read_bytes()))
    with serving(**there.environment()) as running:
        wait_until_answered(running)
        yield running


def test_analysis_pages_are_light(server: Server, browser: Browser) -> None:
    base = f"http://localhost:{server.port}"
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{base}/accounts/login/")
        page.get_by_label("Username").fill("researcher")
        page.get_by_label("Password").fill("planjury-demo")
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url(f"{base}/")
        state = context.storage_state()
        # How often a page asks for a report that a job computes depends on the machine.
        for name in PAGES:
            received(context, page, f"{base}/analysis/{name}/")
    for name in PAGES:
        with browser.new_context(storage_state=state) as context:
            page = context.new_page()
            address = f"{base}/analysis/{name}/"
            cold = received(context, page, address)
            warm = received(context, page, address)
        assert cold < COLD_KB * 1024, f"{name} sends {cold:,} bytes to a new browser"
        assert warm < WARM_KB * 1024, f"{name} sends {warm:,} bytes to a browser that was there"


def received(context: BrowserContext, page: Page, address: str) -> int:
    """Return the bytes that the network brought until the page and its first figure are shown."""
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    lengths: list[float] = []
    network.on("Network.loadingFinished", lambda event: lengths.append(event["encodedDataLength"]))
    page.goto(address)
    page.locator("[data-figure][data-drawn]").first.wait_for(timeout=60_000)
    page.wait_for_load_state("networkidle")
    network.detach()
    return int(sum(lengths))
