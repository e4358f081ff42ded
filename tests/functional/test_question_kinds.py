"""Questions under a condition, passages with labels, and two plans side by side, in a browser."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotation.models import Study
from annotation.planning.planned_study import plan_study
from annotation.planning.services import create_planned_study
from annotation.questionnaires.services import store_questionnaire
from annotation.questionnaires.types import FIRST, TIE
from annotation.ratings.spans import passage_texts
from annotation.studies.setup import NewItem, store_study
from tests.annotation.desks import first_item, make_kind
from tests.annotation.rows import make_runs, plan_for
from tests.annotation.talks import SECOND as SECOND_TURN
from tests.annotation.talks import make_talk, make_talk_runs
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
    study = make_kind("kinds_in_browser@1", ann, settings={"labels": {"agents": ["scripted"]}})
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
    # Found by "/", a passage needs no mouse; the banner above the trajectory is not searched.
    expect(tab.locator(".desk-read .banner")).to_contain_text("scripts")
    press("/")
    tab.keyboard.type("scripts")
    expect(tab.locator("[data-found]")).to_have_text("not found")
    press("Escape")
    press("Escape")
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
    left, right = (tab.get_by_role("log", name=name, exact=True).bounding_box() for name in "AB")
    assert left and right
    assert left["y"] == right["y"] and left["x"] + left["width"] < right["x"]
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


TALK_TEXT = """\
kind: own
system: external
title: Passages of a dialogue
sections: [{key: s, title: Errors}]
questions:
  - key: errors
    section: s
    title: Mark what is wrong
    scale: {spans: [{key: wrong, name: Wrong, definition: W.}, {key: odd, name: Odd, definition: O.}]}
"""  # noqa: E501
# Line ends of Windows, characters of two units, escape sequences of a terminal, JSON in one line.
ODD_TURN = [
    {"speaker": "assistant", "text": "One\r\ntwo 🙂\rthree", "reasoning": "Say <b>it</b>."},
    {"speaker": "tool", "name": "find", "text": "\x1b[31mred\x1b[0m 🙂 end"},
    {"speaker": "user", "text": "Hidden words.", "hidden": True},
    {"speaker": "tool", "name": "find", "text": '{"a": [1, {"b": "' + "ü" * 1700 + '"}]}'},
    {"speaker": "assistant", "text": "", "calls": [{"name": "end", "arguments": {}}]},
]  # fmt: skip
# Selects the whole of the n-th text of the dialogue, folds around it opened.
SELECT_SPEECH = """(n) => {
  const speech = document.querySelectorAll(".utterance .speech")[n];
  for (let fold = speech.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  const rest = speech.querySelector("details");
  if (rest) rest.open = true;
  getSelection().selectAllChildren(speech);
}"""  # noqa: E501


@pytest.mark.parametrize("shows_hidden", [True, False])
def test_every_text_of_a_dialogue_can_be_marked_whole(
    live_server: Any, tab: Page, ann: User, shows_hidden: bool  # noqa: F811
) -> None:  # fmt: skip
    store_questionnaire(name="talk_in_browser", text=TALK_TEXT, by=None)
    run = make_talk_runs(tasks=1)[0]
    task = run.dataset.tasks.get()
    opening = [{"speaker": "user", "text": "Can I keep it?"}]
    talk = make_talk(run, task, [ODD_TURN, SECOND_TURN], opening=opening, attempt=2)
    study = Study(
        name="Talk", questionnaire="talk_in_browser@1", status=Study.Status.OPEN,
        shows_hidden=shows_hidden,
    )  # fmt: skip
    store_study(study=study, items=[NewItem(trajectory=talk.pk)], people=[ann], lists=[range(1)])
    open_item(tab, live_server.url, study)
    texts = {
        at: text for at, text in passage_texts(first_item(study).item).items() if at[1] != "query"
    }
    assert tab.locator(".utterance .speech").count() == len(texts)
    for number in range(len(texts)):
        tab.evaluate(SELECT_SPEECH, number)
        tab.keyboard.press("1")
        expect(slot(tab, "errors").locator("[data-spans] li")).to_have_count(number + 1)
    answered(tab, "1 of 1")
    tab.keyboard.press("Enter")
    tab.wait_for_url(lambda url: "/annotate/1/" not in url)
    marked = {(s["turn"], s["where"]): s for s in said(first_item(study))["errors."]}
    assert {at: span["quote"] for at, span in marked.items()} == {
        at: text.strip() for at, text in texts.items()
    }
