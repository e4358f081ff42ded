"""Duels in a real browser: what must be answered is in sight, and each reply is announced once."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.live.control.services import retry_call
from annotation.live.duels.selectors import read_progress
from annotation.live.play import session_state as table
from annotation.live.setup.services import add_duel
from annotation.models import Duel, LiveSession
from annotation.ratings.duel_votes import votes_of
from benchmarks.datasets.services import save_dataset
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Agent, Dataset
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.systems.adapt.dataset import load_personas
from devtools.fake_endpoint.models import MODELS
from devtools.fake_endpoint.server import FakeServer
from tests.annotation.live_sessions import asked, carry, make_live_study, sample_dataset
from tests.annotation.rows import make_person
from tests.functional.axe import violations
from tests.functional.live_pages import stored
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WHOLE = {"ratio": 1.0}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions move when a test moves them, and pages look often whether they have."""
    for name in ("SOON", "LATER"):
        monkeypatch.setattr(f"annotation.live.duels.page.{name}", 0.3)
        monkeypatch.setattr(table, name, 0.3)
    monkeypatch.setattr("benchmarks.jobs.wake_up._send", lambda task, ids: None)


@pytest.fixture
def ann(db: None) -> User:
    return make_person("ann")


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True) as context:
        yield context


def breakfast() -> Dataset:
    ensure_scripted_agents()
    tasks = [pair for pair in load_personas().tasks if pair[0].id == "persona_10-eggs"]
    return save_dataset(
        system="adapt", name="Breakfast", version="", source="tests", licence="",
        checksum="breakfast", tasks=tasks, shared=tasks[0][0].shared,
    ).dataset  # fmt: skip


def begin(
    page: Page, url: str, player: User, *, mode: str, agents: tuple[str, str], dataset: Dataset,
    level: str = "high",
) -> Duel:  # fmt: skip
    """Make a duel that one person plays, and begin it as that person."""
    study = make_live_study(
        mode=mode, system=dataset.system,
        settings={"cast": {"dataset": dataset.pk, "level": level, "settings": {}, "roles": {}}},
    )  # fmt: skip
    study.settings["duels"] = True
    study.save()
    duel = add_duel(
        study=study, plan=study.live, task=dataset.tasks.order_by("pk")[0], players={1: player},
        agents=[Agent.objects.get(name=name, system__in=(dataset.system, "")) for name in agents],
        by=User.objects.get(username="mia"),
    )  # fmt: skip
    sign_in(page, url, player.username)
    page.goto(f"{url}/sessions/{duel.left_id}/")
    with stored(page, "/ready/"):
        page.get_by_role("button", name="I am ready").click()
    go_on(duel)
    return duel


def go_on(duel: Duel) -> None:
    """Both agents work until somebody is asked."""
    for side in (duel.left, duel.right):
        carry(side)


