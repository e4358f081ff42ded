"""Tests of a new study in a browser: from one click on a ready design to an open study."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Study
from tests.annotation.planning.test_views import make_demo
from tests.annotation.rows import make_person
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
    expect(page).to_have_url(re.compile(r"/studies/\d+/$"))
    study = Study.objects.get()
    assert (study.status, study.questionnaire) == ("open", "violation_check@2")
    assert set(study.items.values_list("wanted", "given")) == {(2, 2)}
