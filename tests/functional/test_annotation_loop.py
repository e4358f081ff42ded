"""The annotator's desk in a real browser: by keys alone, by mouse, offline, on a phone."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from annotation.models import Assignment, Rating, RatingEdit, Study
from annotation.ratings.services import record_rating
from annotation.studies.services import set_study_status
from tests.annotation.rows import make_person, make_study
from tests.databases import locked_database
from tests.functional.axe import SETTLED, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(db: None) -> Study:
    """Two items for ann."""
    study = make_study(annotators=[make_person("ann")], manager=make_person("mia"))
    User.objects.filter(username="mia").update(is_staff=False)
    return study


@pytest.fixture
def item(study: Study) -> Assignment:
    return study.assignments.get(position=1)


@pytest.fixture
def desk(live_server: Any, study: Study, page: Page) -> Iterator[Page]:
    """Ann, signed in, at the desk of her first item; scripts must not complain."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda m: complaints.append(m.text) if "Security Policy" in m.text else None,
    )
    sign_in(page, live_server.url)
    open_item(page, live_server.url, study)
    yield page
    assert complaints == []


def sign_in(page: Page, url: str, name: str = "ann") -> None:
    """Give the browser a session; the page is still to be opened."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": url}])


def sign_in_by_form(page: Page, url: str, name: str = "ann") -> None:
    page.goto(f"{url}/accounts/login/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill("secret-enough")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{url}/")


def open_item(page: Page, url: str, study: Study, position: int = 1) -> None:
    page.goto(f"{url}/studies/{study.pk}/annotate/{position}/")


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the focus is where it is wanted."""
    wanted.wait_for()
    for _ in range(25):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{wanted} cannot be reached by Tab")


def state(page: Page) -> Any:
    return expect(page.locator(".desk-bar .save-state"))


def answered(page: Page, text: str) -> None:
    expect(page.locator(".desk-submit [data-answered]")).to_have_text(text)


def current(page: Page) -> Any:
    return expect(page.locator(".score.current legend"))


def chosen(page: Page, question: str) -> str | None:
    checked = page.locator(f"#q-{question} input:checked")
    return checked.get_attribute("value") if checked.count() else None


def ratings(item: Assignment) -> dict[str, int | None]:
    return dict(Rating.objects.filter(assignment=item).values_list("question", "value"))


# --- By keys alone --------------------------------------------------------------------------------


def test_the_loop_by_keyboard_alone(live_server: Any, page: Page, study: Study) -> None:
    press = page.keyboard.press
    page.goto(f"{live_server.url}/")
    tab_to(page, page.get_by_label("Username"))
    page.keyboard.type("ann")
    tab_to(page, page.get_by_label("Password"))
    page.keyboard.type("secret-enough")
    press("Enter")
    tab_to(page, page.get_by_role("link", name="Begin"))
    press("Enter")
    page.wait_for_url("**/guidelines/")
    tab_to(page, page.get_by_role("button", name="I have read this"))
    press("Enter")
    page.wait_for_url("**/annotate/1/")

    current(page).to_contain_text("1 Feedback reasonable")
    for digit in "4352":
        press(digit)
    answered(page, "4 of 10")
    press("u")
    answered(page, "3 of 10")
    current(page).to_contain_text("4 Physical plausibility")
    assert chosen(page, "physical_plausibility") is None

    press("Enter")
    expect(page.locator(".desk-submit .announcement")).to_have_text(
        "Not answered: 4, 5, 6, 7, 8, 9 and 10"
    )
    expect(page.locator(".score.missing")).to_have_count(7)
    press("3")
    press("ArrowDown")
    press("ArrowUp")
    current(page).to_contain_text("5 Logical step ordering")
    press("e")
    expect(page.locator(".score.current .score-example")).to_have_attribute("open", "")
    for digit in "123451":
        press(digit)
    answered(page, "10 of 10")
    state(page).to_have_text("saved")

    press("f")
    expect(page.locator(".turn.final > summary")).to_be_focused()
    press("[")
    expect(page.locator(".turn[open]")).to_have_count(0)
    press("]")
    expect(page.locator(".turn[open]")).to_have_count(2)
    press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    press("?")
    expect(page.get_by_role("dialog")).to_be_hidden()

    press("Shift+C")
    page.keyboard.type("Turn 1 was odd; 5 of 5.")
    press("Escape")
    state(page).to_have_text("saved")
    press("Enter")
    page.wait_for_url("**/annotate/2/")
    expect(page.locator(".desk-bar .progress .words")).to_have_text("50 %")

    done = study.assignments.get(position=1)
    assert done.state == "submitted"
    given = ratings(done)
    assert [given[key] for key in done.item.asked] == [4, 3, 5, 3, 1, 2, 3, 4, 5, 1]
    assert Rating.objects.get(assignment=done, aspect="comment").text == "Turn 1 was odd; 5 of 5."
    # ten answers, one of them undone and given again, and the comment
    assert RatingEdit.objects.filter(assignment=done, undoes=None).count() == 12
    assert RatingEdit.objects.filter(assignment=done).exclude(undoes=None).count() == 1

    press("p")
    page.wait_for_url("**/annotate/1/")
    expect(page.get_by_text("Your answers are locked")).to_be_visible()
    press("3")
    assert chosen(page, "feedback_reasonable") == "4"


