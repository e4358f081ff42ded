"""Work with a sign of carelessness, from the participant's last item to the manager's decision."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.recruiting.services import make_recruiting_link
from tests.annotation.recruiting.test_recruiting import submit, user_of
from tests.annotation.rows import make_person, make_runs, plan_for
from tests.functional.axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def check(page: Page) -> None:
    """No rule of accessibility is broken on this page, and nothing sticks out sideways."""
    assert violations(page) == [], page.url
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, page.url


def test_the_code_appears_when_the_manager_has_looked(
    live_server: Any, page: Page, browser: Browser, client: Any
) -> None:
    manager = make_person("mia")
    plan = plan_for(
        make_runs(tasks=3), [], dealing="pool", raters=2, order="random", queries_each=None,
        name="Kitchen plans",
    )  # fmt: skip
    study = create_planned_study(planned=plan_study(plan), by=manager)
    token = make_recruiting_link(
        study=study, by=manager, platform="other", places=5, items_each=6, days=7
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{live_server.url}/recruit/{token}/?participant=p1")
    page.get_by_role("button", name="Take part").click()
    submit(study, user_of("p1"), 6, active_ms=0, elapsed=3)
    page.goto(f"{live_server.url}/studies/{study.pk}/finished/")
    expect(page.get_by_role("heading", name="Your work is being checked")).to_be_visible()
    check(page)

    client.force_login(manager)
    boss = browser.new_page(viewport={"width": 1440, "height": 900})
    boss.context.add_cookies([
        {"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}
    ])  # fmt: skip
    boss.goto(f"{live_server.url}/studies/{study.pk}/recruiting/")
    check(boss)
    boss.get_by_role("checkbox", name="p1").check()
    boss.get_by_role("button", name="Give the code to selected").click()
    expect(boss.get_by_text("1 person gets the completion code.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="You are finished. Thank you")).to_be_visible()
    expect(page.get_by_text("Your completion code:")).to_be_visible()
    boss.close()
