"""One place is adjudicated in a real browser by keys alone: own decision, the judges, final."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from annotation.models import Adjudication
from tests.annotation.judged import judge, make_judged, say
from tests.annotation.rows import make_person
from tests.functional.axe import violations
from tests.functional.test_annotation_loop import sign_in
from tests.functional.test_research_browser import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_own_decision_then_the_judges_then_final(live_server: Any, browser: Browser) -> None:
    people = [make_person("ann"), make_person("bob")]
    study = make_judged(people, make_person("mia"))
    for user, value in zip(people, (1, 5), strict=True):
        say(study, user, 1, {"safety": value, "autonomy": 1 + value // 5})
    judge(study, "safety", 2.5)
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, live_server.url, "mia")
    page.goto(f"{live_server.url}/studies/{study.pk}/adjudicate/")
    page.get_by_role("link", name="Start with the first").click()
    page.wait_for_url("**/adjudicate/1/safety/")
    write = page.keyboard.insert_text
    press(page, "j")  # the judges are not there yet
    press(page, "4")
    write("The glue is named.")
    press(page, "Enter")
    expect(page.get_by_text("Your decision is stored.")).to_be_visible()
    expect(page.get_by_text("2.5", exact=True)).to_have_count(0)
    press(page, "j")
    expect(page.get_by_text("2.5", exact=True)).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    press(page, "3")
    page.locator("#reason").fill("Nearer to the judge.")
    press(page, "Enter")
    expect(page.get_by_text("after the judges")).to_be_visible()
    press(page, "n")
    page.wait_for_url("**/adjudicate/")  # autonomy differs by one point only
    rows = Adjudication.objects.order_by("pk").values_list("value", "reason", "revealed")
    assert list(rows) == [(4, "The glue is named.", False), (3, "Nearer to the judge.", True)]
    assert complaints == []
    context.close()
