"""Live sessions in a real browser: played with the keyboard, by two people, against what fails."""

import re
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotation.live.control.services import give_to_agent
from annotation.live.play import presence
from annotation.live.play import session_state as table
from annotation.live.play.services import pause_session
from annotation.models import LiveDraft, LiveSession
from annotation.studies.setup import add_member
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Agent, Exchange
from devtools.fake_endpoint.server import FakeServer
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    sample_dataset,
)
from tests.annotation.rows import make_person
from tests.functional.axe import DRAWN, violations
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLAN = "1. Ask a friend to come over.\n2. Do it together with what is at hand."
BETTER = "1. Ask the neighbour to come over.\n2. Do it together by hand."
COMPLAINT = re.compile("Security Policy|htmx:sendAbort")
# A draft is sent two seconds after the one before.
PATIENT = 15_000


# What a screen reader reads out by itself: what is added to a log, and a status that is written.
# Each poll brings the page as if it had changed.
LISTEN = """() => {
  document.addEventListener("htmx:configRequest", ({ detail }) => {
    detail.path = detail.path.replace(/\\?v=[^&]+/, "?v=0");
  });
  window.heard = [];
  const note = (role, element) => {
    if (element.textContent.trim()) heard.push([role, element.textContent.trim()]);
  };
  new MutationObserver((changes) => {
    const states = new Set();
    for (const { target, addedNodes } of changes) {
      const region = target.closest?.("[role=log], [role=status], [role=alert], [aria-live]");
      if (!addedNodes.length || !region || region.ariaLive === "off") continue;
      if (region.role !== "log") states.add(region);
      else for (const node of addedNodes) note("log", node);
    }
    for (const region of states) note(region.role, region);
  }).observe(document.body, { childList: true, subtree: true });
}"""


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions move when a test moves them, and pages look often whether they have."""
    for name in ("SOON", "LATER"):
        monkeypatch.setattr(table, name, 0.3)
    monkeypatch.setattr("benchmarks.jobs.wake_up._send", lambda task, ids: None)


@pytest.fixture
def ann(db: None) -> User:
    return make_person("ann")


@pytest.fixture
def complaints() -> Iterator[list[str]]:
    """Check at the end that scripts and the page's policy complained of nothing."""
    found: list[str] = []
    yield found
    assert found == []


@pytest.fixture
def entered(browser: Browser) -> Iterator[Any]:
    """Makes further browsers, closed at the end: an open page keeps asking."""
    made: list[BrowserContext] = []

    def enter(**options: Any) -> BrowserContext:
        made.append(browser.new_context(**options))
        return made[-1]

    yield enter
    for each in made:
        each.close()


def sit(
    context: BrowserContext, url: str, session: LiveSession, name: str, complaints: list[str]
) -> Page:
    """The page of a player; scripts must not complain."""
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if COMPLAINT.search(m.text) else None)
    sign_in(page, url, name)
    page.goto(f"{url}/sessions/{session.pk}/")
    return page


