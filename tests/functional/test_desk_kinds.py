"""Desks of other kinds than ten questions in a real browser: turns, marks, candidates, remarks."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotation.desk.keys import chosen_keys
from annotation.desk.trajectories import load_turns
from annotation.models import Assignment, Rating, RatingEdit, Study
from tests.annotation.desk.test_turn_by_turn import give_turns
from tests.annotation.desks import PROPOSED, first_item, make_kind
from tests.annotation.rows import make_person
from tests.functional.axe import violations
from tests.functional.test_annotation_loop import answered, open_item, sign_in, state

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def ann(db: None) -> User:
    return make_person("ann")


@pytest.fixture
def tab(live_server: Any, page: Page, ann: User) -> Iterator[Page]:
    """Ann, signed in; scripts must not complain."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, live_server.url)
    yield page
    assert complaints == []


def said(item: Assignment) -> dict[str, Any]:
    """Answers by question and subject."""
    rows = Rating.objects.filter(assignment=item, aspect="answer")
    return {f"{r.question}.{r.subject}": r.value if r.chosen is None else r.chosen for r in rows}


def slot(page: Page, name: str) -> Any:
    return page.locator(f'[id="q-{name}"]')


def test_a_violation_check_by_keys_alone(live_server: Any, tab: Page, ann: User) -> None:
    study = make_kind("violation_check@1", ann)
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    turn = tab.locator(".turn[data-current]")
    expect(turn).to_have_id("turn-1")
    press("1")  # the only condition of the situation is violated: on to the preferences
    answered(tab, "1 of 4")
    press("1")
    expect(turn).to_have_id("turn-2")
    press("u")  # back to the preference
    expect(turn).to_have_id("turn-1")
    answered(tab, "1 of 4")
    press("2")
    expect(turn).to_have_id("turn-2")
    expect(tab.locator(".part-chips a.done")).to_have_count(1)
    press("Enter")
    expect(tab.locator(".desk-submit .announcement")).to_contain_text(
        "1 Situation violated (turn 2)"
    )
    press("0")
    press("u")
    answered(tab, "2 of 4")
    press("k")
    expect(tab.locator("[data-part=turn-1]")).to_be_visible()
    expect(tab.locator("[data-part=turn-2]")).to_be_hidden()
    press("j")
    expect(tab.locator("[data-part=turn-2]")).to_be_visible()
    tab.locator(".turn-body").last.click()  # away from the fold, whose Enter is its own
    press("0")
    press("0")
    answered(tab, "4 of 4")
    press("Enter")
    tab.wait_for_url("**/annotate/2/")
    assert said(first_item(study)) == {
        "world_violated.turn-1": ["w1"],
        "user_violated.turn-1": [],
        "world_violated.turn-2": [],
        "user_violated.turn-2": [],
    }
    assert violations(tab) == []


def test_every_condition_gets_a_decision_of_its_own(live_server: Any, tab: Page, ann: User) -> None:
    study = make_kind("violation_check@3", ann)
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    turn = tab.locator(".turn[data-current]")
    press("3")  # by key: on to the preferences
    answered(tab, "1 of 4")
    press("0")  # decides nothing here
    answered(tab, "1 of 4")
    press("2")
    expect(turn).to_have_id("turn-2")
    expect(tab.locator(".part-chips a.done")).to_have_count(1)
    press("u")
    answered(tab, "1 of 4")
    expect(turn).to_have_id("turn-1")
    press("2")
    # By mouse, too, each has its own buttons, and none is chosen at first.
    world = slot(tab, "world_violated.turn-2")
    expect(world.locator("input:checked")).to_have_count(0)
    world.get_by_role("radio", name="not violated").check(force=True)
    answered(tab, "3 of 4")
    press("Enter")
    expect(tab.locator(".desk-submit .announcement")).to_contain_text("2 Preferences (turn 2)")
    assert violations(tab) == []
    press("1")
    press("Enter")
    tab.wait_for_url("**/annotate/2/")
    assert said(first_item(study)) == {
        "world_violated.turn-1": ["w1:cannot_tell"],
        "user_violated.turn-1": ["u1:not_violated"],
        "world_violated.turn-2": ["w1:not_violated"],
        "user_violated.turn-2": ["u1:violated"],
    }


