"""Tests that an annotator's place on the desk is kept: focus, search, folds, keys in two tabs."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Assignment, Rating, Study
from benchmarks.models import Turn
from tests.annotation.rows import make_person, make_study
from tests.functional.test_annotation_loop import (
    answered,
    chosen,
    current,
    open_item,
    ratings,
    sign_in,
    state,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "\n".join(f"{n}. Look at part {n} of it once more." for n in range(1, 41))


@pytest.fixture
def study(db: None) -> Study:
    """Two items for ann; the first plan of each fills more than a screen."""
    study = make_study(annotators=[make_person("ann")], manager=make_person("mia"))
    Turn.objects.filter(is_final=False).update(text=LONG)
    return study


@pytest.fixture
def item(study: Study) -> Assignment:
    return study.assignments.get(position=1)


@pytest.fixture
def desk(live_server: Any, study: Study, page: Page) -> Iterator[Page]:
    """Ann at her first item."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    yield page
    assert complaints == []


def top_of(page: Page, selector: str) -> float:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["y"]


def test_the_final_plan_comes_into_view_and_scores_stay_where_they_are(desk: Page) -> None:
    before = top_of(desk, "#q-autonomy .score-scale")
    assert top_of(desk, ".turn.final") > 900
    desk.keyboard.press("4")
    assert top_of(desk, ".turn.final") > 900, "question 2 is about all turns"
    desk.keyboard.press("4")
    current(desk).to_contain_text("3 Feasibility")
    # It ends the page, so it stands as high as the page can be scrolled.
    assert 0 < top_of(desk, ".turn.final") < 600
    assert 0 < top_of(desk, ".desk-tools") < 60, "the tools stay in sight"
    # Scrolling can round it by a small part of a pixel.
    assert abs(top_of(desk, "#q-autonomy .score-scale") - before) < 0.5
    lefts = desk.locator(".score-scale").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == 1


def test_search_finds_verdicts_and_feedback_and_goes_back(desk: Page) -> None:
    desk.mouse.move(300, 400)
    desk.mouse.wheel(0, 150)
    # A wheel's scrolling takes a few frames.
    desk.wait_for_function("() => scrollY === 150")
    was = desk.evaluate("scrollY")
    desk.keyboard.press("/")
    desk.keyboard.type("no hammer")
    # In the feedback, and in what the judges found violated.
    expect(desk.locator("[data-found]")).to_have_text("2 found")
    desk.keyboard.press("Enter")
    expect(desk.locator("[data-found]")).to_have_text("1 of 2")
    assert desk.evaluate("scrollY") != was
    desk.keyboard.press("Escape")
    desk.keyboard.press("Escape")
    assert desk.evaluate("scrollY") == was
    current(desk).to_contain_text("1 Feedback reasonable")


def test_folding_is_remembered(desk: Page, live_server: Any, study: Study) -> None:
    expect(desk.locator(".turn[open]")).to_have_count(2)
    desk.keyboard.press("[")
    open_item(desk, live_server.url, study, 2)
    expect(desk.locator(".turn[open]")).to_have_count(0)
    desk.keyboard.press("]")
    desk.reload()
    expect(desk.locator(".turn[open]")).to_have_count(2)


def test_no_digit_lands_on_a_question_that_was_not_in_focus(desk: Page, item: Assignment) -> None:
    desk.keyboard.down("3")
    desk.keyboard.down("3")  # held: repeats
    desk.keyboard.up("3")
    answered(desk, "1 of 10")
    for _ in range(9):
        desk.keyboard.press("3")
    answered(desk, "10 of 10")
    desk.keyboard.press("1")  # one too many
    expect(desk.locator("[data-words]")).to_have_text("Choose a question to change its answer.")
    assert chosen(desk, "autonomy") == "3"
    state(desk).to_have_text("saved")
    assert set(ratings(item).values()) == {3}


def test_a_key_in_one_tab_does_not_replace_what_another_answered(
    desk: Page, live_server: Any, study: Study, item: Assignment, context: BrowserContext
) -> None:
    other = context.new_page()
    open_item(other, live_server.url, study)
    other.keyboard.press("2")
    expect(desk.locator("#notices")).to_contain_text("changed in another tab: 2")
    desk.keyboard.press("5")
    expect(desk.locator("[data-words]")).to_contain_text("Answered in another tab")
    assert ratings(item) == {"feedback_reasonable": 2}
    desk.keyboard.press("5")
    current(desk).to_contain_text("2 Constraints clear")
    state(desk).to_have_text("saved")
    assert ratings(item) == {"feedback_reasonable": 5}
    desk.keyboard.press("u")
    state(desk).to_have_text("saved")
    assert Rating.objects.get(assignment=item, question="feedback_reasonable").value == 2


