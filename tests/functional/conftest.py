"""Fixtures for every test that drives a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

# All parts of the tests run at once, so that any page may have to wait for the others. A deadline
# only says after which time a page hangs; no test is about it.
expect.set_options(timeout=15_000)


@pytest.fixture
def quiet(page: Page) -> Iterator[Page]:
    """A page on which scripts and the security policy have nothing to complain of."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda m: complaints.append(m.text) if "Security Policy" in m.text else None,
    )
    page.on("request", lambda request: complaints.extend(tokens(request.url)))
    yield page
    assert complaints == []


def tokens(url: str) -> list[str]:
    """The address, where it holds a token of a form or of a session."""
    return [url] if "csrfmiddlewaretoken" in url or "sessionid" in url else []
