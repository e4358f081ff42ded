"""A real browser shows the login page and has nothing to complain of."""

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.browser


def test_the_login_page_loads_without_a_complaint(live_server, page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(f"{live_server.url}/accounts/login/")
    assert page.get_by_label("Username").is_visible()
    assert [line for line in complaints if not line.startswith(("log", "info"))] == []
