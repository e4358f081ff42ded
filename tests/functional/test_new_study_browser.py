"""Tests of a new study in a browser: from one click on a ready design to an open study."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Study
from benchmarks.models import Agent, Profile, Run
from tests.annotation.planning.test_views import make_demo
from tests.annotation.rows import make_person, make_runs, make_trajectory
from tests.functional.axe import check_looks
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_ready_design_becomes_an_open_study(live_server: Any, page: Page) -> None:
    make_demo()
    make_person("rita", "view_results", "start_runs")
    sign_in(page, live_server.url, "rita")
    page.goto(f"{live_server.url}/studies/new/")
    page.get_by_role("button", name="Use this design: Violation check").click()
    expect(page.get_by_role("heading", name="Balance")).to_be_visible()
    # What was filled in can be changed step by step, and is kept.
    page.get_by_role("button", name="Annotators").click()
    page.get_by_label("Annotators for each item").fill("2")
    page.get_by_role("button", name="Skip to the preview").click()
    page.get_by_role("button", name="Create and open: 12 assignments").click()
    expect(page).to_have_url(re.compile(r"/studies/\d+/people/$"))
    study = Study.objects.get()
    assert (study.status, study.questionnaire) == ("open", "violation_check@3")
    assert set(study.items.values_list("wanted", "given")) == {(2, 0)}


class Clicks:
    """A page whose clicks are counted."""

    def __init__(self, page: Page) -> None:
        self.page, self.count = page, 0

    def press(self, name: str | re.Pattern[str], *, exact: bool = True) -> None:
        self.page.get_by_role("button", name=name, exact=exact).first.click()
        self.count += 1


def make_papers_runs() -> None:
    """Ten agents on 32 queries, as in the demo of the paper."""
    first, _ = make_runs(tasks=32)
    for number in range(8):
        agent = Agent.objects.create(name=f"agent-{number}", title=f"Agent {number}")
        run = Run.objects.create(
            dataset=first.dataset, agent=agent, level="mid", experiment=first.experiment,
            status=Run.Status.DONE,
        )  # fmt: skip
        for profile in Profile.objects.filter(task__dataset=first.dataset):
            make_trajectory(run=run, profile=profile, violated=False)


def test_the_papers_study_takes_at_most_eight_clicks(live_server: Any, quiet: Page) -> None:
    """From the source to eight links to lists of thirty items, without an account."""
    page = quiet
    make_papers_runs()
    make_person("rita", "view_results", "start_runs")
    sign_in(page, live_server.url, "rita")
    page.goto(f"{live_server.url}/studies/new/")
    mouse = Clicks(page)
    expect(page.get_by_label("Source")).to_contain_text("Pair (10 agents, level mid)")
    page.get_by_label("Name").fill("Ten questions")
    mouse.press("Next")
    mouse.press("Next")
    page.get_by_label("Number of annotators").fill("8")
    check_looks(page)
    mouse.press("Next")
    page.get_by_label("As in the AdaPlanBench paper").check()
    mouse.count += 1
    page.get_by_role("spinbutton", name="Queries for each annotator").fill("3")
    check_looks(page)
    mouse.press("Skip to the preview")
    outlook = page.get_by_role("region", name="What this design can and cannot answer")
    expect(outlook).to_contain_text(
        "Within about ±0.57 points, paired within rater and query (24 pairs), if such scores "
        "spread by 1 point."
    )
    expect(outlook).to_contain_text(
        "Differences between raters are confounded with those between queries."
    )
    expect(page.get_by_role("row", name="Annotator 8 30 free")).to_be_visible()
    check_looks(page)
    mouse.press(re.compile("Create and open: 240 assignments"), exact=False)
    check_looks(page)
    mouse.press("Make 8 links")
    links = page.locator("#invite-links").inner_text().splitlines()
    assert [line.partition("\t")[0] for line in links] == [f"Annotator {n}" for n in range(1, 9)]
    check_looks(page)
    assert mouse.count <= 8
    study = Study.objects.get()
    assert [len(place.ranks) for place in study.places.all()] == [30] * 8
    assert not study.participants.exists()