# --- By mouse -------------------------------------------------------------------------------------


def test_the_loop_by_mouse(desk: Page, item: Assignment) -> None:
    for key in item.item.asked:
        desk.locator(f"#q-{key} .score-scale label").nth(3).click()
    answered(desk, "10 of 10")
    desk.get_by_role("button", name="Undo").click()
    answered(desk, "9 of 10")
    desk.locator("#q-autonomy .score-scale label").nth(1).click()
    desk.get_by_role("button", name="Submit").click()
    desk.wait_for_url("**/annotate/2/")
    assert ratings(item) == {**dict.fromkeys(item.item.asked, 4), "autonomy": 2}


def test_skip_asks_for_a_reason_and_reopen_takes_it_up(desk: Page, item: Assignment) -> None:
    desk.locator("#skip > summary").click()
    desk.get_by_role("button", name="Skip item").click()
    expect(desk.get_by_role("alert")).to_contain_text("Choose a reason")
    desk.locator("label.reason", has_text="Text is cut off").click()
    desk.get_by_label("Details").fill("Step 3 ends in the middle.")
    desk.get_by_role("button", name="Skip item").click()
    desk.wait_for_url("**/annotate/2/")
    desk.get_by_role("link", name="Previous item").click()
    skipped = "You skipped this item: Text is cut off or unreadable: Step 3 ends in the middle."
    expect(desk.get_by_text(skipped)).to_be_visible()
    desk.get_by_role("button", name="Reopen").click()
    expect(desk.get_by_role("button", name="Submit")).to_be_visible()


def test_answers_stand_in_the_form_again_after_a_reload(desk: Page) -> None:
    desk.keyboard.press("4")
    state(desk).to_have_text("saved")
    desk.reload()
    assert chosen(desk, "feedback_reasonable") == "4"
    current(desk).to_contain_text("2 Constraints clear")
    desk.keyboard.press("u")
    state(desk).to_have_text("saved")
    answered(desk, "0 of 10")


def test_a_comment_is_kept_when_the_page_is_left_at_once(desk: Page, item: Assignment) -> None:
    desk.evaluate("window.setTimeout = () => 0")  # no pause after the last key ends
    desk.keyboard.press("Shift+C")
    desk.keyboard.type("Read twice.")
    desk.reload()
    state(desk).to_have_text("saved")
    expect(desk.locator("[name=':comment']")).to_have_value("Read twice.")
    assert Rating.objects.get(assignment=item, aspect="comment").text == "Read twice."


def test_a_page_made_before_the_answer_was_stored_shows_it_nevertheless(
    desk: Page, item: Assignment
) -> None:
    """The reload shows what was before the save, whose reply still reaches the page being left."""
    saves: list[Any] = []
    loads: list[Any] = []
    desk.route("**/answers/", lambda route: route.continue_() if saves else saves.append(route))
    desk.route("**/annotate/1/", lambda route: loads.append(route))
    desk.keyboard.press("4")
    wait_for(desk, saves)
    desk.evaluate("setTimeout(() => location.reload())")
    wait_for(desk, loads)
    before = loads[0].fetch()
    with desk.expect_response("**/answers/") as stored:
        saves[0].continue_()
    stored.value.finished()
    desk.wait_for_timeout(200)  # The page that is left reads the reply.
    with desk.expect_response("**/answers/") as again:
        loads[0].fulfill(response=before)
    again.value.finished()
    answered(desk, "1 of 10")
    state(desk).to_have_text("saved")
    assert chosen(desk, "feedback_reasonable") == "4"
    assert RatingEdit.objects.filter(assignment=item).count() == 1
    desk.unroute_all()
    desk.reload()
    assert chosen(desk, "feedback_reasonable") == "4"
    assert desk.evaluate("Object.keys(localStorage).filter((k) => k.includes('answers'))") == []