def check(page: Page) -> None:
    """No sideways scrolling, and nothing that axe objects to."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(page) == []


def turn(page: Page, words: str) -> None:
    expect(page.locator("#session-turn")).to_contain_text(words, timeout=PATIENT)


def type_over(page: Page, text: str) -> None:
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def send_anyway(page: Page) -> None:
    """Whoever is told of a hint comes to its button by the Tab key alone."""
    expect(page.locator("#session-hints")).to_be_focused(timeout=PATIENT)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def test_the_user_is_played_with_the_keyboard_alone(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    study = make_live_study(session_minutes=30, settings={"hints": True})
    session = make_live_session(study, [ann], max_turns=3)
    page = sit(context, live_server.url, session, "ann", complaints)
    check(page)
    page.locator("#session-ready").press("Enter")
    turn(page, "is writing")
    carry(session)
    # The poll brings the form, and the focus is in it.
    turn(page, "Your turn")
    field = page.locator("#session-desk textarea[name=text]")
    expect(field).to_be_focused(timeout=PATIENT)
    check(page)
    # Beyond what browsers send of a page that is left.
    field.fill("Not like this. " * 6000)
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved", timeout=PATIENT)
    type_over(page, "Please do it another way.")
    expect(page.locator("[data-draft-state]")).to_have_text("Draft saved", timeout=PATIENT)
    # It is there in another tab, and after a reload.
    other = sit(context, live_server.url, session, "ann", complaints)
    expect(other.locator("#session-desk textarea[name=text]")).to_have_value(
        "Please do it another way."
    )
    page.reload()
    expect(field).to_have_value("Please do it another way.")
    # Of two tabs none overwrites the other: whoever typed last is asked.
    elsewhere = other.locator("#session-desk textarea[name=text]")
    elsewhere.fill("Please wait.")
    expect(other.locator("[data-draft-state]")).to_have_text("Draft saved", timeout=PATIENT)
    field.fill("Please do not wait.")
    expect(page.get_by_label("Draft in the other tab")).to_have_value(
        "Please wait.", timeout=PATIENT
    )
    check(page)
    page.get_by_role("button", name="Use the other draft").click()
    expect(field).to_have_value("Please wait.")
    # What was taken is kept as well, so the page says it already.
    with page.expect_response(lambda answer: "/draft/" in answer.url and answer.ok):
        field.fill("Please do it another way.")
    elsewhere.fill("Please hurry.")
    other.get_by_role("button", name="Keep this version").click(timeout=PATIENT)
    expect(other.locator("[data-draft-state]")).to_have_text("Draft saved", timeout=PATIENT)
    field.press("Control+Enter")
    send_anyway(page)
    turn(page, "is writing")
    expect(page.locator(".talk-line.own").last).to_contain_text("Please do it another way.")
    # The other tab is told; what is typed there is not thrown away.
    expect(other.locator("#session-desk")).to_contain_text("Your reply was already sent.")
    other.close()
    said = 1
    carry(session)
    while asked(session):
        turn(page, "Your turn")
        expect(field).to_be_focused(timeout=PATIENT)
        page.get_by_role("button", name="Use a scripted draft").press("Enter")
        field.press("Control+Enter")
        expect(page.locator("#session-turn")).not_to_contain_text("Your turn", timeout=PATIENT)
        carry(session)
        said += 1
    turn(page, "Session over")
    expect(page.locator("#session-end")).to_be_visible()
    check(page)
    assert Exchange.objects.filter(role="simulator", state="answered").count() == said


def test_judge_and_user_in_one_place(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    session = make_live_session(make_live_study(mode="judge_and_simulator"), [ann], max_turns=2)
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    turn(page, "Your turn: 2 replies")
    check(page)
    expect(page.locator(".session-others")).to_have_count(0)
    judge(page)
    turn(page, "is writing")
    carry(session)
    while asked(session):
        turn(page, "Your turn")
        judge(page)
        carry(session)
    turn(page, "Session over")
    roles = Exchange.objects.filter(trajectory=session.trajectory, answerer__kind="human")
    assert set(roles.values_list("role", flat=True)) == {"world_judge", "user_judge"}


def test_all_scores_of_a_judge_stand_on_one_screen(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    session = make_live_session(make_live_study(mode="judge"), [ann], rubric_judges=1)
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    page.set_viewport_size({"width": 1280, "height": 720})
    turn(page, "Your turn: 3 replies")
    # Two of the three are given on one form.
    expect(page.locator(".session-others")).to_contain_text("2 forms, one after the other")
    page.get_by_role("link", name="Rubric judge").click()
    scores = page.locator("fieldset.score")
    expect(scores).to_have_count(8)
    shown = {"ratio": 1.0}
    for score in scores.locator(".score-scale").all():
        expect(score).to_be_in_viewport(**shown)
    expect(page.get_by_role("button", name="Send scores")).to_be_in_viewport(**shown)
    words = scores.locator(".score-detail")
    for number in (7, 1):
        scores.nth(number).get_by_label("4", exact=True).focus()
        expect(words.locator("visible=true")).to_have_count(1)
        expect(words.nth(number)).to_be_in_viewport(**shown)
    # Where some are missing, the form comes back as compact as it was.
    for _ in range(6):
        page.keyboard.press("4")
    page.get_by_role("button", name="Send scores").press("Enter")
    expect(page.locator("#session-errors")).to_be_in_viewport(**shown)
    for score in scores.locator(".score-scale").all():
        expect(score).to_be_in_viewport(**shown)
    expect(page.get_by_role("button", name="Send scores")).to_be_in_viewport(**shown)
    for missing in (0, 7):
        expect(scores.nth(missing).get_by_text("Missing")).to_be_in_viewport(**shown)
    expect(words.locator("visible=true")).to_contain_text("Choose 1 to 5")
    check(page)
    scores.nth(7).get_by_label("4", exact=True).press("Space")
    scores.nth(0).get_by_label("Cannot tell").press("Space")
    page.get_by_role("button", name="Send scores").press("Enter")
    expect(page.get_by_role("button", name="Send scores")).to_have_count(0)
    assert [ask.role for ask in asked(session)] == ["world_judge", "user_judge"]


def test_on_a_phone_the_field_stands_above_its_buttons(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    page.set_viewport_size({"width": 390, "height": 844})
    turn(page, "Your turn")
    field = page.locator("#session-desk textarea[name=text]")
    expect(field).to_be_focused(timeout=PATIENT)
    composer = page.locator(".room-composer").bounding_box()
    text, buttons = field.bounding_box(), page.locator(".form-actions:visible").bounding_box()
    assert composer and text and buttons
    assert composer["height"] <= 0.25 * 844
    assert text["y"] + text["height"] <= buttons["y"]
    assert buttons["y"] + buttons["height"] <= composer["y"] + composer["height"] + 1
    check(page)


def test_a_screen_reader_hears_each_message_once(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    session = make_live_session(make_live_study(), [ann], max_turns=2)
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    field = page.get_by_role("textbox", name="Your message to the agent")
    for number in (1, 2):
        turn(page, "Your turn")
        expect(field).to_be_focused(timeout=PATIENT)
        page.evaluate(LISTEN if number == 1 else "window.heard = []")
        field.press_sequentially(f"Please not that, {number}.")
        expect(page.locator("[data-draft-state]")).to_have_text("Draft saved", timeout=PATIENT)
        field.press("Control+Enter")
        turn(page, "is writing")
        expect(page.get_by_role("group", name="Reply area")).to_be_focused()
        with page.expect_response(lambda response: "/state/" in response.url):
            pass
        carry(session)
        turn(page, "Your turn" if number == 1 else "Session over")
        heard = page.evaluate("heard")
        assert {role for role, _ in heard} == {"log"}
        first, *replies, last = [words for _, words in heard]
        assert (first, len(replies)) == ("The agent is writing", 2 - number)
        assert all(words.startswith("Agent: ") for words in replies)
        assert last == "Your turn" if number == 1 else last.startswith("Session over. All")
    expect(page.get_by_role("heading", name="Why it ended")).to_be_focused()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    # The dialogue is a silent log: Firefox would have the steps of every plan in it read again.
    dialogue = page.get_by_role("log", name="Dialogue")
    expect(dialogue).to_have_attribute("aria-live", "off")
    numbered = dialogue.locator("ol.talk > li")
    expect(numbered).to_have_count(5)
    expect(numbered.get_by_role("button", name="Copy message 5")).to_be_visible()
    check(page)


def test_two_people_in_two_browsers(
    live_server: Any, entered: Any, ann: User, complaints: list[str]
) -> None:
    study = make_live_study(mode="two_people", reply_seconds=600)
    sample_dataset()
    people = [ann, make_person("bob")]
    for person in people:
        add_member(study=study, user=person, role="annotator", by=None)
    session = make_live_session(study, people, agent="person")
    agent = sit(entered(), live_server.url, session, "ann", complaints)
    dark = entered(color_scheme="dark", viewport={"width": 390, "height": 800})
    user = sit(dark, live_server.url, session, "bob", complaints)
    check(user)
    agent.locator("#session-ready").click()
    turn(agent, "Waiting for the")
    user.locator("#session-ready").click()
    carry(session)
    turn(agent, "Your turn")
    turn(user, "Agent’s turn")
    expect(user.locator("#session-strip")).to_contain_text("for the agent’s reply")
    field = agent.locator("#session-desk textarea[name=text]")
    expect(field).to_be_focused(timeout=PATIENT)
    field.fill(PLAN)
    # A pause by the other person does not touch what is typed; nor is it sent meanwhile.
    pause_session(
        session=LiveSession.objects.get(pk=session.pk), by=User.objects.get(username="bob")
    )
    turn(agent, "Paused")
    expect(field).to_have_value(PLAN)
    field.press("Control+Enter")
    expect(agent.locator("#room-news")).to_contain_text("paused", timeout=PATIENT)
    expect(field).to_have_value(PLAN)
    user.locator("#session-resume").click()
    turn(agent, "Your turn")
    field.press("Control+Enter")
    expect(agent.locator(".talk-line.own").last).to_contain_text("Ask a friend", timeout=PATIENT)
    # The script cannot read the plan: the person who plays the user decides about it.
    carry(session)
    turn(user, "Your turn: 2 replies")
    turn(agent, "User’s turn")
    expect(user.locator("#session-talk")).to_contain_text("Ask a friend")
    expect(user.locator("#session-talk")).to_contain_text(session.trajectory.task.prompt[:40])
    check(user)
    user.locator("#session-desk input[name^=violates-]").first.press("Space")
    user.locator("#session-desk input[name=none-user]").press("Space")
    expect(user.locator(".session-others")).to_have_count(0)
    user.get_by_role("button", name="Send 2 verdicts").press("Enter")
    turn(user, "is writing")
    carry(session)
    # The draft of the script as it stands.
    turn(user, "Your turn")
    user.get_by_role("button", name="Use a scripted draft").press("Enter")
    user.locator("#session-desk textarea[name=text]").press("Control+Enter")
    turn(user, "The agent is writing")
    carry(session)
    # Nothing of what the user knows stands on the agent's page, but what was told.
    turn(agent, "Your turn")
    hidden = [c.text for c in session.trajectory.profile.constraints.all()]
    assert sum(text in agent.content() for text in hidden) == 1
    expect(field).to_be_focused(timeout=PATIENT)
    field.fill(BETTER)
    field.press("Control+Enter")
    expect(agent.locator(".talk-line.own").last).to_contain_text("neighbour", timeout=PATIENT)
    carry(session)
    turn(user, "Your turn: 2 replies")
    expect(user.locator("#session-talk")).to_contain_text("neighbour")
    judge(user)
    turn(user, "is writing")
    carry(session)
    # Both see the plan that ended it, and how it ended, before they are asked about it.
    for page in (agent, user):
        turn(page, "Session over")
        expect(page.locator("#session-talk .talk-line").last).to_contain_text("neighbour")
        over = page.locator("#session-desk")
        expect(over).to_contain_text("The last plan respects every condition.")
        expect(over.get_by_role("heading", name="Final plan")).to_be_visible()
        expect(over.locator("ol.plan")).to_contain_text("Ask the neighbour")
        # The panel that shows the end takes room from the dialogue, whose last line stays in sight.
        page.evaluate(DRAWN)
        last = page.locator("#session-talk .talk-line").last.bounding_box()
        talk = page.locator("#room-talk").bounding_box()
        assert last and talk and last["y"] + last["height"] <= talk["y"] + talk["height"]
        check(page)
        over.get_by_role("link", name="Rate this session").click()
        page.wait_for_url("**/annotate/1/")


def test_a_second_press_sends_nothing_and_leaving_asks_once(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    held: list[Route] = []
    page.route("**/reply/**", lambda route: held.append(route))
    field = page.locator("#session-desk textarea[name=text]")
    field.fill("No ladder, please. " * 3)
    field.press("Control+Enter")
    expect(page.locator("[data-draft-url]")).to_have_attribute("inert", "")
    page.evaluate("document.querySelector('[data-reply-sent]').requestSubmit()")
    page.wait_for_function("count => count === 1", arg=len(held))
    held[0].continue_()
    page.unroute("**/reply/**")
    turn(page, "is writing")
    expect(page.locator("#session-desk")).not_to_contain_text("already sent")
    assert len(held) == 1
    # Leaving asks once, and says what it means; staying changes nothing.
    for button, left in (("Stay", False), ("Leave the session", True)):
        page.locator("[data-menu] > summary").click()
        page.get_by_role("button", name="Leave the session").click()
        dialog = page.get_by_role("dialog", name="Leave the session?")
        expect(dialog).to_contain_text("another person may take the place")
        check(page)
        dialog.get_by_role("button", name=button).click()
        expect(page.locator("#session-turn")).to_have_count(int(not left))
    assert session.places.get().player is None


def test_what_happens_elsewhere_leaves_the_focus_where_it_is(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(presence, "QUIET", timedelta(minutes=5))
    study = make_live_study(mode="two_people")
    people = [ann, make_person("bob")]
    sample_dataset()
    for person in people:
        add_member(study=study, user=person, role="annotator", by=None)
    session = make_live_session(study, people, agent="person")
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    expect(page.locator("#session-desk textarea[name=text]")).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    place = session.places.get(player=people[1])
    for shown in ("away", "here"):
        if shown == "away":
            presence.note_gone(place.pk, "0" * 12)
        else:
            presence.note_here(place.pk, timezone.now(), "1" * 12)
        expect(page.locator("#room-players .badge")).to_have_text(["here", shown])
        assert page.evaluate("document.activeElement === document.body")


def judge(page: Page) -> None:
    """Say that the plan violates none of the conditions that are shown; the verdict is stored."""
    form = page.locator("[data-draft-of]")
    expect(form).to_have_count(1, timeout=PATIENT)
    sent = form.get_attribute("data-draft-of")
    for box in page.get_by_label("Accept: it breaks none of these").all():
        box.press("Space")
    page.get_by_role("button", name="verdict").press("Enter")
    expect(page.locator(f'[data-draft-of="{sent}"]')).to_have_count(0)


def test_an_agent_that_fails_stalls_and_recovers(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    study = make_live_study()
    sample_dataset()
    with FakeServer() as server:
        for name in ("unauthorized", "stall-once"):
            create_endpoint(
                name=name, title=name.title(), base_url=server.base_url, model=name, timeout=60,
                parameters={"max_tokens": 400},
            )  # fmt: skip
        session = make_live_session(study, [ann], agent="unauthorized")
        begin(session)
        page = sit(context, live_server.url, session, "ann", complaints)
        turn(page, "No response")
        expect(page.locator("#session-strip")).to_contain_text("The agent did not respond")
        assert "nauthorized" not in page.content()
        check(page)
        give_to_agent(
            session=session,
            agent=Agent.objects.get(name="stall-once"),
            by=User.objects.get(username="mia"),
        )
        worker = threading.Thread(target=work, args=(session,))
        worker.start()
        turn(page, "The agent is writing")
        expect(page.locator("#session-clocks")).to_contain_text(" s", timeout=PATIENT)
        server.closing.set()  # which ends the stalled reply
        worker.join()
        session.trajectory.refresh_from_db()
        words = "Your turn" if asked(session) else "Session over"
        expect(page.locator("#session-turn")).to_contain_text(words, timeout=PATIENT)


def work(session: LiveSession) -> None:
    try:
        carry(LiveSession.objects.get(pk=session.pk))
    finally:
        connection.close()


def test_a_poll_that_is_given_up_is_no_failure(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    errors: list[str] = []
    page = sit(context, live_server.url, session, "ann", errors)
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    held: list[Route] = []
    page.route("**/state/?**", lambda route: held.append(route))
    with page.expect_request("**/state/?**"):
        pass
    # What is sent takes the place of the poll that is under way.
    page.locator("#session-pause").click()
    turn(page, "Paused")
    expect(page.locator("#notices")).to_be_empty()
    assert held and errors == []
    # One that is not answered for want of a network still is.
    page.unroute("**/state/?**")
    page.route("**/state/?**", lambda route: route.abort())
    expect(page.locator("#notices")).to_contain_text("No connection", timeout=PATIENT)
    assert any("htmx:sendError" in error for error in errors)


def test_without_a_network_nothing_typed_is_lost(
    live_server: Any, context: BrowserContext, ann: User, complaints: list[str]
) -> None:
    session = make_live_session(make_live_study(), [ann])
    begin(session)
    page = sit(context, live_server.url, session, "ann", complaints)
    field = page.locator("#session-desk textarea[name=text]")
    context.set_offline(True)
    field.fill("Typed without a network.")
    expect(page.locator("[data-draft-state]")).to_contain_text(
        "kept in this browser", timeout=PATIENT
    )
    # What is sent now waits, and can be taken back; nothing else is asked of the network meanwhile.
    field.press("Control+Enter")
    waits = page.locator("[data-queued]")
    expect(waits).to_contain_text("No connection", timeout=PATIENT)
    check(page)
    waits.get_by_role("button", name="Edit it instead").click()
    expect(field).to_be_focused()
    field.fill("Sent without a network.")
    field.press("Control+Enter")
    expect(waits).to_contain_text("No connection", timeout=PATIENT)
    context.set_offline(False)
    turn(page, "is writing")
    expect(page.locator(".talk-line.own").last).to_contain_text("Sent without a network.")
    expect(page.locator("[data-draft-state]")).to_be_hidden()
    assert LiveDraft.objects.get().fields["text"] == "Sent without a network."
    carry(session)
    # A reply whose acknowledgement was lost is sent again after a reload, and stored once.
    turn(page, "Your turn")
    field.fill("Sent once.")
    page.route("**/reply/**", lambda route: route.abort() if route.fetch() else None)
    field.press("Control+Enter")
    expect(waits).to_contain_text("No connection", timeout=PATIENT)
    page.unroute("**/reply/**")
    page.reload()
    turn(page, "is writing")
    texts = (
        Exchange.objects.filter(role="simulator").order_by("step").values_list("text", flat=True)
    )
    assert list(texts) == ["Sent without a network.", "Sent once."]
    assert page.evaluate("Object.keys(localStorage).filter(key => key.includes('draft'))") == []


def test_a_player_leaves_and_is_replaced_while_others_watch_and_control(
    live_server: Any, entered: Any, ann: User, complaints: list[str], monkeypatch: Any
) -> None:
    # Only a page that says that it is closed shows as away.
    monkeypatch.setattr(presence, "QUIET", timedelta(minutes=5))
    study = make_live_study(mode="two_people", leaving="hand_over")
    sample_dataset()
    for person in (ann, make_person("bob"), make_person("carl")):
        add_member(study=study, user=person, role="annotator", by=None)
    add_member(study=study, user=make_person("olga"), role="observer", by=None)
    session = make_live_session(study, [ann, User.objects.get(username="bob")], agent="person")
    begin(session)
    url = live_server.url
    agent, user = (sit(entered(), url, session, name, complaints) for name in ("ann", "bob"))
    players = agent.locator("#room-players")
    # A page that is closed says so, and so does one that is opened again.
    expect(players.locator(".badge")).to_have_text(["here", "here"])
    user.goto("about:blank")
    expect(players).to_contain_text("away")
    user.goto(f"{url}/sessions/{session.pk}/")
    expect(players).not_to_contain_text("away")
    agent.locator("#session-desk textarea[name=text]").fill(PLAN)
    agent.keyboard.press("Control+Enter")
    expect(agent.locator(".talk-line.own").last).to_contain_text("Ask a friend", timeout=PATIENT)
    expect(agent.locator("[data-rescued]")).to_be_hidden()
    carry(session)
    turn(user, "Your turn: 2 replies")
    user.get_by_text("More", exact=True).click()
    user.get_by_role("button", name="Leave the session").click()
    user.get_by_role("dialog").get_by_role("button", name="Leave the session").click()
    expect(agent.locator("#session-strip")).to_contain_text("Nobody plays the user right now")
    # Whoever watches sees it, too; the replacement gets the whole dialogue.
    watcher = entered().new_page()
    sign_in(watcher, url, "olga")
    watcher.goto(f"{url}/sessions/{session.pk}/watch/")
    expect(watcher.locator("#watch-side")).to_contain_text("bob left the place User")
    part, heading = (watcher.locator(f".watch-open{each}").bounding_box() for each in ("", " h3"))
    assert part and heading and heading["x"] > part["x"] + 8
    check(watcher)
    carl = entered().new_page()
    sign_in(carl, url, "carl")
    carl.goto(f"{url}{reverse('annotation:next_item', args=[study.pk])}")
    carl.get_by_role("link", name="Start session").click()
    carl.locator("#session-ready").or_(carl.locator(".room-talk")).first.wait_for()
    expect(carl.locator(".talk-line")).to_have_count(2)
    expect(carl.locator("#session-talk")).to_contain_text(session.trajectory.task.prompt[:40])
    turn(carl, "Your turn: 2 replies")
    # Whoever runs the study pauses, resumes, plays the place to the next turn, and ends it.
    manager = entered().new_page()
    sign_in(manager, url, "mia")
    control = f"{url}/sessions/{session.pk}/control/"
    manager.goto(control)
    check(manager)
    manager.get_by_role("button", name="Pause session").click()
    turn(carl, "Paused")
    turn(agent, "Paused")
    manager.get_by_role("button", name="Resume session").click()
    turn(carl, "Your turn")
    manager.get_by_role("button", name="Take over").last.click()
    # It leads to the room.
    manager.wait_for_url(f"{url}/sessions/{session.pk}/")
    turn(carl, "Not playing")
    expect(carl.get_by_role("heading", name="You no longer play")).to_be_focused()
    expect(carl.locator("#session-desk")).to_contain_text("took over your place")
    check(carl)
    # Whoever gets their place back is told where they are, and goes on.
    manager.goto(control)
    manager.get_by_role("button", name="Give the place back").click()
    expect(carl.get_by_role("heading", name="You have your place again")).to_be_visible(
        timeout=PATIENT
    )
    check(carl)
    expect(carl.locator("#session-turn")).to_be_empty()
    carl.get_by_role("link", name="Return to the session").click()
    turn(carl, "Your turn: 2 replies")
    judge(carl)
    turn(carl, "is writing")
    carry(session)
    turn(agent, "Session over")
    desk = agent.locator("#session-desk")
    expect(desk.get_by_role("heading")).to_have_text(["Why it ended", re.compile("Final plan")])
    expect(desk.get_by_role("link", name="Rate this session")).to_be_visible()
    check(agent)
    turn(watcher, "Session over")


def test_whoever_made_a_session_controls_it_to_the_end(
    live_server: Any, entered: Any, ann: User
) -> None:
    """A researcher replaces agent and player, lets a script continue, and ends the session."""
    dataset, url = sample_dataset(), live_server.url
    make_person("rae", "view_results", "start_runs")
    make_person("bob")
    maker = entered().new_page()
    sign_in(maker, url, "rae")
    maker.goto(f"{url}/sessions/new/?dataset={dataset.pk}&mode=simulator")
    maker.get_by_label("Name", exact=True).fill("Controlled")
    maker.get_by_label("Agent", exact=True).select_option(label="Coin flipper")
    maker.get_by_label("Level").select_option("high")
    maker.get_by_role("button", name="Make the session").click()
    dark = entered(color_scheme="dark", viewport={"width": 390, "height": 800})
    player = follow(dark.new_page(), url, "ann", maker)
    session = LiveSession.objects.get()
    player.locator("#session-ready").click()
    turn(player, "is writing")
    carry(session)
    turn(player, "Your turn")
    # Another agent replies from here on, and its failures are named to whoever runs it alone.
    control = f"{url}/sessions/{session.pk}/control/"
    maker.goto(control)
    check(maker)
    maker.get_by_label("Another agent").select_option(label="Forgetful")
    maker.get_by_role("button", name="Replace agent").click()
    expect(maker.get_by_role("heading", name="Agent: Forgetful")).to_be_visible()
    # Somebody else gets the place; what was typed is not lost with it.
    field = player.locator("#session-desk textarea[name=text]")
    field.fill("Typed, not sent.")
    maker.get_by_role("button", name="Remove player").click()
    turn(player, "Not playing")
    expect(player.get_by_label("Your unsent text")).to_have_value("Typed, not sent.")
    check(player)
    maker.get_by_role("button", name="Make a link for a replacement").click()
    replacement = follow(entered().new_page(), url, "bob", maker)
    turn(replacement, "Your turn")
    expect(replacement.locator(".talk-line")).to_have_count(2)
    replacement.get_by_role("button", name="Use a scripted draft").click()
    replacement.get_by_role("button", name="Send message").click()
    turn(replacement, "is writing")
    carry(session)
    agents = session.trajectory.exchanges.filter(role="agent").order_by("step")
    assert agents[1].answerer.name == "forgetful"
    # A script continues, and the session is ended while it does.
    turn(replacement, "Your turn")
    maker.goto(control)
    maker.get_by_role("button", name="Let a script or model continue").click()
    expect(maker.get_by_text("A script or model now plays the user.")).to_be_visible()
    turn(replacement, "Not playing")
    maker.goto(control)
    maker.get_by_label("Reason (players read it)").last.fill("enough seen")
    maker.get_by_role("button", name="End session").click()
    expect(maker.get_by_text("This session is over")).to_be_visible()
    assert session.events.get(kind="cancelled").reason == "enough seen"
    maker.goto(f"{url}/sessions/{session.pk}/watch/")
    expect(maker.locator("#watch-side")).to_contain_text("rae removed ann from the place User.")


def follow(page: Page, url: str, name: str, maker: Page) -> Page:
    """Take the place whose link the maker's page shows, up to the lobby or the dialogue."""
    link = maker.locator("code[id^=link-]").inner_text()
    sign_in(page, url, name)
    page.goto(link)
    page.get_by_role("button", name=f"Accept as {name}").click()
    page.get_by_role("link", name="Start session").or_(
        page.get_by_role("button", name="Start session")
    ).click()
    page.locator("#session-ready").or_(page.locator(".room-talk")).first.wait_for()
    return page
