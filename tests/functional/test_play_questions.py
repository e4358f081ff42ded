"""A person answers questions of ACPBench Hard live, in a real browser, and stands beside agents."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession, Study
from benchmarks.datasets.files import save_task_file
from benchmarks.models import Agent, Dataset
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.systems.acpbench_hard.samples import sample_file
from tests.annotation.live_sessions import carry, make_live_study
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play
from tests.functional.axe import check_looks
from tests.functional.live_pages import start, stored
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs move when a test moves them."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda run_ids: None)


@pytest.fixture
def questions(db: None) -> Dataset:
    ensure_scripted_agents()
    return save_task_file(system="acpbench_hard", file=sample_file(), name="Questions").dataset


def ask(page: Page, address: str, study: Study, dataset: Dataset, kind: str) -> LiveSession:
    """Open a session of pia's about the first question of a kind."""
    task = dataset.tasks.filter(external_id__startswith=f"{kind}:").order_by("pk").first()
    session = make_session(
        study=study, agent=Agent.objects.get(name="person"), task=task,
        players=[User.objects.get(username="pia")], by=None,
    )  # fmt: skip
    page.goto(f"{address}/sessions/{session.pk}/")
    start(page, session)
    return session


def pick(page: Page, name: str, *objects: str) -> None:
    """Choose a name and its objects; as many places show as the name takes."""
    page.get_by_label("Name", exact=True).select_option(name)
    for number, one in enumerate(objects, 1):
        page.get_by_label(f"Object {number}", exact=True).select_option(one)
    expect(page.locator("[data-term-place]:visible")).to_have_count(len(objects))


def answer(page: Page, session: LiveSession) -> None:
    with stored(page):
        page.get_by_role("button", name="Send the answer").click()
    expect(page.get_by_role("button", name="Send the answer")).to_have_count(0)
    carry(session)


def test_the_form_helps_with_syntax_and_people_stand_beside_agents(
    live_server: Any, quiet: Page, questions: Dataset
) -> None:
    make_person("pia")
    study = make_live_study(system="acpbench_hard", mode="agent", settings={"hints": True})
    page = quiet
    sign_in(page, live_server.url, "pia")

    # All applicable actions, picked one by one; what is typed beside them is read at once.
    session = ask(page, live_server.url, study, questions, "app")
    right = list(session.trajectory.task.payload["answer"])
    for action in right:
        name, *objects = action.strip("()").split()
        pick(page, name, *objects)
        page.get_by_role("button", name="Add to the list").click()
    field = page.get_by_label("Your list")
    expect(field).to_have_value("\n".join(right))
    read = page.locator(".terms-read")
    expect(read.get_by_role("listitem")).to_have_count(len(right))
    # The list is read out when it changes, and not at every letter.
    page.evaluate(
        """() => {
          window.written = 0;
          const list = document.querySelector(".terms-read [aria-live]");
          new MutationObserver(() => { written += 1; }).observe(list, { childList: true });
        }"""
    )
    field.press_sequentially("\n(fly nowhere)")
    expect(read).to_contain_text("“fly” is not a name of this question")
    assert page.evaluate("written") == 1
    check_looks(page)
    page.get_by_role("button", name="Send the answer").click()
    expect(page.locator("#room-news")).to_contain_text("“fly” is no action of this question")
    field.fill("\n".join(right))
    answer(page, session)
    assert session.trajectory.metrics["app"] == 1
    page.reload()
    expect(page.get_by_text("Your answer is stored").first).to_be_visible()
    expect(page.get_by_text("All applicable actions")).to_have_count(0)

    # A plan to shorten is copied into the list; an unchanged one is no right answer.
    session = ask(page, live_server.url, study, questions, "just")
    page.get_by_role("button", name="Copy the plan of the question").click()
    assert page.get_by_label("Your list").input_value().count("(") > 2
    answer(page, session)
    assert session.trajectory.metrics["just"] == 0

    # One proposition or None: a second one is named as too many, and None takes its place.
    session = ask(page, live_server.url, study, questions, "land")
    field = page.get_by_label("Your answer")
    field.fill("(a) (b)")
    expect(page.locator(".terms-read")).to_contain_text("Only one is wanted.")
    page.get_by_role("button", name="None", exact=True).click()
    expect(field).to_have_value("None")
    answer(page, session)

    # Two lists of propositions; an index has no pickers.
    session = ask(page, live_server.url, study, questions, "prog")
    stored = session.trajectory.task.payload["answer"]
    page.get_by_label("What becomes true").fill("\n".join(stored["pos"]))
    page.get_by_label("What becomes false").fill("\n".join(stored["neg"]))
    answer(page, session)
    assert session.trajectory.metrics["prog"] == 1
    session = ask(page, live_server.url, study, questions, "val")
    expect(page.get_by_text("Pick a")).to_have_count(0)
    page.get_by_label("Index").fill("-1")
    page.get_by_role("button", name="Send the answer").click()
    expect(page.locator(".errorlist", has_text="Write a whole number, 0")).to_be_visible()
    check_looks(page)
    page.get_by_label("Index").fill(str(session.trajectory.task.payload["answer"]))
    answer(page, session)
    assert session.trajectory.metrics["val"] == 1

    # The study leads to people beside agents on the same questions.
    (run,) = start_runs(
        dataset=questions, agents=[Agent.objects.get(name="acp-perfect")], wake=False
    )
    play(run)
    make_person("rita", superuser=True)
    page.context.clear_cookies()
    sign_in(page, live_server.url, "rita")
    page.goto(f"{live_server.url}/studies/{study.pk}/sessions/")
    page.get_by_role("link", name="Compare with models").click()
    expect(page.get_by_text("On the 5 tasks that people did, too")).to_be_visible()
    page.goto(f"{live_server.url}/trajectories/{session.trajectory_id}/")
    check_looks(page)
