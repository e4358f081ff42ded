"""A person plans for SDA-Planner's robot live, in a real browser; and the pages of episodes."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession
from benchmarks.datasets.services import save_dataset
from benchmarks.models import Agent, Dataset
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from tests.annotation.live_sessions import carry, make_live_study
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play
from tests.functional.axe import check_looks
from tests.functional.live_pages import check_phone, start, stored
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TASK = "fork-in-bowl-on-table"
# The bowl is taken before the fork, as in the paper's figure 2.
PLAN = (
    ("find", "bowl"), ("pick up", "bowl"), ("find", "fork"), ("pick up", "fork"), ("find", "bowl"),
    ("put down", "fork"), ("pick up", "bowl"), ("find", "dining table"), ("put down", "bowl"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs move when a test moves them."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda run_ids: None)


@pytest.fixture
def house(db: None) -> Dataset:
    tasks = sample_tasks()
    ensure_scripted_agents()
    return save_dataset(
        system="sda_planner", name="Small house", version="", source="tests", licence="",
        checksum="house", tasks=[(task, ()) for task in tasks], shared=tasks[0].shared,
    ).dataset  # fmt: skip


def fill(page: Page, *steps: tuple[str, str]) -> None:
    for number, (skill, thing) in enumerate(steps, 1):
        row = page.get_by_label(f"{number}. Skill", exact=True)
        if not row.is_visible():
            page.locator("summary", has_text="More steps").click()
        row.select_option(label=skill)
        page.get_by_label(f"Thing of step {number}", exact=True).select_option(label=thing)


def send(page: Page, session: LiveSession, button: str) -> None:
    with stored(page):
        page.get_by_role("button", name=button).click()
    carry(session)
    page.goto(page.url.partition("#")[0])


def test_a_person_plans_and_repairs_live_to_the_end(
    live_server: Any, quiet: Page, house: Dataset
) -> None:
    pia = make_person("pia")
    session = make_session(
        study=make_live_study(system="sda_planner", mode="agent"),
        agent=Agent.objects.filter(kind=Agent.Kind.HUMAN).order_by("pk")[0],
        task=house.tasks.get(external_id=TASK), level="", settings={}, players=[pia], by=None,
    )  # fmt: skip
    page = quiet
    sign_in(page, live_server.url, "pia")
    page.goto(f"{live_server.url}/sessions/{session.pk}/")
    start(page, session)
    check_phone(page, page.get_by_label("1. Skill", exact=True))

    check_looks(page)
    page.get_by_role("button", name="Send the plan").click()
    expect(page.locator("#room-news")).to_contain_text("Not sent")
    fill(page, *PLAN)
    send(page, session, "Send the plan")
    expect(page.get_by_text("Robot is currently holding bowl").first).to_be_visible()
    expect(page.get_by_text("The hand must be empty. It holds the bowl.")).to_be_visible()
    check_looks(page)
    send(page, session, "Send the steps")
    expect(page.get_by_role("heading", name="Choose how to go on")).to_be_visible()
    check_looks(page)
    page.get_by_label("Plan 1", exact=False).first.check()
    send(page, session, "Send the choice")
    expect(page.get_by_text("Your plan was carried out to its end.").first).to_be_visible()
    # The repaired plan, and what came of it; not the plan that was sent first.
    expect(page.locator("#session-desk")).to_contain_text("Every goal condition is met.")
    final = session.trajectory.turns.get(is_final=True).text
    steps = page.locator(".room-over ol.plan > li")
    expect(steps).to_have_text([line.partition(". ")[2] for line in final.splitlines()])
    expect(steps).not_to_have_text([f"{skill} {thing}" for skill, thing in PLAN])
    session.refresh_from_db()
    assert session.trajectory.metrics["accurate"] == 1
    assert session.trajectory.metrics["corrections"] == 1


def test_the_pages_of_an_episode_show_plan_diagnosis_subtree_and_house(
    live_server: Any, quiet: Page, house: Dataset
) -> None:
    (run,) = start_runs(
        dataset=house, agents=[Agent.objects.get(name="errors-100", system="sda_planner")],
        tasks=[task.external_id for task in house.tasks.all()[:8]], wake=False,
    )  # fmt: skip
    play(run)
    make_person("rita", superuser=True)
    page = quiet
    sign_in(page, live_server.url, "rita")
    trajectory = next(
        one for one in run.trajectories.order_by("pk") if one.payload["repairs"].get("rebuild")
    )
    page.goto(f"{live_server.url}/trajectories/{trajectory.pk}/")
    expect(page.get_by_role("img", name="State-dependency graph").first).to_be_visible()
    expect(page.get_by_role("img", name="Subtree of the repair").first).to_be_attached()
    check_looks(page)
    page.set_viewport_size({"width": 390, "height": 844})
    graph = page.get_by_role("region", name="State-dependency graph").first
    assert graph.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("link", name="From the start").click()
    expect(page.locator("#house + p")).to_contain_text("At the start")
    page.get_by_role("link", name="Step 1 →").click()
    expect(page.locator("#house + p")).to_contain_text("After step 1")
    for address in (f"runs/{run.pk}", f"tasks/{trajectory.task_id}"):
        page.goto(f"{live_server.url}/{address}/")
        check_looks(page)
