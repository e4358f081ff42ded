"""A study made from a list, two participants who join it by a link, and their payment."""

import csv
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotation.models import Recruit, Study
from tests.annotation.rows import make_person, make_runs
from tests.functional.axe import check_looks, violations
from tests.functional.test_annotation_loop import answered, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_from_a_run_to_an_open_study_with_people_from_a_list(live_server: Any, quiet: Page) -> None:
    page, runs = quiet, make_runs(tasks=3)
    for name in ("ann", "bob", "cleo", "dan", "eve", "finn", "gus", "hal"):
        make_person(name)
    make_person("rita", "view_results", "start_runs")
    sign_in(page, live_server.url, "rita")
    page.goto(f"{live_server.url}/runs/{runs[0].pk}/")
    page.get_by_role("link", name="Make a study from these").click()
    expect(page.get_by_label("Source")).to_have_value("selected:adaplanbench")
    check_looks(page)
    page.get_by_label("Name").fill("Mine")
    # The agents follow the source at once, and what was typed stays.
    page.get_by_text("Only some agents or endings").click()
    agents = page.get_by_role("group", name="Only these agents")
    expect(agents.get_by_role("checkbox")).to_have_count(1)
    page.get_by_label("Source").select_option(label="Pair (2 agents, level mid)")
    expect(agents.get_by_role("checkbox")).to_have_count(2)
    page.get_by_label("Source").select_option("selected:adaplanbench")
    expect(page.locator("[name=shown_for]")).to_have_value("selected:adaplanbench")
    expect(page.get_by_label("Name")).to_have_value("Mine")
    for _ in range(2):
        page.get_by_role("button", name="Next", exact=True).click()
    # People are picked from a list, several at once.
    page.get_by_role("searchbox", name="Filter people by name").fill("bo")
    expect(page.get_by_role("checkbox", name="ann")).to_be_hidden()
    page.get_by_role("checkbox", name="bob").check()
    page.get_by_role("searchbox", name="Filter people by name").fill("")
    page.get_by_role("checkbox", name="ann").check()
    expect(page.get_by_text("2 chosen")).to_be_visible()
    check_looks(page)
    page.get_by_label("Annotators for each item").fill("2")
    page.get_by_role("button", name="Skip to the preview").click()
    outlook = page.get_by_role("region", name="What this design can and cannot answer")
    expect(outlook).to_contain_text("2 people judge each item")
    expect(outlook).to_contain_text("the alternative annotator test needs 3 people")
    check_looks(page)
    page.get_by_role("button", name="Create and open: 6 assignments").click()
    expect(page.get_by_role("row", name="1 ann ")).to_contain_text("not started")
    study = Study.objects.get()
    assert set(study.items.values_list("trajectory__run", flat=True)) == {runs[0].pk}


def make_link(page: Page, url: str) -> str:
    """Make a study with a pool on the pages, and a link for two participants."""
    page.goto(f"{url}/studies/new/")
    page.get_by_label("Name").fill("Pooled")
    for _ in range(2):
        page.get_by_role("button", name="Next", exact=True).click()
    page.get_by_label("Pool: whoever is free takes the next item").check()
    page.get_by_label("Annotators for each item").fill("2")
    page.get_by_role("button", name="Before the items").click()
    page.get_by_label("Consent text").fill("I take part of my own free will.")
    page.get_by_role("button", name="Preview", exact=True).last.click()
    page.get_by_role("button", name=re.compile("Create and open")).click()
    page.get_by_role("link", name="Recruiting").click()
    page.get_by_label("Participants").fill("2")
    page.get_by_label("Items for each participant").fill("1")
    page.get_by_label("Completion code").fill("C0DE")
    page.get_by_text("Screening and return address").click()
    page.get_by_label("Screening questions").fill("Do you cook? | *Yes | No")
    check_looks(page)
    page.get_by_role("button", name="Make a link").click()
    return page.locator("#recruiting-link").inner_text()


def take_part(context: BrowserContext, link: str, pid: str) -> Page:
    """Join as somebody from Prolific, judge one item, and get to the end."""
    page = context.new_page()
    page.goto(re.sub(r"\{\{%PROLIFIC_PID%\}\}", pid, link))
    assert page.url.endswith("/recruit/")
    assert violations(page) == []
    page.get_by_label("Yes").check()
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="I have read this").click()
    expect(page.locator(".score.current")).to_be_visible()
    scales = page.locator(".score-scale").all()
    for scale in scales:
        scale.locator("label").nth(3).click()
    answered(page, f"{len(scales)} of {len(scales)}")
    expect(page.locator(".desk-bar .save-state")).to_have_text("saved")
    page.get_by_role("button", name=re.compile("^Submit")).click()
    expect(page.get_by_role("heading", name="You are finished. Thank you")).to_be_visible()
    return page


def test_two_participants_join_finish_and_are_paid(
    live_server: Any, quiet: Page, browser: Browser
) -> None:
    page = quiet
    make_runs(tasks=2)
    make_person("rita", "view_results", "start_runs")
    sign_in(page, live_server.url, "rita")
    link = make_link(page, live_server.url)
    contexts = [browser.new_context() for _ in range(3)]
    for number, context in enumerate(contexts[:2]):
        end = take_part(context, link, f"pid{number}")
        expect(end.locator(".completion-code")).to_have_text("C0DE")
        back = end.get_by_role("link", name="Complete on Prolific")
        expect(back).to_have_attribute(
            "href", "https://app.prolific.com/submissions/complete?cc=C0DE"
        )
        check_looks(end)
    stranger = contexts[2].new_page()
    stranger.goto(link.replace("{{%PROLIFIC_PID%}}", "pid0"))
    expect(stranger.locator("h1")).to_have_text("This ID is in use in another browser")
    stranger.goto(link.replace("{{%PROLIFIC_PID%}}", "pid2"))
    expect(stranger.get_by_text("All places are taken")).to_be_visible()
    assert violations(stranger) == []
    page.get_by_role("link", name="Recruiting", exact=True).click()
    expect(page.get_by_role("row", name="pid0")).to_contain_text("tried in another browser")
    check_looks(page)
    page.get_by_role("link", name="Pay participants").click()
    page.get_by_label("Bonus of pid1").fill("0.50")
    page.get_by_role("button", name="Save bonuses").click()
    expect(page.locator("#bonus-prolific")).to_have_text("pid1,0.50")
    check_looks(page)
    with page.expect_download() as file:
        page.get_by_role("link", name="Download CSV").click()
    with open(file.value.path(), newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["participant_id"], row["stage"], row["bonus"]) for row in rows] == [
        ("pid0", "finished", ""), ("pid1", "finished", "0.50"),
    ]  # fmt: skip
    assert Recruit.objects.filter(finished_at__isnull=False).count() == 2
    for context in contexts:
        context.close()
