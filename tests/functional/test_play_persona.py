"""A person plays ADAPT live in a real browser: as the persona who answers, and as the agent."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession
from benchmarks.datasets.services import save_dataset
from benchmarks.models import Agent, Dataset
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.adapt.dataset import load_personas
from tests.annotation.live_sessions import make_live_study
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play
from tests.functional.axe import check_looks
from tests.functional.live_pages import check_phone
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

EGGS, CEREAL = "persona_10-eggs", "persona_02-cereal"


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs move when a test moves them."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda run_ids: None)


@pytest.fixture
def breakfast(db: None) -> Dataset:
    ensure_scripted_agents()
    tasks = [pair for pair in load_personas().tasks if pair[0].id in (EGGS, CEREAL)]
    return save_dataset(
        system="adapt", name="Breakfast", version="", source="tests", licence="",
        checksum="breakfast", tasks=tasks, shared=tasks[0][0].shared,
    ).dataset  # fmt: skip


def begin(
    page: Page, url: str, dataset: Dataset, mode: str, task: str, agent: str, **settings: Any
) -> LiveSession:
    """Make a session that one person plays, and begin it as that person."""
    session = make_session(
        study=make_live_study(system="adapt", mode=mode, settings={"hints": True}),
        agent=Agent.objects.get(name=agent, system__in=("adapt", "")),
        task=dataset.tasks.get(external_id=task), level="preferences", settings=settings,
        players=[make_person("pia")], by=None,
    )  # fmt: skip
    sign_in(page, url, "pia")
    page.goto(f"{url}/sessions/{session.pk}/")
    page.get_by_role("button", name="I am ready").click()
    return session


def test_a_person_answers_as_the_persona_to_the_end(
    live_server: Any, quiet: Page, breakfast: Dataset
) -> None:
    page = quiet
    session = begin(page, live_server.url, breakfast, "persona", EGGS, "cook")
    answer, send = page.get_by_label("Your answer"), "Send the answer"
    salt = page.get_by_label("A sprinkle of salt belongs on eggs.")
    expect(page.get_by_text("0 of 18 told")).to_be_visible()
    check_looks(page)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(salt).to_be_hidden()
    page.get_by_role("button", name="Your preferences").click()
    expect(salt).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(salt).to_be_hidden()
    page.set_viewport_size({"width": 1280, "height": 900})

    # Nothing is sent without words; words that give away what is not ticked are pointed out.
    page.get_by_role("button", name=send).click()
    expect(
        page.locator("#session-desk").get_by_text("Write what you say to the agent.")
    ).to_be_visible()
    answer.fill("With salt, please.")
    answer.press("Control+Enter")
    expect(
        page.locator("#session-desk").get_by_text("Nothing is ticked. Does the answer tell")
    ).to_be_visible()
    expect(answer).to_have_value("With salt, please.")
    check_looks(page)
    salt.check()
    salt.press("Control+Enter")
    expect(page.locator(".talk-line")).to_contain_text(
        ["Make eggs", "How would you like", "With salt, please.", "?"]
    )
    expect(page.get_by_text("1 of 18 told")).to_be_visible()
    expect(salt).not_to_be_checked()
    expect(page.get_by_text("told, turn 1")).to_be_visible()
    page.get_by_role("button", name="I have no preference about that.").click()
    page.get_by_role("button", name=send).click()
    expect(page.get_by_role("heading", name="Why it ended")).to_be_visible()
    check_looks(page)
    expect(page.get_by_text("With salt, please.", exact=True)).to_have_count(1)

    session.refresh_from_db()
    record = session.trajectory.payload
    told = {row["text"]: row["disclosed"] for row in record["preferences"] if row["disclosed"]}
    assert told == {"A sprinkle of salt belongs on eggs.": 1}
    assert session.trajectory.metrics["questions"] == 2

    # What the person played stands beside what a script played, on the same task and settings.
    run = session.trajectory.run
    (scripted,) = start_runs(
        dataset=breakfast, agents=[run.agent], tasks=[EGGS], settings=run.settings, wake=False,
    )  # fmt: skip
    play(scripted)
    make_person("rita", superuser=True)
    sign_in(page, live_server.url, "rita")
    for measure, change in (("satisfaction", "Satisfied %"), ("questions", "Questions")):
        page.goto(
            f"{live_server.url}/analysis/conditions/effects/?dataset={breakfast.pk}&factor=persona"
            f"&measure={measure}"
        )
        sentence = page.locator("p", has_text="to “Person”").first
        expect(sentence).to_contain_text(change)
        expect(sentence).to_contain_text("from “Script or model”")


def test_a_person_makes_cereal_with_menus(
    live_server: Any, quiet: Page, breakfast: Dataset
) -> None:
    page = quiet
    session = begin(page, live_server.url, breakfast, "agent", CEREAL, "person")
    expect(page.get_by_text("furniture not searched yet: 37")).to_be_visible()
    check_phone(page, page.locator("#session-desk form [name=x]").first)
    check_looks(page)

    def act(key: str, tab: str, button: str, **fields: str) -> None:
        page.get_by_role("link", name=tab, exact=False).click()
        form = page.locator(f"form:has(input[name=group][value={key}])")
        for name, value in fields.items():
            form.locator(f"[name={name}]").fill(value)
        form.get_by_role("button", name=button, exact=True).click()

    act("look", "Look around", "Search", x="pantry_shelf_0")
    expect(page.get_by_text("furniture not searched yet: 36")).to_be_visible()
    act("ask", "Ask", "Ask", x="What would you like on your cereal?")
    expect(page.locator(".talk-line").last.locator("strong")).to_have_text("Person")
    expect(page.get_by_text("1 question asked")).to_be_visible()
    # The tab that was used last stays; a key opens another one.
    expect(page.get_by_label("Your question to the person")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("m")
    expect(page.get_by_label("What", exact=True).first).to_be_focused()
    act("move", "Move", "Move", x="corn_flakes_0", z="bowl_0")
    expect(page.locator(".talk-line").last).to_contain_text("You add corn_flakes")
    check_looks(page)
    act("move", "Move", "Move", x="bowl_0", z="kitchen_island_0")
    expect(page.locator(".talk-line").last).to_contain_text("You move bowl_0")
    act("done", "Finish", "Declare the task done")
    expect(page.get_by_role("heading", name="Why it ended")).to_be_visible()
    session.refresh_from_db()
    assert session.trajectory.metrics["completed"] == 1
    assert session.trajectory.metrics["questions"] == 1
