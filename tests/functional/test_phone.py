"""The live room and the desk on a phone, as far as Chromium emulates one: touch, a dense screen,
and a keyboard that covers part of it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from annotation.messages.services import send_message
from tests.annotation.live_sessions import begin, make_live_session, make_live_study
from tests.annotation.rows import make_person, make_study
from tests.functional.axe import DRAWN
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTH, HEIGHT, KEYBOARD = 390, 844, 336
# Chromium has no keyboard of a screen. Where one covers the window, the visual viewport is lower,
# and the window's own height stays.
COVER = """height => {
  Object.defineProperty(visualViewport, "height", {get: () => height, configurable: true});
  visualViewport.dispatchEvent(new Event("resize"));
}"""
ZOOM = """([scale, height]) => {
  for (const [name, value] of [["scale", scale], ["height", height]]) {
    Object.defineProperty(visualViewport, name, {get: () => value, configurable: true});
  }
  visualViewport.dispatchEvent(new Event("resize"));
}"""


@pytest.fixture
def ann(db: None) -> User:
    return make_person("ann")


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions move when a test moves them."""
    monkeypatch.setattr("benchmarks.jobs.wake_up._send", lambda task, ids: None)


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    with browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=3, has_touch=True,
        is_mobile=True,
    ) as context:  # fmt: skip
        yield context.new_page()


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def test_the_composer_stays_above_the_keyboard(live_server: Any, phone: Page, ann: User) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    sign_in(phone, live_server.url)
    phone.goto(f"{live_server.url}/sessions/{session.pk}/")
    field, seen = phone.locator("#session-desk textarea[name=text]"), HEIGHT - KEYBOARD
    # Under the composer stands the line that says what the other side sees.
    assert HEIGHT - 10 <= bottom(phone, ".room-panes > .room-note") <= HEIGHT
    box, actions = field.bounding_box(), phone.locator("#session-desk .form-actions").bounding_box()
    assert box is not None and actions is not None and box["y"] + 44 <= actions["y"], (box, actions)
    field.tap()
    phone.evaluate(COVER, seen)
    phone.evaluate(DRAWN)
    assert bottom(phone, ".room-composer") <= seen
    assert bottom(phone, "#session-desk button[type=submit]") <= seen
    box = field.bounding_box()
    assert box is not None and box["y"] > 52 and box["y"] + 44 < seen, box
    assert phone.locator(".room-bar").bounding_box()["y"] == 0  # type: ignore[index]
    assert phone.locator("#room-talk").bounding_box()["height"] >= 90  # type: ignore[index]
    field.fill("Something that nobody would say.")
    phone.get_by_role("button", name="Send").tap()
    expect(phone.locator(".talk-line.own").last).to_contain_text("nobody would say")
    phone.evaluate(COVER, HEIGHT)
    phone.evaluate(DRAWN)
    assert bottom(phone, ".room-panes > .room-note") <= HEIGHT
    # Zoomed with two fingers, less of the window is seen, but nothing covers it.
    phone.evaluate(ZOOM, [2, HEIGHT / 2])
    phone.evaluate(DRAWN)
    assert bottom(phone, ".room-panes > .room-note") <= HEIGHT


def test_a_row_of_pages_shows_the_current_one(live_server: Any, phone: Page) -> None:
    make_person("ada", superuser=True)
    sign_in(phone, live_server.url, "ada")
    phone.goto(f"{live_server.url}/runs/")
    row = phone.locator(".subnav")
    assert row.evaluate("row => row.scrollWidth > row.clientWidth")
    row.locator("a").last.click()
    current = row.locator("[aria-current]")
    expect(current).to_have_text(row.locator("a").last.inner_text())
    expect(current).to_be_in_viewport(ratio=1)


def test_the_drawer_opens_and_closes_by_touch(live_server: Any, phone: Page, ann: User) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    sign_in(phone, live_server.url)
    phone.goto(f"{live_server.url}/sessions/{session.pk}/")
    profile = phone.get_by_role("heading", name="What the agent does not know")
    info = phone.get_by_role("button", name="Info")
    expect(profile).to_be_hidden()
    for close in (lambda: info.tap(), lambda: phone.touchscreen.tap(12, HEIGHT / 2)):
        info.tap()
        expect(profile).to_be_in_viewport()
        expect(info).to_have_attribute("aria-expanded", "true")
        phone.locator(".session-desk aside summary").first.tap()  # what is in it stays usable
        expect(profile).to_be_in_viewport()
        close()
        expect(profile).to_be_hidden()
        expect(info).to_have_attribute("aria-expanded", "false")


def test_quick_touches_on_scores_are_no_zoom(live_server: Any, phone: Page, ann: User) -> None:
    study = make_study(annotators=[ann], manager=make_person("mia"))
    sign_in(phone, live_server.url)
    phone.goto(f"{live_server.url}/studies/{study.pk}/annotate/1/")
    scores = phone.locator(".score-scale").first.locator("label")
    box = scores.nth(1).bounding_box()
    assert box is not None and box["width"] >= 44 and box["height"] >= 44
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for _ in range(2):
        phone.touchscreen.tap(*at)
    expect(scores.nth(1).locator("input")).to_be_checked()
    assert phone.evaluate("visualViewport.scale") == 1
    pressed = phone.locator(".score-scale label, button, summary, a").all()
    assert {one.evaluate("one => getComputedStyle(one).touchAction") for one in pressed} == {
        "manipulation"
    }
    # Smaller letters than these make some browsers zoom into a field that is touched.
    for field in phone.locator("textarea, input[type=text], input[type=search]").all():
        assert field.evaluate("one => parseFloat(getComputedStyle(one).fontSize)") >= 16


@pytest.mark.parametrize("width", [WIDTH, 360])
def test_the_bar_of_a_long_study_is_one_row(
    live_server: Any, phone: Page, ann: User, width: int
) -> None:
    """Two digits in "10 of 12" and an answer that waits; a message takes a row of its own."""
    mia = make_person("mia")
    study = make_study(annotators=[ann], manager=mia, tasks=6, each=6)
    sign_in(phone, live_server.url)
    phone.set_viewport_size({"width": width, "height": HEIGHT})
    phone.goto(f"{live_server.url}/studies/{study.pk}/annotate/10/")
    phone.route("**/answers/", lambda route: route.abort())
    phone.locator(".score.current [type=radio]").first.check()
    expect(phone.locator(".desk-bar .save-state")).to_have_text("1 waiting")
    expect(phone.locator(".desk-place")).to_contain_text("10 of 12")
    for most in (56, 104):
        assert bottom(phone, ".desk-bar") <= most
        phone.get_by_role("button", name="Full height").tap()
        phone.evaluate(DRAWN)
        handle = phone.locator(".sheet-handle").bounding_box()
        assert handle and handle["y"] >= bottom(phone, ".desk-bar")
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        send_message(study=study, by=mia, to=ann, text="Well done.")
        phone.reload()
        expect(phone.locator(".desk-mail")).to_be_visible()
