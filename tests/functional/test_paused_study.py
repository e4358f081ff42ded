"""A manager pauses a study while somebody answers: the answer waits in the browser, and is sent."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import RatingEdit
from tests.annotation.rows import make_person, make_study
from tests.functional.test_annotation_loop import open_item, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_what_is_answered_in_a_pause_waits_and_is_sent(
    live_server: Any, page: Page, browser: Browser
) -> None:
    study = make_study(annotators=[make_person("ann")], manager=make_person("mia"))
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    other = browser.new_context()
    desk = other.new_page()
    sign_in(desk, live_server.url, "mia")
    desk.goto(f"{live_server.url}/studies/{study.pk}/")
    desk.get_by_role("button", name="Pause").click()
    expect(desk.get_by_text("The study is paused.")).to_be_visible()

    page.keyboard.press("4")
    expect(page.locator(".desk-bar .save-state")).to_contain_text("paused")
    assert not RatingEdit.objects.exists()

    desk.get_by_role("button", name="Resume").click()
    expect(desk.get_by_text("The study is open.")).to_be_visible()
    page.reload()
    expect(page.locator(".desk-bar .save-state")).to_contain_text("saved")
    assert RatingEdit.objects.get().value == 4
    # The manager's page tells of it by itself.
    expect(desk.locator("#annotator-1")).to_be_visible()
    other.close()
