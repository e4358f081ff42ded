"""The pages of live sessions in a browser: a test goes on when what it sent is stored."""

from contextlib import AbstractContextManager
from typing import Any

from playwright.sync_api import Page

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
