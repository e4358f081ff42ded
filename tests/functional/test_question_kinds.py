"""Questions under a condition, passages with labels, and two plans side by side, in a browser."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.questionnaires.services import store_questionnaire
from annotation.questionnaires.types import FIRST, TIE
from tests.annotation.desks import first_item, make_kind
from tests.annotation.rows import make_runs, plan_for
from tests.functional.axe import violations
from tests.functional.test_annotation_loop import answered, open_item
from tests.functional.test_desk_kinds import ann, said, slot, tab  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
TEXT = """\
kind: own
system: adaplanbench
title: Where it goes wrong
shows: [plans, feedback]
sections: [{key: s, title: Errors}]
questions:
  - key: solves
    section: s
    title: Does it solve the problem?
    scale: {choice: [{value: 1, label: "Yes", key: y}, {value: 0, label: "No", key: x}]}
  - key: why
    section: s
    title: Why not?
    scale: {choice: [{value: 1, label: Wrong, key: w}, {value: 2, label: Unclear, key: z}]}
    when: {question: solves, answers: [0]}
  - key: errors
    section: s
    title: Mark what is wrong
    scale: {spans: [{key: wrong, name: Wrong, definition: W.}, {key: odd, name: Odd, definition: O.}]}
"""  # noqa: E501
# Selects the first words of the first plan, as a drag with the mouse does.
SELECT = """() => {
  const text = document.querySelector(".turn [data-text=plan] li").firstChild;
  getSelection().setBaseAndExtent(text, 0, text, 4);
}"""


def test_conditions_and_passages_by_keys_alone(
    live_server: Any, tab: Page, ann: User  # noqa: F811
) -> None:  # fmt: skip
    store_questionnaire(name="kinds_in_browser", text=TEXT, by=None)
    study = make_kind("kinds_in_browser@1", ann)
    open_item(tab, live_server.url, study)
    press = tab.keyboard.press
    expect(slot(tab, "why")).to_be_hidden()
    answered(tab, "0 of 2")
    press("x")
    expect(slot(tab, "why")).to_be_visible()
    answered(tab, "1 of 3")
    press("u")
    expect(slot(tab, "why")).to_be_hidden()
    press("y")
    answered(tab, "1 of 2")
    press("2")
    expect(tab.locator(".announcement")).to_contain_text("Select text first")
    tab.evaluate(SELECT)
    press("2")
    expect(slot(tab, "errors").locator("[data-spans]")).to_contain_text("Odd: “Take”")
    press("u")
    answered(tab, "1 of 2")
    tab.evaluate(SELECT)
    press("1")
    answered(tab, "2 of 2")
    assert violations(tab) == []
    press("Enter")
    tab.wait_for_url("**/annotate/2/")
    span = {"turn": 1, "where": "plan", "start": 0, "end": 4, "quote": "Take", "label": "wrong"}
    assert said(first_item(study)) == {"solves.": 1, "errors.": [span]}
    press("y")
    press("0")
    answered(tab, "2 of 2")


def test_two_plans_by_keys_and_on_a_phone(
    live_server: Any, tab: Page, ann: User  # noqa: F811
) -> None:  # fmt: skip
    wishes: dict[str, Any] = {"queries_each": None, "order": "random"}
    plan = plan_for(make_runs(tasks=2), [ann], questionnaire="compare_plans@1", **wishes)
    study = create_planned_study(planned=plan_study(plan))
    open_item(tab, live_server.url, study)
    expect(tab.get_by_role("heading", name="A", exact=True)).to_be_visible()
    expect(tab.get_by_role("heading", name="B", exact=True)).to_be_visible()
    tab.keyboard.press("a")
    tab.keyboard.press("t")
    answered(tab, "2 of 2")
    assert violations(tab) == []
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/annotate/2/")
    # The first annotator sees the item's first trajectory as A.
    assert said(first_item(study)) == {"better.": FIRST, "safer.": TIE}
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.locator("[data-sheet-open]").click()
    slot(tab, "better").get_by_role("radio", name="B", exact=True).click()
    answered(tab, "1 of 2")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