def wait_for(page: Page, routes: list[Any]) -> None:
    """Wait until a request is held."""
    for _ in range(300):
        if routes:
            return
        page.wait_for_timeout(100)
    raise AssertionError("no request came within 30 s")


# --- When the network or the server is away -------------------------------------------------------


def test_offline_answers_wait_survive_a_reload_and_are_sent(
    desk: Page, context: BrowserContext, item: Assignment, live_server: Any, study: Study
) -> None:
    desk.keyboard.press("5")
    state(desk).to_have_text("saved")
    context.set_offline(True)
    for digit in "234":
        desk.keyboard.press(digit)
    state(desk).to_have_text("offline (3)")
    desk.keyboard.press("u")
    state(desk).to_have_text("offline (4)")
    assert ratings(item) == {"feedback_reasonable": 5}

    # the page is loaded anew while saves still fail, as when the server restarts
    desk.route("**/answers/", lambda route: route.abort())
    context.set_offline(False)
    desk.reload()
    answered(desk, "3 of 10")
    assert chosen(desk, "feedback_clear") == "2"
    assert chosen(desk, "physical_plausibility") is None
    state(desk).to_contain_text("waiting")

    desk.unroute("**/answers/")
    desk.evaluate("window.dispatchEvent(new Event('online'))")
    state(desk).to_have_text("saved")
    assert ratings(item) == {
        "feedback_reasonable": 5,
        "feedback_clear": 2,
        "feasibility": 3,
        "physical_plausibility": None,
    }
    assert RatingEdit.objects.filter(assignment=item).count() == 5


def test_an_acknowledgement_that_is_lost_doubles_nothing(desk: Page, item: Assignment) -> None:
    def deliver_but_lose_the_reply(route: Any) -> None:
        route.fetch()
        route.abort()

    desk.route("**/answers/", deliver_but_lose_the_reply, times=2)
    desk.keyboard.press("4")
    state(desk).to_have_text("1 waiting")
    state(desk).to_have_text("saved")
    assert RatingEdit.objects.filter(assignment=item).count() == 1


def test_submitting_offline_happens_when_the_network_is_back(
    desk: Page, context: BrowserContext, item: Assignment
) -> None:
    context.set_offline(True)
    for _ in range(10):
        desk.keyboard.press("3")
    desk.keyboard.press("Enter")
    expect(desk.locator(".desk-submit .announcement")).to_contain_text("when you are online")
    # changing an answer calls the submission off
    desk.keyboard.press("ArrowUp")
    desk.locator("#q-safety .score-scale label").nth(0).click()
    expect(desk.locator(".desk-submit .announcement")).not_to_contain_text("when you are online")
    context.set_offline(False)
    state(desk).to_have_text("saved")
    item.refresh_from_db()
    assert item.state == "open"
    desk.get_by_role("button", name="Submit").click()
    desk.wait_for_url("**/annotate/2/")
    assert ratings(item)["safety"] == 1


def test_what_is_being_submitted_is_not_changed(desk: Page, item: Assignment) -> None:
    held: list[Any] = []
    for _ in range(10):
        desk.keyboard.press("3")
    state(desk).to_have_text("saved")
    desk.route("**/submit/", lambda route: held.append(route), times=1)
    with desk.expect_request("**/submit/"):
        desk.keyboard.press("Enter")
    desk.locator("#q-safety .score-scale label").nth(0).click()
    assert chosen(desk, "safety") == "3"
    desk.get_by_role("button", name="Undo").click()
    answered(desk, "10 of 10")
    expect(desk.locator(".desk-submit .announcement")).to_have_text("Submitting…")
    held[0].continue_()
    desk.wait_for_url("**/annotate/2/")
    assert set(ratings(item).values()) == {3}
    assert RatingEdit.objects.filter(assignment=item).count() == 10


def test_a_refusal_says_why_and_keeps_the_answer_on_screen(desk: Page, study: Study) -> None:
    set_study_status(study=study, status="closed")
    desk.keyboard.press("4")
    state(desk).to_have_text("refused")
    expect(desk.locator(".save-why")).to_contain_text("The study is closed")
    assert chosen(desk, "feedback_reasonable") == "4"
    expect(desk.locator("#q-feedback_reasonable .errorlist")).to_contain_text("not saved")


