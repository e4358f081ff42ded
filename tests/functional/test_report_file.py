"""A report in one file, opened from the disk without a network: drawn, readable, nothing asked."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.analysis.rows import flat, make_dataset, make_person, make_run, make_trajectory
from tests.functional.axe import violations
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_run_in_one_file_opens_without_the_server(
    live_server: Any, page: Page, tmp_path: Path
) -> None:
    run = make_run(make_dataset(is_demo=True), "ada")
    for task in (1, 2, 3):
        make_trajectory(run, task, scores=[flat(4), flat(5)], accurate=task % 2)
    make_person("root", superuser=True)
    sign_in(page, live_server.url, "root")
    page.goto(f"{live_server.url}/runs/{run.pk}/")
    with page.expect_download() as download:
        page.get_by_role("link", name="One-file report").click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    assert download.value.suggested_filename.startswith(f"run-{run.pk}-ada-tests")

    page.context.set_offline(True)
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("request", lambda r: None if r.url == path.as_uri() else complaints.append(r.url))
    page.emulate_media(color_scheme="dark")
    page.goto(path.as_uri())
    figures = page.locator("figure")
    assert figures.count() >= 4
    for number in range(figures.count()):
        expect(figures.nth(number)).to_have_attribute("data-drawn", "")
        # Titles of panels and legends lie in a second picture over the first.
        expect(figures.nth(number).locator(".main-svg").nth(1)).to_have_css("position", "absolute")
    expect(page.locator(".banner").first).to_contain_text("Demo data")
    assert violations(page, serious=True) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert complaints == []