def test_a_question_stays_in_sight_beside_a_long_reply(
    live_server: Any, context: BrowserContext, phone: BrowserContext, ann: User
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    duel = begin(
        page, live_server.url, ann, mode="persona", agents=("cook", "blind-vegan"),
        dataset=breakfast(), level="preferences",
    )  # fmt: skip
    small = phone.new_page()
    sign_in(small, live_server.url, "ann")
    small.goto(f"{live_server.url}/sessions/{duel.left_id}/")
    for shown in (page, small):
        question = shown.get_by_text("How would you like your eggs?", exact=True)
        expect(shown.locator(".talk-line").nth(20)).to_be_attached()
        for seen in (question, shown.get_by_role("button", name="Send the answer"),
                     shown.get_by_role("button", name="Left is better")):  # fmt: skip
            expect(seen).to_be_in_viewport(**WHOLE)
        assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert violations(shown) == []
    spans = page.locator(".choices > label > span")
    boxes = spans.evaluate_all("all => all.map(one => [one.getBoundingClientRect()].map("
                               "box => [box.top, box.bottom])[0])")  # fmt: skip
    assert len(boxes) == 18 and max(bottom - top for top, bottom in boxes) > 40
    assert all(top >= end for (top, _), (_, end) in zip(boxes[1:], boxes, strict=False))


def test_on_a_phone_one_side_stands_below_the_other(
    live_server: Any, phone: BrowserContext, ann: User
) -> None:
    page = phone.new_page()
    begin(
        page, live_server.url, ann, mode="simulator", agents=("coin-flipper", "forgetful"),
        dataset=sample_dataset(),
    )  # fmt: skip
    page.reload()
    expect(page.locator(".sides > div").nth(1)).to_be_visible()
    for width in (320, 390, 700, 800, 1024):
        page.set_viewport_size({"width": width, "height": 700})
        for at in (0, 300, 10_000):
            page.locator("#room-talk").evaluate("(talk, at) => { talk.scrollTop = at }", at)
            left, right = (
                page.locator(f"[data-side='{name} agent']").bounding_box()
                for name in ("Left", "Right")
            )
            assert left and right
            apart = (
                left["x"] + left["width"] <= right["x"]
                or left["y"] + left["height"] <= right["y"]
                or right["y"] + right["height"] <= left["y"]
            )
            assert apart, f"{width} px wide, scrolled to {at}: one side covers the other"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_judges_see_both_agents_and_all_conditions_on_one_screen(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    begin(
        page, live_server.url, ann, mode="judge_and_simulator",
        agents=("coin-flipper", "forgetful"), dataset=sample_dataset(),
    )  # fmt: skip
    expect(page.locator(".reply-mark").first).to_be_visible()
    for each in page.locator(".reply-mark").all():
        expect(each).to_be_in_viewport(**WHOLE)
    expect(page.get_by_role("button", name="Send 2 verdicts")).to_be_in_viewport(**WHOLE)
    left, right = (page.get_by_role("heading", name=f"{name} agent") for name in ("Left", "Right"))
    boxes = [heading.bounding_box() for heading in (left, right)]
    assert boxes[0] and boxes[1]
    assert boxes[0]["x"] + 300 < boxes[1]["x"], "side by side, each with room for a plan"
    assert boxes[0]["y"] == pytest.approx(boxes[1]["y"], abs=1)
    assert violations(page) == []


def test_an_agent_whose_endpoint_fails_is_tried_again_and_then_given_up(
    live_server: Any, context: BrowserContext, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, page, refuses = sample_dataset(), context.new_page(), MODELS["unauthorized"]
    with FakeServer() as server:
        create_endpoint(
            name="aaa-talker", title="Talker", base_url=server.base_url, model="unauthorized",
            timeout=20, parameters={"max_tokens": 400},
        )  # fmt: skip
        duel = begin(
            page, live_server.url, ann, mode="judge_and_simulator",
            agents=("coin-flipper", "aaa-talker"), dataset=dataset,
        )  # fmt: skip
        sides = (duel.left, duel.right)
        (failed,) = (side for side in sides if side.trajectory.run.agent.name == "aaa-talker")
        expect(page.get_by_text("This agent did not respond.")).to_be_visible(timeout=15_000)
        go_on(duel)
        expect(page.locator("#session-turn")).to_contain_text("Your turn", timeout=15_000)
        expect(page.get_by_text("Which reply is better?")).to_have_count(0)
        assert "alker" not in page.content() and violations(page) == []
        # The manager mends the endpoint and tries again: the side comes back by itself.
        monkeypatch.setitem(MODELS, "unauthorized", MODELS["fake"])
        retry_call(session=failed, by=User.objects.get(username="mia"))
        go_on(duel)
        expect(page.get_by_text("Which reply is better?")).to_be_visible(timeout=15_000)
        expect(page.get_by_text("This agent did not respond.")).to_have_count(0)
        with stored(page, "/vote/"):
            page.get_by_role("button", name="Both bad").click()
        # It fails again, for good; the other side goes to its end.
        monkeypatch.setitem(MODELS, "unauthorized", refuses)
        while not read_progress(duel).over:
            judge(page, duel)
            go_on(duel)
    expect(page.locator("#session-turn")).to_contain_text("Duel over", timeout=15_000)
    expect(page.get_by_text("This agent did not respond.")).to_be_visible()
    expect(page.get_by_role("button", name="Pause")).to_have_count(0)
    with stored(page, "/vote/"):
        page.locator(".room-over").get_by_role("button", name="Both bad").click()
    expect(page.get_by_text("the agent did not respond. All messages are stored.")).to_be_visible()
    for side in sides:
        side.trajectory.refresh_from_db()
        side.refresh_from_db()
    assert {side.state for side in sides} <= set(LiveSession.OVER)
    assert {side.trajectory.status for side in sides} == {"cancelled", "done"}
    assert failed.trajectory.exchanges.filter(state="answered", role="agent").count() == 1
    votes = votes_of(duel.left.study_id)
    assert [(cast.turn, cast.counts) for cast in votes] == [(1, True), (0, False)]


def judge(page: Page, duel: Duel) -> None:
    """Give whatever the form of a judge or of a user asks for, and wait until it is stored."""
    desk = page.locator("#session-desk")
    asks = [ask.pk for side in (duel.left, duel.right) for ask in asked(side)]
    forms = ", ".join(f"[data-draft-of='{ask}']" for ask in asks)
    expect(page.locator(forms)).to_be_visible(timeout=30_000)
    marks = desk.get_by_role("checkbox")
    with stored(page):
        if marks.count():
            marks.first.check()
            for accepts in desk.locator(".reply-mark.none input").all()[1:]:
                accepts.check()
            desk.get_by_role("button", name="verdict").click()
        else:
            desk.locator("textarea[name=text]").fill("That does not work here.")
            desk.get_by_role("button", name="Send message").click()
    anyway = desk.get_by_role("button", name="Send anyway")
    if anyway.count():
        with stored(page):
            anyway.click()


# Notes what the page's live regions say, as a screen reader would: what is added to them, and
# what they hold when they are added themselves.
LISTEN = """() => {
  const regions = "[role=log], [role=status], [role=alert], [aria-live=polite]";
  window.said = [];
  new MutationObserver((changes) => {
    for (const node of changes.flatMap((change) => [...change.addedNodes])) {
      const element = node.nodeType === 1 ? node : null, parent = node.parentElement;
      const spoken = parent?.closest(regions) ? [node] : element?.querySelectorAll(regions) || [];
      for (const one of spoken) {
        const text = one.textContent.trim();
        if (text && (one.nodeType === 1 ? one : parent).checkVisibility()) window.said.push(text);
      }
    }
  }).observe(document.body, {childList: true, subtree: true});
}"""


def test_each_reply_is_announced_once(live_server: Any, context: BrowserContext, ann: User) -> None:
    page = context.new_page()
    page.add_init_script(f"addEventListener('DOMContentLoaded', {LISTEN})")
    duel = begin(
        page, live_server.url, ann, mode="simulator", agents=("coin-flipper", "forgetful"),
        dataset=sample_dataset(),
    )  # fmt: skip
    expect(page.get_by_role("log")).to_contain_text("Right agent: ", timeout=15_000)
    expect(page.get_by_role("log")).to_contain_text("Your turn: ")
    with stored(page, "/vote/"):
        page.get_by_role("button", name="Left is better").click()
    expect(page.get_by_role("log")).to_contain_text("Your vote in turn 1: left is better")
    for _ in range(2):
        field = page.locator("#session-desk textarea[name=text]")
        with stored(page):
            field.fill("The kit leaks at every joint.")
            page.get_by_role("button", name="Send message").click()
        page.wait_for_timeout(1000)
    go_on(duel)
    expect(page.get_by_role("heading", name="Turn 2")).to_be_attached(timeout=15_000)
    expect(page.locator(".talk-line").last).to_be_attached()
    said = page.evaluate("said")
    replies = [text for text in said if text.startswith(("Left agent: ", "Right agent: "))]
    shown = page.locator("[data-side] .talk-line:not(.own)").count()
    assert shown >= 4 and len(replies) == len(set(replies)) == shown
    assert not any("The kit leaks" in text for text in said), "what the player said themselves"
    assert len([text for text in said if "Dialogues" in text or "Copy" in text]) == 0


def test_that_a_reply_came_too_late_stays_while_the_duel_goes_on(
    live_server: Any, context: BrowserContext, ann: User
) -> None:
    page = context.new_page()
    duel = begin(
        page, live_server.url, ann, mode="simulator", agents=("coin-flipper", "forgetful"),
        dataset=sample_dataset(),
    )  # fmt: skip
    page.reload()
    other = context.new_page()
    other.goto(page.url)
    other.route("**/duels/*/state/**", lambda route: route.abort())
    for shown, text in ((page, "No ladder, please."), (other, "Neither a chair.")):
        shown.locator("#session-desk textarea:visible").first.fill(text)
        with stored(shown):
            shown.get_by_role("button", name="Send message").click()
    told, late = other.locator("#session-refused"), other.locator("#late-text")
    expect(told).to_contain_text("Not sent:")
    other.unroute("**/duels/*/state/**")
    with stored(page):
        page.locator("#session-desk textarea:visible").first.fill("No ladder here either.")
        page.get_by_role("button", name="Send message").click()
    go_on(duel)
    expect(other.get_by_role("heading", name="Turn 2")).to_be_visible()
    expect(told).to_be_visible()
    expect(late).to_have_value("Neither a chair.")
    told.get_by_role("button", name="Close").click()
    expect(told).to_have_count(0)
    expect(late).to_have_value("Neither a chair.")
