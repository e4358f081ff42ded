"""A new person, from the link to the first item that counts, in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Participant
from annotation.people.invitations import make_invite
from tests.annotation.entered import WHY, make_full_study
from tests.annotation.rows import make_person
from tests.functional.axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "quite-long-enough-7"


def check(page: Page) -> None:
    """No rule of accessibility is broken on this page, and nothing sticks out sideways."""
    assert violations(page) == [], page.url
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, page.url


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def follow(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def score(page: Page, value: int) -> None:
    """Answer the one question of a desk and submit it."""
    page.locator(f'[data-slot="safety"] label:has(input[value="{value}"])').click()
    press(page, "Submit ⏎")


def test_from_the_link_to_the_first_item(live_server: Any, page: Page) -> None:
    manager = make_person("mia")
    study = make_full_study([], manager, dealing="pool")
    token = make_invite(study=study, role="annotator", label="", days=7, by=manager)
    page.set_viewport_size({"width": 390, "height": 844})

    page.goto(f"{live_server.url}/join/{token}/")
    assert page.url == f"{live_server.url}/join/"
    check(page)
    page.get_by_label("Username").fill("cat")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    press(page, "Create account and join")
    expect(page.get_by_text("You have joined the study “Full”")).to_be_visible()
    check(page)

    follow(page, "Read the information")
    check(page)
    press(page, "I have read this. Continue")
    press(page, "I do not agree")
    expect(page.get_by_text("You declined")).to_be_visible()
    check(page)
    press(page, "I agree")

    page.wait_for_url("**/background/1/")
    page.set_viewport_size({"width": 1280, "height": 800})
    for choice in ("Master", "Like my first language", "A few times"):
        page.locator("label", has_text=choice).click()
    press(page, "Submit ⏎")

    page.wait_for_url("**/guidelines/")
    check(page)
    press(page, "I have read this. Continue")
    page.wait_for_url("**/training/1/")
    score(page, 5)
    expect(page.get_by_text("1 of 1 answer as expected")).to_be_visible()
    follow(page, "Next training item")
    score(page, 2)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_text(WHY)).to_be_visible()
    check(page)
    follow(page, "See your result")
    check(page)
    press(page, "Start the next round")
    page.set_viewport_size({"width": 1280, "height": 800})
    for position in (3, 4):
        page.wait_for_url(f"**/training/{position}/")
        score(page, 4)
        page.get_by_role("link", name="Next training item").or_(
            page.get_by_role("link", name="See your result")
        ).click()
    expect(page.get_by_role("heading", name="Training passed")).to_be_visible()
    cat = Participant.objects.get(study=study, user__username="cat")
    assert (cat.number, cat.training, cat.consent_version) == (1, "passed", 1)

    # the items of this study are in a pool that has one
    follow(page, "Start the items")
    page.wait_for_url("**/annotate/1/")
    press(page, "Take a break")
    check(page)
    press(page, "End break")
    page.wait_for_url("**/annotate/1/")
    score(page, 3)
    expect(page.get_by_text("and no more are left").first).to_be_visible()
    check(page)