def test_zoomed_to_200_percent_the_question_in_focus_is_seen_before_a_key_answers_it(
    desk: Page, item: Assignment
) -> None:
    """1440 × 900 at 200 % is a window of 720 × 450: the trajectory or the questions."""
    desk.set_viewport_size({"width": 720, "height": 450})
    expect(desk.locator(".desk-form")).to_be_hidden()
    desk.keyboard.press("3")
    expect(desk.locator("[data-words]")).to_have_text("Press again to answer this question.")
    answered(desk, "0 of 10")
    free = """one => {
      const box = one.getBoundingClientRect();
      const at = document.elementFromPoint(box.left + 60, box.top + 20);
      const below = document.querySelector(".desk-submit").getBoundingClientRect();
      return one.contains(at) && box.bottom <= below.top;
    }"""
    for number in range(1, 11):
        assert desk.locator(".score.current").evaluate(free), f"question {number} is covered"
        desk.keyboard.press("3")
    answered(desk, "10 of 10")
    state(desk).to_have_text("saved")
    assert set(ratings(item).values()) == {3}


def test_tip_of_being_offline_goes_when_the_page_is_online(
    desk: Page, context: BrowserContext
) -> None:
    context.set_offline(True)
    desk.keyboard.press("3")
    state(desk).to_have_text("offline (1)")
    desk.locator(".desk-bar .save").hover()
    expect(desk.get_by_role("tooltip")).to_contain_text("You are offline.")
    context.set_offline(False)
    state(desk).to_have_text("saved")
    expect(desk.get_by_role("tooltip")).to_have_count(0)


WIDTHS = "all => all.map(one => one.getBoundingClientRect().width)"


def test_all_questions_and_submit_fit_a_low_screen(desk: Page) -> None:
    desk.set_viewport_size({"width": 1280, "height": 720})
    rows = desk.locator(".score, [data-submit]")
    boxes = rows.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
    assert len(boxes) == 11
    assert all(box["height"] >= 44 for box in boxes)
    tops = [box["top"] for box in boxes]
    assert tops == sorted(tops)
    assert all(above["bottom"] <= below["top"] for above, below in pairwise(boxes))
    assert boxes[-1]["bottom"] <= 720
    skip = desk.locator("#skip > summary")
    skip.scroll_into_view_if_needed()
    expect(skip).to_be_in_viewport()


def test_toolbar_and_targets_fit_fingers(
    desk: Page, browser: Browser, live_server: Any, study: Study
) -> None:
    kept = desk.context.storage_state()
    for width, height in ((390, 844), (320, 640), (1280, 800)):
        with browser.new_context(
            storage_state=kept, viewport={"width": width, "height": height}, has_touch=True
        ) as context:
            page = context.new_page()
            open_item(page, live_server.url, study)
            tools = page.locator(".desk-tools")
            assert tools.evaluate("one => one.scrollWidth <= one.clientWidth")
            assert tools.evaluate("one => one.offsetHeight") < 60
            if width < 1024:
                page.get_by_role("searchbox", name="Search everything shown").click()
                page.keyboard.type("hammer")
                expect(page.locator("[data-found]")).to_contain_text("2 found")
                assert tools.evaluate("one => one.scrollWidth <= one.clientWidth")
            labels = page.locator(".score-scale > label")
            assert min(labels.evaluate_all(WIDTHS)) >= 44


def test_a_click_before_the_scripts_have_loaded_is_saved(
    desk: Page, live_server: Any, study: Study
) -> None:
    held: list[Any] = []
    desk.route("**/js/desk.*", lambda route: held.append(route))
    with desk.expect_request("**/js/desk.*"):
        desk.reload(wait_until="commit")
    label = desk.locator(".score-scale").first.locator("label").nth(1)
    label.click()
    for route in held:
        route.continue_()
    desk.unroute("**/js/desk.*")
    expect(desk.locator(".desk-submit [data-answered]")).to_contain_text("1 of")
    expect(desk.locator(".desk-bar .save-state")).to_have_text("saved")
    desk.reload()
    expect(desk.locator(".score-scale").first.locator("input").nth(1)).to_be_checked()
