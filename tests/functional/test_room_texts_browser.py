"""What a player typed in a real browser, where it was not sent, is too long, or has two numbers."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, Page, expect

from annotation.live.control.services import end_session, roll_back
from annotation.live.play import session_state
from annotation.models import LiveSession
from benchmarks.asks.forms import LONGEST
from tests.annotation.live_sessions import begin, carry, make_live_session, make_live_study, say
from tests.annotation.rows import make_person
from tests.functional.axe import check_looks
from tests.functional.live_pages import stored
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions move when a test moves them, and pages look often whether they have."""
    for name in ("SOON", "LATER"):
        monkeypatch.setattr(session_state, name, 0.3)
    monkeypatch.setattr("benchmarks.jobs.wake_up._send", lambda task, ids: None)


@pytest.fixture
def ann(db: None) -> User:
    return make_person("ann")


def sit(context: BrowserContext, url: str, session: LiveSession) -> Page:
    page = context.new_page()
    sign_in(page, url, "ann")
    page.goto(f"{url}/sessions/{session.pk}/")
    return page


def test_that_a_reply_was_not_sent_stays_until_it_is_closed(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    say(session, "No ladder, please.")
    carry(session)
    page = sit(context, live_server.url, session)
    field = page.get_by_label("Your message", exact=False).first
    field.fill("Neither a chair.")
    page.route("**/state/**", lambda route: route.abort())
    roll_back(session=session, step=0, by=make_person("rae"), reason="once more")
    page.get_by_role("button", name="Send message").click()
    told = page.locator("#session-refused")
    expect(told).to_contain_text("Not sent: this reply is no longer needed.")
    page.unroute("**/state/**")
    carry(session)
    expect(page.locator("#session-turn")).to_contain_text("Your turn")
    for _ in range(3):
        with page.expect_response("**/state/**"):
            pass
    expect(told).to_be_visible()
    expect(page.locator("#late-text")).to_have_value("Neither a chair.")
    check_looks(page)
    told.get_by_role("button", name="Close").click()
    expect(told).to_have_count(0)
    expect(page.locator("#late-text")).to_have_value("Neither a chair.")


def test_a_number_typed_after_the_automatic_one_counts_once(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    session = make_live_session(make_live_study(mode="agent"), [ann])
    begin(session)
    page = sit(context, live_server.url, session)
    field, keys = page.locator("textarea[data-steps]"), page.keyboard
    field.fill("")
    keys.type("1. Ask.")
    keys.press("Enter")
    keys.type("2. Wait 2.5 minutes.")
    keys.press("Enter")
    keys.type("3) 3 times.")
    expect(field).to_have_value("1. Ask.\n2. Wait 2.5 minutes.\n3. 3 times.")


def test_a_text_beyond_the_bound_is_refused_before_it_is_inserted(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    session = make_live_session(make_live_study(mode="agent"), [ann])
    begin(session)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = sit(context, live_server.url, session)
    field = page.locator("textarea[data-steps]")
    field.fill("1. Ask.")

    def paste(length: int) -> None:
        text = "2. " + "x" * (length - 3)
        page.evaluate("text => navigator.clipboard.writeText('\\n' + text)", text)
        field.press("End")
        field.press("Control+v")

    paste(1_000_000)
    notice = page.locator("#notices")
    expect(notice).to_contain_text("1,000,009 characters, and 100,000 are the most")
    expect(field).to_have_value("1. Ask.")
    paste(LONGEST - 9)
    expect(field).to_have_js_property("textLength", LONGEST - 1)  # it is sent with "\r\n"
    with stored(page):
        page.get_by_role("button", name="Send plan").click()
    assert session.trajectory.exchanges.filter(role="agent", text__endswith="x" * 1000).exists()


def test_players_read_why_a_manager_ended_the_session(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    page = sit(context, live_server.url, session)
    end_session(session=session, by=make_person("rae"), reason="the hour is up")
    expect(page.locator(".room-over")).to_contain_text(
        "A manager of the study ended the session: “the hour is up”."
    )
