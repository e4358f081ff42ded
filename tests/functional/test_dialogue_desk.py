"""The desk of a dialogue in a real browser: from turn to turn by keys, folds, theme and phone."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.models import Assignment, Study
from tests.annotation.rows import make_person
from tests.annotation.talks import make_talk_study
from tests.functional.axe import violations
from tests.functional.test_annotation_loop import answered, open_item, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(db: None) -> Study:
    """Two dialogues for ann."""
    return make_talk_study([make_person("ann")], make_person("mia"))


def focused(page: Page) -> Any:
    return page.evaluate("document.activeElement.closest('.turn')?.id")


def test_turns_by_keys(live_server: Any, page: Page, study: Study) -> None:
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_viewport_size({"width": 1280, "height": 500})
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    press = page.keyboard.press
    for key, turn in (("j", "turn-1"), ("j", "turn-2"), ("k", "turn-1"), ("f", "turn-2")):
        press(key)
        assert focused(page) == turn, key
    press("[")
    expect(page.locator(".turns > .turn[open]")).to_have_count(0)
    # A link to a folded turn opens it.
    page.locator(".desk-turns a").nth(1).click()
    expect(page.locator("#turn-2")).to_have_attribute("open", "")
    press("]")
    expect(page.locator(".turns > .turn[open]")).to_have_count(2)
    press("d")  # there is nothing to compare
    press("4")
    answered(page, "1 of 10")
    press("u")
    answered(page, "0 of 10")
    for _ in range(10):
        press("5")
    answered(page, "10 of 10")
    press("Enter")
    page.wait_for_url("**/annotate/2/")
    assert Assignment.objects.get(study=study, position=1).state == "submitted"
    assert complaints == []


def test_a_long_result_opens_in_two_steps(live_server: Any, page: Page, study: Study) -> None:
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    fold = page.locator(".utterance.tool .fold").first
    more = fold.locator(".rest > summary")
    expect(more).to_be_hidden()
    fold.locator("> summary").click()
    expect(more).to_be_visible()
    more.click()
    expect(fold.locator(".rest > span")).to_be_visible()
    expect(more).to_be_hidden()


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_it_is_accessible_and_never_scrolls_sideways(
    live_server: Any, browser: Browser, study: Study, theme: Any, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, color_scheme=theme, has_touch=width < 600
    )
    page = context.new_page()
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    page.evaluate("document.querySelectorAll('.desk-read details').forEach(d => (d.open = true))")
    assert violations(page) == []
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0
    context.close()
