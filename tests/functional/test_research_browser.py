"""A researcher at work in a real browser: start a run, watch it, find out where it failed."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from benchmarks.models import Dataset, Run, Trajectory
from benchmarks.runs.worker import carry_trajectory, claim_trajectory, settle_run
from tests.factories.benchmarks import (
    PERMISSIONS,
    make_user,
    play,
    save_sample_dataset,
    start_sample_runs,
)
from tests.functional.axe import looks, violations
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs move when a test moves them."""
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda run_ids: None)


@pytest.fixture
def dataset(db: None) -> Dataset:
    return save_sample_dataset()


@pytest.fixture
def desk(live_server: Any, dataset: Dataset, page: Page) -> Iterator[Page]:
    """A researcher, signed in; scripts must not complain."""
    make_user("ruth", PERMISSIONS)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda m: complaints.append(m.text) if "Security Policy" in m.text else None,
    )
    sign_in(page, live_server.url, "ruth")
    yield page
    assert complaints == []


def move_on(run: Run, trajectories: int) -> None:
    """Do what a worker does, for a few trajectories."""
    Run.objects.filter(pk=run.pk, status="queued").update(status="running")
    for _ in range(trajectories):
        pk = claim_trajectory(run_id=run.pk, owner="test")
        assert pk is not None
        carry_trajectory(pk=pk, owner="test")
    settle_run(run_id=run.pk)


def test_a_run_is_started_watched_paused_and_ends(live_server: Any, desk: Page) -> None:
    desk.goto(f"{live_server.url}/runs/new/")
    size = desk.locator("#run-size")
    expect(size).to_contain_text("Choose agents")
    desk.get_by_label("Forgetful").check()
    expect(size).to_have_text(re.compile("1 run with 3 trajectories"))
    desk.get_by_label("mid").check()
    expect(size).to_have_text(re.compile("2 runs with 6 trajectories"))
    desk.get_by_label("low").uncheck()
    expect(size).to_have_text(re.compile("1 run with 3 trajectories"))
    desk.get_by_role("button", name="Start", exact=True).click()
    desk.wait_for_url(re.compile(r"/runs/\d+/$"))
    run = Run.objects.get()
    assert desk.url.endswith(f"/runs/{run.pk}/")

    bar = desk.locator(".run-bar")
    expect(bar).to_contain_text("0 of 3 done")
    expect(bar).to_contain_text("Waiting for a worker")
    desk.get_by_text("Cancel…").click()
    pause = desk.get_by_role("button", name="Pause")
    pause.focus()
    move_on(run, 1)
    expect(bar).to_contain_text("1 of 3 done")
    expect(pause).to_be_focused()
    expect(desk.get_by_role("button", name="Cancel the run")).to_be_visible()  # not closed by it
    desk.keyboard.press("Escape")
    desk.get_by_role("button", name="Pause").click()
    expect(desk.locator("h1")).to_contain_text("Paused")
    desk.get_by_role("button", name="Resume").click()
    expect(desk.locator("h1")).to_contain_text("Queued")
    desk.evaluate("window.sameDocument = true")
    move_on(run, 2)
    expect(desk.locator("h1")).to_contain_text("Done")
    expect(desk.locator("#run-report .tile").first).to_contain_text("n = 3")
    assert desk.evaluate("window.sameDocument") is True  # the results came in without a reload
    expect(desk.locator("#run-report tbody tr")).to_have_count(3)


def test_a_second_click_while_a_form_is_sent_starts_nothing(live_server: Any, desk: Page) -> None:
    desk.goto(f"{live_server.url}/runs/new/")
    desk.get_by_label("Forgetful").check()
    start, held = desk.get_by_role("button", name="Start", exact=True), list[Route]()

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            held.append(route)
        else:
            route.continue_()

    desk.route("**/runs/new/", hold)
    again = "setTimeout(() => { button.click(); console.log('again'); }, 200)"
    with desk.expect_console_message(lambda message: message.text == "again"):
        start.evaluate(f"button => {{ button.click(); {again}; }}")
    held[0].continue_()
    desk.wait_for_url(re.compile(r"/runs/\d+/$"))
    assert len(held) == Run.objects.count() == 1