def test_keys_of_one_character_can_be_switched_off_and_moved(
    live_server: Any, tab: Page, ann: User
) -> None:
    study = make_kind("turn_scores@3", ann)
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    for chosen, key, done in (("off", "4", 0), ("off", "Alt+4", 0), ("alt", "4", 0)):
        choose_keys(tab, chosen)
        press(key)
        answered(tab, f"{done} of 8")
    press("Alt+4")
    answered(tab, "1 of 8")
    choose_keys(tab, "alone")
    press("2")
    answered(tab, "2 of 8")
    # A score is described by its anchor.
    score = slot(tab, "feasibility.turn-1").get_by_role("radio", name="5")
    expect(score).to_have_accessible_description(
        "Everything it needs is found in nearly every household."
    )


def choose_keys(page: Page, chosen: str) -> None:
    page.get_by_role("button", name="Guidelines").click()
    page.locator("#key-mode").select_option(chosen)
    assert violations(page) == []
    page.get_by_role("button", name="Close").click()


def test_turns_come_one_by_one_by_key(live_server: Any, tab: Page, ann: User) -> None:
    study = make_kind("turn_scores@3", ann, turn_by_turn=True)
    item = first_item(study)
    first = item.trajectory.turns.order_by("index")[0]  # type: ignore[union-attr]
    item.trajectory.turns.filter(index=2).update(text=first.text)  # type: ignore[union-attr]
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    expect(tab.locator(".turn")).to_have_count(1)
    expect(tab.locator("[data-submit]")).to_have_text("Next turn ⏎")
    for digit in "1235":
        press(digit)
    expect(tab.locator(".desk-submit .announcement")).to_contain_text("for the next turn")
    tab.evaluate("() => { window.samePage = true; }")
    press("Enter")
    expect(tab.locator(".turn")).to_have_count(2)
    assert tab.evaluate("window.samePage")  # within the page: that is what makes it quick
    answered(tab, "4 of 8")
    assert violations(tab) == []
    press("=")  # the same plan as before: the same scores
    answered(tab, "8 of 8")
    press("ArrowUp")
    tab.locator("[data-part-link=turn-1]").click()
    press("1")
    expect(tab.locator(".desk-submit .announcement")).to_contain_text("so it stays")
    expect(tab.locator(".turn.final")).to_have_count(0)
    tab.locator("[data-submit]").click()
    expect(tab.locator(".turn.final")).to_have_count(1)
    press("Enter")
    tab.wait_for_url("**/annotate/2/")
    scores = [row.value for row in Rating.objects.filter(assignment=item).order_by("pk")]
    assert scores == [1, 2, 3, 5] * 2


def score_turns(tab: Page, item: Assignment, turns: int) -> None:
    """Score so many turns one by one; the network is cut while each tenth is scored."""
    press, context = tab.keyboard.press, tab.context
    for turn in range(1, turns + 1):
        current = tab.locator(f"[data-part=turn-{turn}]")
        expect(current).to_be_visible()
        tab.wait_for_load_state()  # keys act once the scripts have run
        cut = turn % 10 == 0
        context.set_offline(cut)
        for digit in "1235":
            press(digit)
        press("Enter")
        if cut:
            expect(tab.locator(".desk-submit .announcement")).to_contain_text("online")
            assert said(item).get(f"safety.turn-{turn}") is None
            context.set_offline(False)


def test_no_turn_is_lost_or_doubled_where_the_network_is_cut(
    live_server: Any, tab: Page, ann: User
) -> None:
    study = make_kind("turn_scores@3", ann, turn_by_turn=True)
    item, turns = first_item(study), 12
    give_turns(item, [f"1. Take glue {n}." for n in range(1, turns + 1)])
    open_item(tab, live_server.url, study)
    score_turns(tab, item, turns)
    expect(tab.locator(".turn.final")).to_have_count(1)
    assert RatingEdit.objects.filter(assignment=item).count() == 4 * turns
    assert sorted(said(item).values()) == sorted([1, 2, 3, 5] * turns)
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/annotate/2/")
    item.refresh_from_db()
    assert item.state == Assignment.State.SUBMITTED


def test_a_mark_before_the_scripts_have_loaded_is_saved(
    live_server: Any, tab: Page, ann: User
) -> None:
    study = make_kind("violation_check@1", ann)
    held: list[Route] = []
    tab.route("**/js/desk.*", lambda route: held.append(route))
    with tab.expect_request("**/js/desk.*"):
        tab.goto(f"{live_server.url}/studies/{study.pk}/annotate/1/", wait_until="commit")
    slot(tab, "world_violated.turn-1").locator("label", has=tab.locator("input[value=w1]")).click()
    held[0].continue_()
    answered(tab, "1 of 4")
    state(tab).to_have_text("saved")
    assert said(first_item(study)) == {"world_violated.turn-1": ["w1"]}


