"""Signing out with answers that are still in the browser, and who comes after: a real browser."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import RatingEdit, Study
from tests.annotation.rows import make_person, make_study
from tests.functional.test_annotation_loop import open_item, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ANSWERS = "**/answers/"
KEYS = "Object.keys(localStorage).filter(key => key.startsWith('planjury.answers.')).length"


@pytest.fixture
def study(db: None) -> Study:
    """An item each for ann and bob, both at place 1."""
    return make_study(annotators=[make_person("ann"), make_person("bob")])


def cut(route: Route) -> None:
    route.abort("internetdisconnected")


def sign_out(page: Page, url: str) -> None:
    """Sign out by the menu, as far as that goes."""
    page.goto(f"{url}/studies/")
    page.locator("summary", has_text="account and theme").click()
    page.get_by_role("button", name="Sign out").click()


def test_unsent_answers_are_told_of_sent_or_removed(
    live_server: Any, page: Page, study: Study
) -> None:
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    page.route(ANSWERS, cut)
    page.keyboard.press("4")
    page.keyboard.press("2")
    expect(page.locator(".desk-bar .save-state")).to_contain_text("2 waiting")

    sign_out(page, live_server.url)
    expect(page.get_by_text("2 answers are not on the server yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_hidden()
    # Sent first: signed out once the network is back.
    page.get_by_role("button", name="Send, then sign out").click()
    expect(page.get_by_text("signed out as soon as they are sent")).to_be_visible()
    assert not RatingEdit.objects.exists()
    page.unroute(ANSWERS, cut)
    page.wait_for_url("**/accounts/login/**")
    assert sorted(RatingEdit.objects.values_list("value", flat=True)) == [2, 4]
    assert page.evaluate(KEYS) == 0

    # Or given up: nothing of it stays, and nothing was sent.
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    page.route(ANSWERS, cut)
    page.keyboard.press("5")
    expect(page.locator(".desk-bar .save-state")).to_contain_text("1 waiting")
    sign_out(page, live_server.url)
    expect(page.get_by_text("1 answer is not on the server yet.")).to_be_visible()
    page.get_by_role("button", name="Sign out without sending").click()
    page.wait_for_url("**/accounts/login/**")
    assert page.evaluate(KEYS) == 0
    assert RatingEdit.objects.count() == 2


def test_a_desk_left_open_sends_nothing_in_the_name_of_who_comes_next(
    live_server: Any, page: Page, study: Study
) -> None:
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    # Bob takes the seat without Ann having signed out.
    page.context.clear_cookies(name="sessionid")
    other = page.context.new_page()
    sign_in(other, live_server.url, "bob")
    page.keyboard.press("3")
    expect(page.locator(".save-why")).to_contain_text("omebody else is signed in")
    assert not RatingEdit.objects.exists()
    # Bob neither sees them nor is warned of them.
    other.goto(live_server.url)
    expect(other.locator("[data-answers-of]")).to_be_hidden()
    sign_out(other, live_server.url)
    other.wait_for_url("**/accounts/login/**")
    # They wait for Ann, who finds them sent when she is back.
    assert other.evaluate(KEYS) == 1
    sign_in(other, live_server.url)
    other.goto(live_server.url)
    expect(other.locator(".answers-left .save-state")).to_have_text("saved")
    assert other.evaluate(KEYS) == 0
    assert RatingEdit.objects.get().by.username == "ann"


def test_what_another_tab_has_not_saved_goes_with_who_signs_out(
    live_server: Any, page: Page, study: Study
) -> None:
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    page.evaluate("window.setTimeout = () => 0")  # no pause after the last key ends
    page.keyboard.press("Shift+C")
    page.keyboard.type("Read twice.")
    other = page.context.new_page()
    with page.expect_navigation():
        sign_out(other, live_server.url)
    page.wait_for_url("**/accounts/login/**")
    assert page.evaluate(KEYS) == 0
    assert not RatingEdit.objects.exists()