def press(page: Page, key: str) -> None:
    """Press a key once the page's scripts are there to hear it."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def test_keys_lead_through_a_narrowed_list(live_server: Any, desk: Page, dataset: Dataset) -> None:
    runs = start_sample_runs("explorer", "coin-flipper", dataset=dataset, level="high")
    play(*runs)
    wanted = next(run for run in runs if run.agent.name == "coin-flipper")
    ids = list(wanted.trajectories.order_by("-pk").values_list("pk", flat=True))

    desk.goto(f"{live_server.url}/trajectories/")
    expect(desk.locator(".table-scroll tbody tr")).to_have_count(6)
    desk.locator(".rail").get_by_role("checkbox", name="Coin flipper").check()
    expect(desk.locator(".table-scroll tbody tr")).to_have_count(3)
    query = f"agent={wanted.agent_id}"
    expect(desk).to_have_url(f"{live_server.url}/trajectories/?{query}")
    desk.locator(".table-scroll tbody th a").first.click()
    expect(desk).to_have_url(f"{live_server.url}/trajectories/{ids[0]}/?{query}")
    for key, pk in (("n", ids[1]), ("n", ids[2]), ("n", ids[2]), ("p", ids[1])):
        press(desk, key)
        expect(desk).to_have_url(f"{live_server.url}/trajectories/{pk}/?{query}")

    press(desk, "d")
    expect(desk.locator("[data-turns]")).to_have_class(re.compile("diff-off"))
    press(desk, "p")
    expect(desk).to_have_url(re.compile(f"/trajectories/{ids[0]}/"))
    expect(desk.locator("[data-turns]")).to_have_class(re.compile("diff-off"))  # it is remembered
    press(desk, "d")
    expect(desk.locator("[data-turns]")).not_to_have_class(re.compile("diff-off"))

    press(desk, "c")
    expect(desk.locator("[data-tray]")).to_contain_text("Kept for comparison: Coin flipper")
    press(desk, "n")
    expect(desk).to_have_url(re.compile(f"/trajectories/{ids[1]}/"))
    press(desk, "c")
    desk.locator("[data-tray]").get_by_role("link", name="Compare").click()
    expect(desk).to_have_url(f"{live_server.url}/compare/?t={ids[0]}&t={ids[1]}")
    expect(desk.locator("[data-compare-item]")).to_have_count(2)
    desk.get_by_role("button", name="Empty the comparison").click()
    expect(desk.get_by_text("Nothing to compare yet")).to_be_visible()


def test_words_stay_when_an_earlier_choice_brings_new_filters(
    live_server: Any, desk: Page, dataset: Dataset
) -> None:
    play(*start_sample_runs("explorer", "coin-flipper", dataset=dataset, level="high"))
    desk.goto(f"{live_server.url}/trajectories/")
    held, chosen = list[Route](), re.compile("agent=")
    desk.route(chosen, lambda route: held.append(route), times=1)
    with desk.expect_request(chosen):
        desk.locator(".rail").get_by_role("checkbox", name="Coin flipper").check()
    words = desk.get_by_label("Words and operators", exact=True)
    words.press_sequentially("glee")
    desk.keyboard.press("ArrowLeft")
    held[0].continue_()
    expect(desk.locator(".table-scroll tbody tr")).to_have_count(3)
    desk.keyboard.press("Backspace")
    desk.keyboard.type("u")
    expect(words).to_have_value("glue")
    desk.keyboard.press("Enter")
    expect(desk).to_have_url(re.compile("q=glue"))
    expect(words).to_have_value("glue")


def test_keys_are_left_alone_while_somebody_types(live_server: Any, desk: Page) -> None:
    (run,) = start_sample_runs(dataset=Dataset.objects.get())
    play(run)
    row = run.trajectories.order_by("-pk")[0]
    url = f"{live_server.url}/trajectories/{row.pk}/"
    desk.goto(url)
    search = desk.get_by_role("combobox", name="Search trajectories")
    search.fill("n")
    search.press("n")
    expect(desk).to_have_url(url)


def test_a_turn_is_linked_and_its_log_opens_in_place(
    live_server: Any, desk: Page, dataset: Dataset
) -> None:
    (run,) = start_sample_runs("coin-flipper", dataset=dataset, level="high")
    play(run)
    row = run.trajectories.order_by("-turn_count")[0]
    last = row.turn_count
    desk.goto(f"{live_server.url}/trajectories/{row.pk}/#turn-{last}")
    expect(desk.locator(f"#turn-{last}")).to_be_in_viewport()
    turn = desk.locator("#turn-1")
    turn.locator("summary").first.click()
    expect(turn.locator(".plan").first).to_be_hidden()
    desk.locator(".turn-line a").first.click()
    expect(turn.locator(".plan").first).to_be_visible()  # a link opens what was folded
    turn.get_by_role("link", name="What was asked and answered").click()
    expect(turn.locator(".exchange")).to_have_count(len(steps_of_first_turn(row)))


def steps_of_first_turn(row: Trajectory) -> list[int]:
    asked = list(row.exchanges.order_by("step", "slot").values_list("pk", "role"))
    second = next(place for place, (_, role) in enumerate(asked) if place and role == "agent")
    return [pk for pk, _ in asked[:second]]


def test_nothing_serious_stands_in_anybodys_way(
    live_server: Any, desk: Page, dataset: Dataset
) -> None:
    runs = start_sample_runs("explorer", "coin-flipper", dataset=dataset, level="high")
    play(*runs)
    rows = [run.trajectories.order_by("-turn_count")[0].pk for run in runs]
    Trajectory.objects.filter(pk=rows[0]).update(status="failed", problem="the endpoint was gone")
    Run.objects.filter(pk=runs[0].pk).update(status="attention")
    task = dataset.tasks.all()[0]
    found = {}
    for path in (
        "/datasets/", f"/datasets/{dataset.pk}/", f"/tasks/{task.pk}/", "/agents/", "/runs/",
        "/runs/new/", f"/runs/{runs[0].pk}/", "/trajectories/", f"/trajectories/{rows[0]}/",
        f"/trajectories/{rows[1]}/", f"/trajectories/{rows[1]}/exchanges/",
        f"/compare/?t={rows[0]}&t={rows[1]}", "/compare/",
    ):  # fmt: skip
        desk.goto(live_server.url + path)
        for fold in desk.locator("main details:not(.rail):not(.menu)").all():
            fold.evaluate("element => { element.open = true; }")
        for where in looks(desk):
            if broken := violations(desk, serious=True):
                found[path, where] = broken
    assert found == {}
