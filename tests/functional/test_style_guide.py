"""The design system in a real browser: readable by all, at every width, within the CSP."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, Page, Route, expect

from tests.functional.axe import violations

PARTS, DESK = "/styleguide/", "/styleguide/desk/"

LIST_SHIFTS = """
window.shifts = [];
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.shifts.push([entry.startTime, entry.value]);
}).observe({type: 'layout-shift', buffered: true});
"""
FRAME = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
WIDTHS = """async () => {
  await document.fonts.load('16px "PlanJury Sans"');
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = '16px "PlanJury Sans"';
  return {
    face: document.fonts.check('16px "PlanJury Sans"'),
    digits: [...'0123456789'].map(one => pen.measureText(one).width),
  };
}"""

pytestmark = pytest.mark.browser


@pytest.fixture
def staff(live_server: Any, admin_user: User, client: Client) -> Any:
    """The stored state of a browser in which an administrator is signed in."""
    client.force_login(admin_user)
    cookie = {
        "name": "sessionid", "value": client.cookies["sessionid"].value, "domain": "localhost",
        "path": "/", "expires": -1, "httpOnly": True, "secure": False, "sameSite": "Lax",
    }  # fmt: skip
    return {"cookies": [cookie], "origins": []}


@pytest.fixture
def browser_context_args(browser_context_args: dict[str, Any], staff: Any) -> dict[str, Any]:
    """Have the page of every test signed in as staff."""
    return {**browser_context_args, "storage_state": staff}


@pytest.mark.parametrize("path", [PARTS, DESK, "/nowhere/"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_page_is_accessible_and_never_scrolls_sideways(
    live_server: Any, browser: Browser, staff: Any, path: str, theme: Any, width: int
) -> None:
    with browser.new_context(
        storage_state=staff, viewport={"width": width, "height": 800}, color_scheme=theme
    ) as context:
        page = context.new_page()
        page.goto(live_server.url + path)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_breaks_the_content_security_policy(live_server: Any, page: Page) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(live_server.url + PARTS)
    page.locator("#decline").scroll_into_view_if_needed()
    expect(page.locator("#decline .main-svg").first).to_be_visible()
    assert [text for text in complaints if "Security Policy" in text or "Error" in text] == []


def test_figure_is_redrawn_in_the_colours_of_the_theme(live_server: Any, page: Page) -> None:
    page.goto(live_server.url + PARTS)
    page.locator("#decline").scroll_into_view_if_needed()
    line = page.locator("#decline .scatterlayer .lines path").first
    expect(line).to_be_attached()
    light = line.evaluate("path => getComputedStyle(path).stroke")
    page.locator("header [data-menu] summary").click()
    page.locator("[data-theme-choice=dark]").click()
    expect(line).not_to_have_css("stroke", light)
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_figure_follows_a_theme_that_changes_while_it_is_drawn(
    live_server: Any, page: Page
) -> None:
    page.goto(live_server.url + PARTS)
    broken = page.locator("#broken")
    broken.scroll_into_view_if_needed()
    again = broken.get_by_role("button", name="Try again")
    expect(again).to_be_visible()
    page.wait_for_function("() => window.Plotly")
    page.evaluate(
        """() => {
          const { newPlot } = Plotly;
          Plotly.newPlot = async (...given) => {
            const made = await newPlot(...given);
            document.querySelector("[data-theme-choice=dark]").click();
            return made;
          };
        }"""
    )
    line = {"x": [1, 2], "y": [3, 4], "mode": "lines", "line": {"color": "var(--series-1)"}}
    spec = {"data": [line], "layout": {}}
    page.route("**/figure.json?fails*", lambda route: route.fulfill(json=spec))
    again.click()
    expect(broken).to_have_attribute("data-drawn", "")
    stroke = broken.locator(".scatterlayer .lines path").first
    found = stroke.evaluate("path => getComputedStyle(path).stroke")
    page.evaluate("document.dispatchEvent(new CustomEvent('themechange'))")
    page.evaluate(FRAME)
    expect(stroke).to_have_css("stroke", found)


def test_figure_that_fails_says_so_and_can_be_tried_again(live_server: Any, page: Page) -> None:
    page.goto(live_server.url + PARTS)
    broken = page.locator("#broken")
    broken.scroll_into_view_if_needed()
    expect(broken.get_by_role("alert")).to_contain_text("could not be drawn")
    spec = {"data": [{"x": [1, 2], "y": [3, 4]}], "layout": {"title": {"text": "Drawn now"}}}
    page.route("**/figure.json?fails*", lambda route: route.fulfill(json=spec))
    broken.get_by_role("button", name="Try again").click()
    expect(broken).to_contain_text("Drawn now")
    expect(broken.get_by_role("alert")).to_have_count(0)


def test_undefined_value_gives_its_reason_on_focus(live_server: Any, page: Page) -> None:
    page.goto(live_server.url + PARTS)
    page.locator(".tiles .undefined").focus()
    expect(page.get_by_role("tooltip")).to_contain_text("rated by two people")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_have_count(0)
    # By mouse: it stays while the pointer is on it, and goes after that.
    page.locator("body").click(position={"x": 2, "y": 2})
    page.locator(".tiles .undefined").hover()
    page.get_by_role("tooltip").hover()
    page.wait_for_timeout(600)
    expect(page.get_by_role("tooltip")).to_contain_text("rated by two people")
    page.mouse.move(2, 2)
    expect(page.get_by_role("tooltip")).to_have_count(0)


def test_failed_request_is_told_in_words(live_server: Any, page: Page) -> None:
    page.goto(live_server.url + PARTS)
    page.evaluate("htmx.ajax('GET', '/gone/', {target: '#content', swap: 'innerHTML'})")
    expect(page.locator("#notices")).to_contain_text("no longer exists")
    expect(page.locator("h1")).to_be_visible()


def test_on_a_phone_the_sheet_covers_the_questions_only_at_full_height(
    live_server: Any, browser: Browser, staff: Any
) -> None:
    with browser.new_context(
        storage_state=staff, viewport={"width": 390, "height": 844}
    ) as context:
        page = context.new_page()
        page.goto(live_server.url + DESK)
        form, text = page.locator(".desk-form"), page.locator(".desk-read .turns")
        expect(form).to_be_visible()
        page.get_by_role("button", name="Full height").click()
        expect(form).to_be_hidden()
        page.get_by_role("button", name="Trajectory").click()
        expect(form).to_be_visible()
        expect(text).to_be_hidden()


def test_every_answer_is_a_target_of_44_pixels(
    live_server: Any, browser: Browser, staff: Any
) -> None:
    with browser.new_context(
        storage_state=staff, viewport={"width": 320, "height": 640}
    ) as context:
        page = context.new_page()
        page.goto(live_server.url + DESK)
        assert page.locator(".scale-points .score-scale > label").count() == 50
        sizes = page.locator(":is(.score-scale, .mark-list) > label:visible").evaluate_all(
            "labels => labels.map(x => x.getBoundingClientRect()).map(r => [r.width, r.height])"
        )
        assert len(sizes) > 60
        assert min(min(size) for size in sizes) >= 44


def test_dialog_opens_and_closes_by_its_buttons(live_server: Any, page: Page) -> None:
    page.goto(live_server.url + DESK)
    dialog = page.get_by_role("dialog", name="Keys")
    page.get_by_role("button", name="Keys").click()
    expect(dialog).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_a_click_before_the_scripts_have_loaded_is_not_lost(live_server: Any, page: Page) -> None:
    held: list[Route] = []
    page.route("**/js/common.*", lambda route: held.append(route))
    with page.expect_request("**/js/common.*"):
        page.goto(live_server.url + DESK, wait_until="commit")
    page.get_by_role("button", name="Keys").click()
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    held[0].continue_()
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def test_figures_have_one_width_and_a_late_typeface_moves_nothing(
    live_server: Any, browser: Browser, staff: Any
) -> None:
    late: list[Route] = []
    with browser.new_context(
        storage_state=staff, viewport={"width": 1280, "height": 800}
    ) as context:
        page = context.new_page()
        page.add_init_script(LIST_SHIFTS)
        page.route("**/planjury-sans*.woff2", lambda route: late.append(route))
        page.goto(live_server.url + PARTS, wait_until="domcontentloaded")
        page.wait_for_function("() => performance.now() > 500")
        # A slow browser paints half-read HTML, which moves too; the typeface alone is meant.
        page.evaluate(FRAME)
        arrived = page.evaluate("performance.now()")
        for route in late:
            route.continue_()
        page.evaluate("document.fonts.ready")
        page.evaluate(FRAME)
        assert late
        assert [shift for shift in page.evaluate("window.shifts") if shift[0] > arrived] == []

        page.unroute_all()
        page.goto(live_server.url + PARTS)
        widths = page.evaluate(WIDTHS)
        assert widths["face"]
        assert len(set(widths["digits"])) == 1
