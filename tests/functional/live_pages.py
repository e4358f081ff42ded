"""The pages of live sessions in a browser: a test goes on when what it sent is stored."""

from contextlib import AbstractContextManager
from typing import Any

from playwright.sync_api import Locator, Page, expect

from annotation.models import LiveSession
from tests.annotation.live_sessions import carry


def stored(page: Page, address: str = "/reply/") -> AbstractContextManager[Any]:
    """Something is sent within, to an address like this; the block ends when the server answers.

    What a page shows is no sign of it: its buttons are away as soon as something is on its way.
    """
    return page.expect_response(
        lambda answer: answer.request.method == "POST" and address in answer.url
    )


def start(page: Page, session: LiveSession) -> None:
    """The player is ready, the worker works until somebody is asked, and the page shows it."""
    with stored(page, "/ready/"):
        page.get_by_role("button", name="I am ready").click()
    carry(session)
    page.goto(page.url.partition("#")[0])


def check_phone(page: Page, first: Locator, *more: Locator) -> None:
    """On a phone the ``first`` field to fill in is in sight, in a quarter of the height, and so is
    what is named besides.
    """
    usual = page.viewport_size
    assert usual
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(page.url.partition("#")[0])
    for each in (first, *more):
        expect(each).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Show all fields")).to_be_in_viewport(ratio=1)
    composer = page.locator(".room-composer").bounding_box()
    assert composer and composer["height"] <= 0.25 * 844
    page.set_viewport_size(usual)
