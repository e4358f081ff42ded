"""Trajectories are kept in the list and compared, with the keyboard alone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.models import Dataset
from tests.analysis.rows import flat, make_dataset, make_run, make_trajectory
from tests.factories.benchmarks import PERMISSIONS, make_user
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLANS = {
    "ada": "1. Fetch the ladder from the shed.\n2. Mend the gutter.",
    "bob": "1. Fetch the ladder from the cellar.\n2. Mend the gutter.\n3. Sweep the yard.",
    "eve": "1. Call a neighbour who owns a crane.",
}


@pytest.fixture
def dataset(db: None) -> Dataset:
    dataset = make_dataset(tasks=1)
    for name, plan in PLANS.items():
        make_trajectory(make_run(dataset, name), 1, texts=[plan], scores=[flat(4)])
    return dataset


def test_two_from_the_list_by_keyboard(live_server: Any, dataset: Dataset, page: Page) -> None:
    make_user("ruth", PERMISSIONS)
    sign_in(page, live_server.url, "ruth")
    ids = {
        row.run.agent.name: row.pk for run in dataset.runs.all() for row in run.trajectories.all()
    }
    # The first two that are kept, in this order.
    page.goto(f"{live_server.url}/trajectories/")
    for name in ("ada", "bob"):
        page.locator(f'[data-compare="{ids[name]}"]').focus()
        page.keyboard.press("Enter")
    tray = page.locator("[data-tray]")
    expect(tray).to_contain_text("2 kept for comparison")
    tray.get_by_role("link", name="Compare").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/compare/?t={ids['ada']}&t={ids['bob']}")

    second = page.locator('.compare-cell[data-col="2"]').last
    expect(second).to_contain_text("1 step kept, 1 reworded, 1 new against Ada")
    expect(second.locator("del")).to_have_text("shed")
    page.wait_for_load_state()
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile(f"base={ids['bob']}$"))
    first = page.locator('.compare-cell[data-col="1"]').last
    expect(first).to_contain_text("1 step kept, 1 reworded, 1 gone against Bob")
    page.keyboard.press("b")
    expect(page).not_to_have_url(re.compile("base="))
    # A key that follows a swap at once asks by the swapped links, and does not leave the page.
    page.evaluate(
        """() => {
          window.stayed = true;
          const press = () => {
            for (const key of ["d", "d"]) {
              document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            }
          };
          document.addEventListener("htmx:afterSwap", () => setTimeout(press, 0), { once: true });
        }"""
    )
    page.keyboard.press("b")
    expect(page).to_have_url(re.compile(f"base={ids['bob']}&diff=off$"))
    page.wait_for_load_state("networkidle")
    expect(page).to_have_url(re.compile(f"base={ids['bob']}&diff=off$"))
    assert page.evaluate("window.stayed")
    page.keyboard.press("d")
    expect(page).not_to_have_url(re.compile("diff="))
    # Twice at once: the second counts from the first, whose answer is still under way.
    page.keyboard.press("d")
    page.keyboard.press("d")
    expect(page).to_have_url(re.compile("diff=off"))
    expect(page.locator(".diff")).to_have_count(0)

    page.get_by_role("link", name="Add Eve").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[data-compare-item]")).to_have_count(3)
    expect(page).to_have_url(re.compile(f"t={ids['eve']}&base={ids['bob']}"))
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator('.compare-cell[data-col="1"]').last).to_be_visible()
    expect(page.locator('.compare-cell[data-col="3"]').last).to_be_hidden()
    page.locator('[data-pick="3"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator('.compare-cell[data-col="3"]').last).to_be_visible()
    expect(page).to_have_url(re.compile("col=3"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
