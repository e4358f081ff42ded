"""A person plays a whole query as the agent, with the keyboard alone, in a real browser: at the
asks of a run, and in a live session."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.live.play import views as play_views
from annotation.live.play.services import reply_to
from annotation.live.setup.sessions import make_session
from benchmarks.models import Agent, OpenAsk, Run
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.systems.planbench_xl.environment.catalogue import world_of
from benchmarks.systems.planbench_xl.scripted import given_values
from benchmarks.systems.planbench_xl.world import load_world
from tests.annotation.live_sessions import make_live_study
from tests.annotation.rows import make_person
from tests.factories.benchmarks import make_user, play
from tests.factories.planbench_xl import TASK, save_small_world, start_for_person, waiting_ask
from tests.functional.axe import check_looks, violations
from tests.functional.live_pages import check_phone
from tests.functional.test_annotation_loop import sign_in

# A tool with a longer name of the same beginning, before the one that is wanted.
DECOY = """name => {
  const tool = document.querySelector(`[data-tool="${name}"]`), decoy = tool.cloneNode(true);
  decoy.dataset.tool = decoy.querySelector("summary code").textContent = name + "_more";
  tool.before(decoy);
}"""

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs move when a test moves them."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda run_ids: None)


@pytest.fixture
def run(db: None) -> Run:
    return start_for_person()


@pytest.fixture
def seat(live_server: Any, run: Run, page: Page) -> Iterator[Page]:
    """Somebody who may answer and nothing else, at the first ask; scripts must not complain."""
    make_user("pia", ["answer_asks"])
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda m: complaints.append(m.text) if "Security Policy" in m.text else None,
    )
    sign_in(page, live_server.url, "pia")
    page.goto(f"{live_server.url}/asks/{waiting_ask(run).pk}/")
    yield page
    assert complaints == []


def send(seat: Page, run: Run) -> None:
    """Enter sends the form; the page waits, and opens the next ask when it is there."""
    seat.keyboard.press("Enter")
    seat.wait_for_url("**/next/")
    expect(seat.locator("#ask-next h1")).to_contain_text("the run continues")
    play(run)


def arrive(seat: Page, run: Run) -> None:
    seat.wait_for_url(f"**/asks/{waiting_ask(run).pk}/")


def check(seat: Page) -> None:
    """No sideways scrolling, and nothing that axe objects to."""
    assert seat.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert violations(seat) == []


def test_a_query_is_played_with_the_keyboard_alone(seat: Page, run: Run) -> None:
    task = next(task for task in load_world().tasks if task.id == TASK)
    world = world_of(task.shared)
    held = {key: str(value) for key, value in given_values(task, world).items()}
    check(seat)
    for name in task.payload["example_path"]:
        tool = world.tools[name]
        seat.keyboard.press("s")
        seat.keyboard.type(tool.output.replace("_", " "))
        send(seat, run)
        arrive(seat, run)
        expect(seat.locator("#came")).to_contain_text("shown")
        seat.keyboard.press("c")
        seat.keyboard.type(tool.description[:70].replace("`", ""))  # code is drawn as code
        expect(seat.locator("[data-tool]:visible")).to_have_count(1)
        seat.keyboard.press("Enter")
        for place, datatype in enumerate(tool.arguments.values()):
            if place:
                seat.keyboard.press("Tab")
            seat.keyboard.type(held[datatype])
        send(seat, run)
        arrive(seat, run)
        held[tool.output] = seat.locator("#came .reply-came").inner_text()
        expect(seat.locator("#known")).to_contain_text(held[tool.output])
    check(seat)
    seat.set_viewport_size({"width": 390, "height": 800})
    check(seat)
    seat.keyboard.press("a")
    seat.keyboard.type(held[tool.output])
    seat.keyboard.press("Tab")
    seat.keyboard.press("Space")
    send(seat, run)
    expect(seat.get_by_role("heading", name="This trajectory has ended")).to_be_visible()
    check(seat)
    trajectory = run.trajectories.get()
    assert trajectory.metrics["accurate"] == 1


def test_what_is_typed_survives_a_reload_and_a_refusal(seat: Page, run: Run) -> None:
    seat.keyboard.press("s")
    seat.keyboard.press("Tab")
    seat.keyboard.type("wish list")
    seat.reload()
    expect(seat.get_by_label("What it takes", exact=True)).to_have_value("wish list")
    seat.keyboard.press("a")
    seat.keyboard.type("Somebody")
    seat.keyboard.press("Enter")
    expect(seat.get_by_role("alert")).to_contain_text("Nothing was sent")
    expect(seat.get_by_label("The answer")).to_have_value("Somebody")
    expect(seat.get_by_label("This ends the query")).to_be_focused()
    check(seat)


def test_the_second_of_two_tabs_is_told(seat: Page, run: Run) -> None:
    other = seat.context.new_page()
    other.goto(seat.url)
    other.get_by_label("What the tool gives").fill("wish list")
    seat.get_by_label("What the tool gives").fill("buyer number")
    seat.keyboard.press("Enter")
    seat.wait_for_url("**/next/")
    other.keyboard.press("Enter")
    expect(other.get_by_role("alert")).to_contain_text("Somebody else answered first")
    expect(other.get_by_label("Your text")).to_have_value(re.compile("wish list"))


def test_a_query_is_played_live_to_its_end(
    live_server: Any, quiet: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = save_small_world()
    ensure_scripted_agents()
    session = make_session(
        study=make_live_study(system="planbench_xl", mode="agent"),
        agent=Agent.objects.filter(kind=Agent.Kind.HUMAN).order_by("pk")[0],
        task=dataset.tasks.get(external_id=TASK), players=[make_person("pia")], by=None,
    )  # fmt: skip
    page, keys = quiet, quiet.keyboard
    sign_in(page, live_server.url, "pia")
    page.goto(f"{live_server.url}/sessions/{session.pk}/")
    page.get_by_role("button", name="I am ready").click()
    expect(page.get_by_text("Reply 1 of 100")).to_be_visible()
    expect(page.get_by_label("What the tool gives")).to_be_focused()
    expect(page.get_by_text("Reply 1 of 100")).to_be_in_viewport(ratio=1)
    search = page.get_by_role("button", name="Search")
    check_phone(page, page.get_by_label("What the tool gives"), search)
    expect(page.get_by_role("link", name="Answer")).to_be_in_viewport(ratio=1)
    check_looks(page)

    task = next(task for task in load_world().tasks if task.id == TASK)
    world = world_of(task.shared)
    held = {key: str(value) for key, value in given_values(task, world).items()}
    replies, known, lines = 1, page.locator("#known"), page.locator(".talk-line")
    slowly = [True]

    def reply_slowly(**reply: Any) -> Any:
        """Return from the first reply when the next ask is open: its form comes without a poll."""
        stored = reply_to(**reply)
        deadline = time.monotonic() + 10 if slowly and slowly.pop() else 0
        open_asks = OpenAsk.objects.filter(trajectory=session.trajectory, answered_at=None)
        while time.monotonic() < deadline and not open_asks.exists():
            time.sleep(0.01)
        return stored

    monkeypatch.setattr(play_views, "reply_to", reply_slowly)
    for name in task.payload["example_path"]:
        tool = world.tools[name]
        page.evaluate("document.activeElement.blur()")
        keys.press("s")
        keys.type(tool.output.replace("_", " "))
        keys.press("Enter")
        replies += 1
        expect(page.get_by_text(f"Reply {replies} of 100")).to_be_visible()
        expect(lines.last).to_contain_text("shown")
        # After a search one mostly calls a tool, so its tab comes first.
        expect(page.get_by_label("Find among the")).to_be_focused()
        expect(page.get_by_label("What the tool gives")).to_be_hidden()
        # A name that is typed whole opens its tool, also behind one with a longer name.
        page.evaluate(DECOY, name)
        keys.type(name)
        keys.press("Enter")
        opened = page.locator("[data-tool][open]:visible")
        expect(opened).to_have_count(1)
        expect(opened).to_have_attribute("data-tool", name)
        for place, datatype in enumerate(tool.arguments.values()):
            if place:
                keys.press("Tab")
            keys.type("sca123d/?")  # no key acts while the cursor stands in a field
            assert page.evaluate("document.activeElement.value") == "sca123d/?"
            keys.press("Control+a")
            keys.type(held[datatype])
        keys.press("Enter")
        replies += 1
        expect(page.get_by_text(f"Reply {replies} of 100")).to_be_visible()
        held[tool.output] = lines.last.locator(".speech").inner_text()
        expect(known).to_contain_text(held[tool.output])
    check_looks(page)

    # On a phone what is known is a drawer, and the tabs stay in sight over a list of tools.
    page.set_viewport_size({"width": 390, "height": 844})
    expect(known).to_be_hidden()
    page.get_by_role("button", name="What is known").click()
    expect(known).to_be_in_viewport()
    keys.press("Escape")
    expect(known).to_be_hidden()
    page.get_by_role("link", name="Call a tool").click()
    page.locator("[data-tool] > summary").last.scroll_into_view_if_needed()
    expect(page.get_by_role("link", name="Answer")).to_be_in_viewport(ratio=1)

    page.get_by_role("link", name="Answer").click()
    keys.type("Somebody")
    keys.press("Enter")
    expect(page.locator(".errorlist")).to_have_text("Confirm that this is your final answer.")
    page.get_by_label("The answer").fill(held[tool.output])
    page.get_by_label("This ends the query").check()
    page.get_by_role("button", name="Answer and end").click()
    expect(page.get_by_role("heading", name="Why it ended")).to_be_visible()
    expect(lines.last).to_contain_text(f"Answered: {held[tool.output]}")
    session.refresh_from_db()
    assert session.trajectory.metrics["accurate"] == 1