def test_a_filter_check_with_fingers_on_a_phone(
    live_server: Any, browser: Browser, ann: User
) -> None:
    study = make_kind("filter_check@1", ann)
    with browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        sign_in(page, live_server.url)
        open_item(page, live_server.url, study)
        expect(page.get_by_text("Take glue.")).to_be_visible()
        assert violations(page) == []
        page.locator("[data-sheet-open]").tap()
        for n, text in enumerate(PROPOSED):
            row = slot(page, f"keep.candidate-c{n}")
            expect(row.locator("legend")).to_contain_text(text)
            row.locator("label", has_text="Remove" if n == 1 else "Keep").tap()
        answered(page, "3 of 3")
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.get_by_role("button", name="Submit").tap()
        page.wait_for_url("**/annotate/2/")
    assert list(said(first_item(study)).values()) == [1, 0, 1]


def test_scores_for_every_turn_with_evidence_flag_and_comment(
    live_server: Any, tab: Page, ann: User
) -> None:
    study = make_kind("turn_scores@1", ann)
    item = first_item(study)
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    for digit in "1234":
        press(digit)
    expect(tab.locator(".turn[data-current]")).to_have_id("turn-2")
    # Found by "/", selected by Esc, widened by Shift and arrows, marked by "h": no mouse.
    press("/")
    tab.keyboard.type("hammer")
    press("Enter")
    expect(tab.locator("[data-found]")).to_have_text("1 of 2")
    press("Escape")
    press("Shift+ArrowRight")
    press("h")
    press("c")
    tab.keyboard.type("Why a hammer?")
    press("Escape")
    press("!")
    tab.keyboard.type("It is not at hand.")
    press("Escape")
    state(tab).to_have_text("saved")
    tab.reload()
    first = slot(tab, "feasibility.turn-2")
    expect(first.locator("[data-remarked]")).to_have_text("flagged, comment, 1 passage")
    expect(first.get_by_label("Comment")).to_have_value("Why a hammer?")
    (span,) = Rating.objects.get(assignment=item, aspect="evidence").chosen
    plain = "\n".join(load_turns(item.trajectory_id or 0)[0].steps)
    assert (span["turn"], span["where"]) == (1, "plan")
    assert span["quote"].startswith("hammer.")
    assert plain[span["start"] : span["end"]] == span["quote"]
    lit = "[...CSS.highlights.get('evidence-current')].map(r => r.toString())"
    assert [words.split(".")[0] for words in tab.evaluate(lit)] == ["hammer"]
    first.get_by_text("Comment, flag, evidence").click()
    assert violations(tab) == []
    first.get_by_role("button", name="Remove").click()
    expect(first.locator("[data-remarked]")).to_have_text("flagged, comment")
    tab.locator("#turn-2 .plan li").first.select_text()
    tab.get_by_role("button", name="Evidence for 1 Feasibility (turn 2)").click()
    state(tab).to_have_text("saved")
    (span,) = Rating.objects.get(assignment=item, aspect="evidence").chosen
    assert (span["turn"], span["quote"]) == (2, "Take the glue.")
    press("u")
    expect(first.locator("[data-remarked]")).to_have_text("flagged, comment")
    state(tab).to_have_text("saved")
    assert not Rating.objects.get(assignment=item, aspect="evidence").chosen


def test_marks_wait_for_the_network_and_for_a_paused_study(
    live_server: Any, tab: Page, context: BrowserContext, ann: User
) -> None:
    study = make_kind("violation_check@1", ann)
    item = first_item(study)
    open_item(tab, live_server.url, study)
    context.set_offline(True)
    tab.keyboard.press("1")
    tab.keyboard.press("0")
    state(tab).to_have_text("offline (2)")
    Study.objects.update(status="paused")
    context.set_offline(False)
    state(tab).to_have_text("paused (2)")
    expect(tab.locator(".save-why")).to_contain_text("The study is paused")
    assert said(item) == {}
    tab.reload()
    expect(slot(tab, "world_violated.turn-1").locator("input[value=w1]")).to_be_checked()
    state(tab).to_have_text("paused (2)")
    Study.objects.update(status="open")
    tab.evaluate("window.dispatchEvent(new Event('focus'))")
    state(tab).to_have_text("saved")
    assert said(item) == {"world_violated.turn-1": ["w1"], "user_violated.turn-1": []}


