"""A person reviews rows of training data with the keyboard alone, in a real browser."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.models import RowDecision, Run
from tests.annotation.rows import make_person
from tests.factories.benchmarks import reflection_run
from tests.functional.axe import check_looks
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def run(db: None) -> Run:
    return reflection_run()


def test_rows_are_reviewed_with_the_keyboard_alone(live_server: Any, quiet: Page, run: Run) -> None:
    page, keys = quiet, quiet.keyboard
    make_person("rita", superuser=True)
    sign_in(page, live_server.url, "rita")
    page.goto(f"{live_server.url}/runs/{run.pk}/rows/")
    cards, counts = page.locator("[data-row]"), page.locator("#row-counts")
    assert cards.count() > 3
    check_looks(page)

    # The first key brings the first row into focus; a decision leads to the next row.
    keys.press("j")
    expect(cards.nth(0)).to_be_focused()
    keys.press("a")
    expect(counts).to_contain_text("1 accepted, 0 edited, 0 vetoed")
    expect(cards.nth(1)).to_be_focused()
    keys.press("v")
    expect(counts).to_contain_text("1 accepted, 0 edited, 1 vetoed")
    expect(cards.nth(2)).to_be_focused()

    # An edit that is no action is refused beside its text, which is kept; Escape leaves it.
    keys.press("e")
    keys.type("Flurble the eggs")
    keys.press("Enter")
    alert, text = cards.nth(2).get_by_role("alert"), cards.nth(2).get_by_label("Chosen text")
    expect(alert).to_contain_text("action")
    expect(text).to_have_value("Flurble the eggs")
    expect(text).to_be_focused()
    check_looks(page)
    text.press("Escape")
    expect(cards.nth(2)).to_be_focused()
    keys.press("e")
    keys.type("Ask Which fat do you cook eggs in?")
    keys.press("Enter")
    expect(counts).to_contain_text("1 accepted, 1 edited, 1 vetoed")
    expect(cards.nth(2)).to_contain_text("Ask Which fat do you cook eggs in?")
    expect(cards.nth(3)).to_be_focused()

    # Without a decision on the row in focus, u takes back the last one, then that of its row.
    keys.press("u")
    expect(counts).to_contain_text("1 accepted, 0 edited, 1 vetoed")
    expect(cards.nth(2)).to_be_focused()
    keys.press("k")
    expect(cards.nth(1)).to_be_focused()
    keys.press("u")
    expect(counts).to_contain_text("1 accepted, 0 edited, 0 vetoed")
    keys.press("o")
    expect(cards.nth(1).locator("[data-context]")).to_have_attribute("open", "")
    assert list(RowDecision.objects.order_by("pk").values_list("verdict", flat=True)) == [
        "accepted", "vetoed", "edited", "undone", "undone",
    ]  # fmt: skip

    keys.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    check_looks(page)
    keys.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()

    # Other thresholds decide again from stored numbers, in the table and in the export's command.
    exchanges = sum(t.exchanges.count() for t in run.trajectories.all())
    utility = page.get_by_label("Utility above")
    utility.fill("0.9")
    utility.press("Enter")
    expect(page.get_by_text("decided again from the stored probabilities")).to_be_visible()
    expect(page.locator("pre.command")).to_contain_text("--tau-u 0.9")
    assert sum(t.exchanges.count() for t in run.trajectories.all()) == exchanges
    page.goto(f"{live_server.url}/runs/{run.pk}/rows/?state=accepted")
    expect(cards).to_have_count(1)


def test_a_late_answer_takes_nobody_away_from_where_they_type(
    live_server: Any, quiet: Page, run: Run
) -> None:
    page, keys = quiet, quiet.keyboard
    make_person("rita", superuser=True)
    sign_in(page, live_server.url, "rita")
    page.goto(f"{live_server.url}/runs/{run.pk}/rows/")
    cards, counts, held = page.locator("[data-row]"), page.locator("#row-counts"), list[Route]()
    decide = re.compile(r"/rows/\d+/\d+/")
    page.route(decide, lambda route: held.append(route), times=1)
    keys.press("j")
    with page.expect_request(decide):
        keys.press("a")
    keys.press("v")  # of the same row, whose decision is under way
    keys.press("u")
    keys.press("j")
    keys.press("e")
    keys.type("Ask Which fat ")
    held[0].continue_()
    expect(counts).to_contain_text("1 accepted, 0 edited, 0 vetoed")
    keys.type("do you cook eggs in?")  # in which there are all keys
    keys.press("Enter")
    expect(cards.nth(1)).to_contain_text("Ask Which fat do you cook eggs in?")
    expect(counts).to_contain_text("1 accepted, 1 edited, 0 vetoed")
    assert list(RowDecision.objects.order_by("pk").values_list("verdict", flat=True)) == [
        "accepted", "edited",
    ]  # fmt: skip
