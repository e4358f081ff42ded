"""Reading one trajectory in a real browser: labels by keys, comments on words, turns on the way."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from annotation.remarks.selectors import labels_of, notes_of
from annotation.remarks.services import put_label
from tests.analysis.long_rows import make_long
from tests.factories.benchmarks import make_user
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MARK = """() => {
  const step = document.querySelector("#turn-2 [data-text=plan] li span:last-child").firstChild;
  const range = document.createRange();
  range.setStart(step, 0);
  range.setEnd(step, 4);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
}"""


@pytest.fixture
def reading(live_server: Any, page: Page) -> Iterator[Page]:
    """A researcher, signed in; scripts must not complain."""
    make_user("ruth", ["view_results"])
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda m: complaints.append(m.text) if "Security Policy" in m.text else None,
    )
    sign_in(page, live_server.url, "ruth")
    yield page
    assert complaints == []


def test_label_comment_and_read_on(live_server: Any, reading: Page) -> None:
    row = make_long(45)
    reading.goto(f"{live_server.url}/trajectories/{row.pk}/")
    expect(reading.locator(".turn")).to_have_count(11)

    reading.keyboard.press("l")
    reading.keyboard.type("locally")
    reading.keyboard.press("Enter")
    expect(reading.locator("#label-chips")).to_have_text("Locally repetitive")
    assert [label.turn for label in labels_of([row.pk])[row.pk]] == [None]

    reading.evaluate(MARK)
    reading.get_by_role("button", name="Comment", exact=True).click()
    reading.keyboard.type("Which step?")
    reading.get_by_role("button", name="Add note").click()
    expect(reading.locator("#said-2")).to_contain_text("Which step?")
    expect(reading.locator("#turn-2 .note-mark")).to_have_count(1)
    (note,) = notes_of(row.pk)
    assert (note.turn, note.where, note.start, note.quote) == (2, "plan", 0, "Step")

    expect(reading.locator("#turn-43")).not_to_be_attached()
    reading.locator(".turn-line [data-turn-link='43']").click()
    expect(reading.locator("#turn-43 > summary")).to_be_focused()
    expect(reading).to_have_url(re.compile("#turn-43$"))
    reading.locator(".turn-gap").scroll_into_view_if_needed()
    expect(reading.locator("#turn-21")).to_be_attached()
    expect(reading.locator(".turn-gap")).to_have_count(0)
    expect(reading.locator("#turn-2 .note-mark")).to_have_count(1)


LABEL = "locally_repetitive"
TURNS = re.compile(r"/turns/\?")


def test_turns_that_come_late_take_nobody_away(live_server: Any, reading: Page) -> None:
    row, held = make_long(100), list[Route]()
    reading.goto(f"{live_server.url}/trajectories/{row.pk}/")
    reading.route(TURNS, lambda route: held.append(route), times=1)
    with reading.expect_request(TURNS):
        reading.evaluate("location.hash = '#turn-25'")
    reading.evaluate("location.hash = '#turn-65'")
    held[0].continue_()
    expect(reading.locator("#turn-65 > summary")).to_be_focused()
    expect(reading.locator("#turn-25")).to_be_attached()

    reading.route(TURNS, lambda route: held.append(route), times=1)
    with reading.expect_request(TURNS):
        reading.evaluate("location.hash = '#turn-85'")
    reading.get_by_label("Write a note").fill("Which")
    held[-1].continue_()
    expect(reading.locator("#turn-85")).to_be_attached()
    reading.keyboard.type(" step?")
    expect(reading.get_by_label("Write a note")).to_have_value("Which step?")


def test_a_second_change_waits_for_the_answer_to_the_first(live_server: Any, reading: Page) -> None:
    """Its answer would come to a list that is not there any more."""
    row, held = make_long(2), list[Route]()
    ruth = User.objects.get(username="ruth")
    for turn in (1, 2):
        put_label(trajectory=row, key=LABEL, by=ruth, turn=turn)
    reading.goto(f"{live_server.url}/trajectories/{row.pk}/")
    off = reading.get_by_role("button", name="Take off")
    reading.route("**/*", lambda route: held.append(route), times=1)
    with reading.expect_request(lambda request: request.method == "POST"):
        off.first.click()
    expect(off.last).to_be_disabled()
    held[0].continue_()
    expect(off).to_have_count(1)
    off.click()
    expect(off).to_have_count(0)
    assert labels_of([row.pk]).get(row.pk, []) == []