def test_two_tabs_show_what_the_other_saved(
    live_server: Any, tab: Page, context: BrowserContext, ann: User
) -> None:
    study = make_kind("turn_scores@1", ann)
    open_item(tab, live_server.url, study)
    other = context.new_page()
    open_item(other, live_server.url, study)
    tab.keyboard.press("2")
    expect(slot(other, "feasibility.turn-1").locator("input[value='2']")).to_be_checked()
    expect(other.locator("#notices")).to_contain_text("changed in another tab: 2")
    other.keyboard.press("u")
    answered(tab, "0 of 8")
    assert said(first_item(study)) == {"feasibility.turn-1": None}


# Whether the server has taken what waits in the browser, within ten seconds.
TAKEN = """async (place) => {
  for (let tries = 0; tries < 200 && localStorage.getItem(place) !== null; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  return localStorage.getItem(place) === null;
}"""


def test_chosen_keys_wait_for_the_network_and_come_along_to_another_browser(
    live_server: Any, tab: Page, context: BrowserContext, browser: Browser, ann: User
) -> None:
    study = make_kind("turn_scores@3", ann)
    open_item(tab, live_server.url, study)
    context.set_offline(True)
    tab.get_by_role("button", name="Guidelines").click()
    tab.get_by_text("Change keys").click()
    tab.get_by_label("answer 4").fill("r")
    tab.get_by_role("button", name="Save keys").click()
    message = tab.locator("#key-form [data-error]")
    expect(message).to_have_text("Saved in this browser, and for your account once you are online.")
    assert chosen_keys(ann.pk) is None
    waiting = f"localStorage.getItem('desk-keymap.{ann.pk}')"
    assert tab.evaluate(waiting) == '{"4":"r"}'
    context.set_offline(False)
    assert tab.evaluate(TAKEN, f"desk-keymap.{ann.pk}")
    assert chosen_keys(ann.pk) == {"mode": "alone", "keys": {"4": "r"}}
    tab.get_by_role("button", name="Close").click()
    choose_keys(tab, "alt")
    assert tab.evaluate(TAKEN, f"desk-keys.{ann.pk}")
    with browser.new_context() as elsewhere:
        other = elsewhere.new_page()
        sign_in(other, live_server.url)
        open_item(other, live_server.url, study)
        other.keyboard.press("r")
        answered(other, "0 of 8")
        other.keyboard.press("Alt+r")
        answered(other, "1 of 8")


def test_keys_can_be_chosen_freely_and_conflicts_are_refused(
    live_server: Any, tab: Page, ann: User
) -> None:
    study = make_kind("turn_scores@3", ann)
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    tab.get_by_role("button", name="Guidelines").click()
    tab.get_by_text("Change keys").click()
    four, undo = tab.get_by_label("answer 4"), tab.get_by_label("undo the last answer")
    four.fill("u")
    tab.get_by_role("button", name="Save keys").click()
    expect(tab.locator("#key-form [data-error]")).to_contain_text("Two actions have “u”")
    assert tab.evaluate(f"localStorage.getItem('desk-keymap.{ann.pk}')") is None
    four.fill("r")
    undo.fill("?")
    tab.get_by_role("button", name="Save keys").click()
    expect(tab.locator("#key-form [data-error]")).to_contain_text("Two actions have “?”")
    undo.fill("z")
    tab.get_by_role("button", name="Save keys").click()
    expect(tab.locator("#key-form [data-error]")).to_have_text("Saved for your account.")
    assert violations(tab) == []
    tab.get_by_role("button", name="Close").click()
    press("4")  # moved away, so it means nothing
    answered(tab, "0 of 8")
    press("r")
    answered(tab, "1 of 8")
    state(tab).to_have_text("saved")
    tab.reload()
    answered(tab, "1 of 8")
    press("u")
    answered(tab, "1 of 8")
    expect(tab.locator("[data-undo] kbd")).to_have_text("z")
    press("z")
    answered(tab, "0 of 8")
    # No key acts while the cursor is in a field, and Escape leaves it.
    press("c")
    comment = tab.locator("textarea:focus")
    tab.keyboard.type("rz4 /?")
    expect(comment).to_have_value("rz4 /?")
    answered(tab, "0 of 8")
    press("Escape")
    expect(tab.locator("textarea:focus")).to_have_count(0)
    press("r")
    answered(tab, "1 of 8")
    # Switched off, no key of one character acts, the search among them.
    choose_keys(tab, "off")
    for key in ("r", "/", "?", "c"):
        press(key)
    answered(tab, "1 of 8")
    expect(tab.locator(":is(textarea, input[type=search]):focus")).to_have_count(0)
    expect(tab.locator("#keys")).not_to_have_attribute("open", "")