def test_an_answer_on_which_the_server_fails_holds_no_other(
    desk: Page, item: Assignment, context: BrowserContext
) -> None:
    """It was sent with all that followed, again and again, and none of them was stored."""

    def fail_on_one(route: Any) -> None:
        if "feedback_clear" in (route.request.post_data or ""):
            route.fulfill(status=500, body="")
        else:
            route.continue_()

    desk.route("**/answers/", fail_on_one)
    context.set_offline(True)
    for digit in "423":
        desk.keyboard.press(digit)
    state(desk).to_have_text("offline (3)")
    context.set_offline(False)
    state(desk).to_have_text("1 waiting")
    expect(desk.locator(".save-why")).to_contain_text("could not store 1 of your answers")
    assert ratings(item) == {"feedback_reasonable": 4, "feasibility": 3}
    desk.unroute("**/answers/")
    state(desk).to_have_text("saved", timeout=30_000)
    assert ratings(item) == {"feedback_reasonable": 4, "feedback_clear": 2, "feasibility": 3}


def test_a_locked_database_is_told_within_seconds_and_takes_nothing_away(
    desk: Page, item: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = connection.settings_dict["OPTIONS"]
    monkeypatch.setitem(options, "timeout", 9.0)
    with locked_database():
        desk.keyboard.press("4")
        why = expect(desk.locator(".save-why"))
        why.to_contain_text("The server is slow to answer.", timeout=8_500)
        state(desk).to_have_text("1 waiting")
        why.to_contain_text("The database is locked by another program.")
        assert ratings(item) == {}
    state(desk).to_have_text("saved", timeout=30_000)
    assert ratings(item) == {"feedback_reasonable": 4}
    assert RatingEdit.objects.filter(assignment=item).count() == 1


def test_signed_out_answers_are_kept_until_signed_in_again(
    desk: Page, context: BrowserContext, item: Assignment, live_server: Any
) -> None:
    context.clear_cookies(name="sessionid")
    desk.keyboard.press("4")
    state(desk).to_have_text("signed out")
    other = context.new_page()
    sign_in(other, live_server.url)
    desk.evaluate("window.dispatchEvent(new Event('focus'))")
    state(desk).to_have_text("saved")
    assert ratings(item) == {"feedback_reasonable": 4}


def test_answers_left_behind_are_sent_from_the_home_page(
    desk: Page, item: Assignment, live_server: Any
) -> None:
    desk.route("**/answers/", lambda route: route.abort())
    desk.keyboard.press("4")
    state(desk).to_contain_text("waiting")
    desk.unroute("**/answers/")
    desk.goto(live_server.url)
    expect(desk.locator("[data-answers-of] .save-state")).to_have_text("saved")
    assert ratings(item) == {"feedback_reasonable": 4}


def test_whoever_is_signed_out_signs_in_and_everything_is_sent(
    desk: Page, item: Assignment, live_server: Any
) -> None:
    here = desk.url
    desk.context.clear_cookies(name="sessionid")
    desk.keyboard.press("4")
    state(desk).to_have_text("signed out")
    why = desk.locator("[data-save-why]")
    expect(why).to_have_text("Signed out. Sign in; 1 answer is kept here.")
    assert violations(desk) == []
    for _ in range(9):
        desk.keyboard.press("3")
    answered(desk, "10 of 10")
    desk.keyboard.press("Enter")
    expect(desk.locator("[data-words]")).to_have_text("Submits when you have signed in.")
    why.get_by_role("link", name="Sign in").click()
    desk.get_by_label("Username").fill("ann")
    desk.get_by_label("Password").fill("secret-enough")
    desk.keyboard.press("Enter")
    desk.wait_for_url("**/annotate/2/")
    item.refresh_from_db()
    assert item.state == Assignment.State.SUBMITTED and desk.url != here
    assert ratings(item)["feedback_reasonable"] == 4


def test_a_text_that_is_too_long_is_refused_with_its_count(desk: Page, item: Assignment) -> None:
    desk.keyboard.press("c")
    field = desk.locator("#q-feedback_reasonable textarea[name$=':comment']")
    expect(field).to_be_focused()
    field.fill("x" * 100_000)
    field.blur()
    error = desk.get_by_text("100,000 characters, at most 5,000. Not saved: shorten it.")
    expect(error).to_be_in_viewport()
    expect(error).to_be_visible()
    assert violations(desk) == []
    desk.locator("[data-submit]").click()
    expect(desk.locator("[data-words]")).to_have_text("Not submitted: a text is too long.")
    expect(field).to_be_focused()
    field.fill("x" * 5000)
    field.blur()
    expect(error).to_have_count(0)
    state(desk).to_have_text("saved")
    assert [len(text) for text in Rating.objects.values_list("text", flat=True)] == [5000]


def test_the_queue_belongs_to_the_person(
    desk: Page, item: Assignment, live_server: Any, study: Study
) -> None:
    desk.route("**/answers/", lambda route: route.abort())
    desk.keyboard.press("4")
    state(desk).to_contain_text("waiting")
    desk.unroute("**/answers/")
    desk.context.clear_cookies()
    sign_in(desk, live_server.url, "mia")
    desk.goto(live_server.url)
    # What a queue holds when its page opens is sent before it says so.
    expect(desk.locator("[data-answers-of] .save-state")).to_have_text("saved")
    assert ratings(item) == {}


def test_two_tabs_are_told_and_both_answers_are_kept(desk: Page, item: Assignment) -> None:
    record_rating(
        assignment=item, by=item.annotator, question="feedback_reasonable", value=2,
        client_id=uuid.uuid4(),
    )  # fmt: skip
    desk.keyboard.press("5")
    expect(desk.locator("#notices")).to_contain_text("replaced the answer 2 to 1 Feedback")
    edits = RatingEdit.objects.filter(assignment=item).values_list("value", flat=True)
    assert list(edits) == [2, 5]


# --- Without script, on a phone, for everybody ----------------------------------------------------


def test_without_script_the_form_posts_as_a_whole(
    live_server: Any, browser: Browser, study: Study, item: Assignment
) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        sign_in_by_form(page, live_server.url)
        open_item(page, live_server.url, study)
        expect(page.locator("#q-autonomy .score-definition")).to_be_visible()
        for key in item.item.asked[:-1]:
            page.locator(f"#q-{key} input[value='4']").check(force=True)
        page.get_by_role("button", name="Submit").click()
        expect(page.get_by_role("alert")).to_contain_text("10 Autonomy")
        page.locator("#q-autonomy input[value='2']").check(force=True)
        page.get_by_role("button", name="Submit").click()
        page.wait_for_url("**/annotate/2/")
    assert ratings(item) == {**dict.fromkeys(item.item.asked, 4), "autonomy": 2}


def test_on_a_phone_the_trajectory_is_a_sheet_over_the_questions(
    live_server: Any, browser: Browser, study: Study, item: Assignment
) -> None:
    with browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ) as context:
        page = context.new_page()
        sign_in(page, live_server.url)
        open_item(page, live_server.url, study)
        handle, form = page.locator(".sheet-handle"), page.locator(".desk-form")

        def drag(to: float) -> float:
            """Drag the sheet's handle to this height of the window; return where it stays."""
            page.evaluate(SETTLED)
            box = handle.bounding_box()
            assert box is not None
            page.mouse.move(195, box["y"] + 10)
            page.mouse.down()
            page.mouse.move(195, to, steps=4)
            page.mouse.up()
            page.evaluate(SETTLED)
            after = handle.bounding_box()
            assert after is not None
            return after["y"]

        assert drag(400) == pytest.approx(844 / 2, abs=2)
        expect(page.get_by_role("button", name="Submit")).to_be_in_viewport(ratio=1)
        bar = page.locator(".desk-bar").bounding_box()
        assert bar is not None
        assert drag(60) == pytest.approx(bar["y"] + bar["height"], abs=2)
        expect(form).to_be_hidden()
        # It stays where the keyboard or a tap puts it, too.
        page.get_by_role("button", name="Full height").press("Enter")
        expect(form).to_be_visible()
        assert drag(820) >= 844 - 46
        expect(page.locator(".desk-read .turns")).to_be_hidden()
        expect(page.get_by_role("button", name="Trajectory")).to_have_attribute(
            "aria-expanded", "false"
        )
        for key in item.item.asked:
            page.locator(f"#q-{key} .score-scale label").nth(2).tap()
        expect(page.locator(".desk-words [data-answered]")).to_have_text("10 of 10")
        page.get_by_role("button", name="Submit").tap()
        page.wait_for_url("**/annotate/2/")
    assert set(ratings(item).values()) == {3}


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_is_accessible_and_never_scrolls_sideways(
    live_server: Any, browser: Browser, study: Study, theme: Any, width: int
) -> None:
    for name, paths in (
        ("ann", ("/", "/studies/", "/studies/S/", "/studies/S/annotate/1/")),
        ("mia", ("/", "/studies/S/")),
        ("root", ("/", "/studies/new/")),
    ):
        if name == "root":
            make_person("root", superuser=True)
        with browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=theme
        ) as context:
            page = context.new_page()
            sign_in(page, live_server.url, name)
            for path in paths:
                page.goto(live_server.url + path.replace("S", str(study.pk)))
                if "annotate" in path and width < 1000:
                    assert violations(page) == [], path
                    page.get_by_role("button", name="Trajectory").click()
                assert violations(page) == [], (name, path)
                assert page.evaluate("document.documentElement.scrollWidth") <= width, path
