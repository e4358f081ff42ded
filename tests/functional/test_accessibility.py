"""Pages of annotators and players by WCAG 2.2 AA: axe, fingers, keys, 200 % zoom, the tree that
assistive technology reads."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect

from annotation.consent.services import note_information_read
from annotation.models import (
    Assignment,
    Item,
    LiveSession,
    Participant,
    Rating,
    Recruit,
    Study,
)
from annotation.people.invitations import make_invite
from annotation.recruiting.screening import read_screening
from annotation.recruiting.services import make_recruiting_link
from annotation.studies.setup import NewItem, store_study
from benchmarks.models import Candidate
from tests.annotation.desks import make_kind
from tests.annotation.entered import agree, answer, make_full_study, train
from tests.annotation.live_sessions import begin, make_live_session, make_live_study, say
from tests.annotation.rows import make_person, make_study
from tests.functional.axe import violations
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# What is pressed and smaller than a finger wants. Links within sentences are as high as their
# line; what only shows a tip is not pressed; a box is pressed by its label.
SMALL = """() => {
const hidden = one => one !== null
  && (getComputedStyle(one).clipPath !== 'none' || hidden(one.parentElement));
return Array.from(document.querySelectorAll(
  'a[href], button, summary, select, textarea, input:not([type=hidden])'
)).filter(one => one.checkVisibility({visibilityProperty: true})
  && !one.closest('.skip-link') && !hidden(one)
).filter(one => {
  const label = one.matches('[type=radio], [type=checkbox]') && one.closest('label');
  const box = (label || one).getBoundingClientRect();
  const words = one.parentElement.textContent.trim().length > one.textContent.trim().length + 1;
  const inline = one.matches('a') && getComputedStyle(one).display === 'inline' && words;
  return !inline && (box.width < 43.5 || box.height < 43.5);
}).map(one => one.outerHTML.slice(0, 120));
}"""
# Texts that are cut where a reader sets letters, words and lines wider.
SPACED = """() => {
const sheet = new CSSStyleSheet();
sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important;
  word-spacing: 0.16em !important } p { margin-bottom: 2em !important }`);
const isCut = one => !['visible', 'auto', 'scroll'].includes(getComputedStyle(one).overflowX)
  && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
const whole = Array.from(document.querySelectorAll('button, label, legend, summary, p, li, h2, a'))
  .filter(one => one.checkVisibility() && one.clientWidth > 1 && !isCut(one));
document.adoptedStyleSheets.push(sheet);
const texts = whole.filter(isCut).map(one => one.outerHTML.slice(0, 120));
document.adoptedStyleSheets.pop();
return texts;
}"""
# What is pressed with a mouse and smaller than 24 px (2.5.8), at the top of the desk.
TINY = """() => Array.from(document.querySelectorAll('.desk-bar :is(a, button)'))
  .filter(one => one.checkVisibility()).map(one => [one, one.getBoundingClientRect()])
  .filter(([, box]) => box.width < 24 || box.height < 24).map(([one]) => one.outerHTML)"""
MOVING = """() => document.getAnimations().filter(one => {
  const time = one.effect.getComputedTiming();
  return time.activeDuration > 1;
}).length"""
# Where the focus is: visible, marked, and not under something that sticks.
FOCUS = """() => {
  const one = document.activeElement, box = one.getBoundingClientRect();
  const style = getComputedStyle(one);
  const target = one.matches('[type=radio], [type=checkbox]') && one.closest('label') || one;
  const at = target.getBoundingClientRect();
  const middle = [at.left + at.width / 2, at.top + Math.min(at.height / 2, 10)];
  const top = document.elementFromPoint(...middle);
  return {
    html: one.outerHTML.slice(0, 120),
    body: one === document.body,
    marked: style.outlineStyle !== 'none' || style.boxShadow !== 'none'
      || getComputedStyle(target).outlineStyle !== 'none'
      || getComputedStyle(target).boxShadow !== 'none',
    free: !top || target.contains(top) || top.contains(target),
  };
}"""


@pytest.fixture
def ann(db: None) -> User:
    """Return Ann, who annotates and plays."""
    return make_person("ann")


@pytest.fixture
def desktop(browser: Browser) -> Iterator[BrowserContext]:
    """A window of 1280 px, for somebody who wants no motion."""
    with browser.new_context(
        viewport={"width": 1280, "height": 900}, reduced_motion="reduce"
    ) as context:
        yield context


@pytest.fixture
def phone(browser: Browser) -> Iterator[BrowserContext]:
    """A phone in the dark."""
    with browser.new_context(
        viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True, is_mobile=True
    ) as context:
        yield context


def work_without_break(study: Study, user: User, minutes: int) -> None:
    """Have somebody submit their first item after so many minutes, which is when a break is due."""
    now = timezone.now()
    Study.objects.filter(pk=study.pk).update(break_minutes=minutes)
    Participant.objects.filter(study=study, user=user).update(active_ms=minutes * 60_000)
    Assignment.objects.filter(study=study, annotator=user, position=1).update(
        state=Assignment.State.SUBMITTED, opened_at=now - timedelta(minutes=minutes),
        submitted_at=now, active_ms=minutes * 60_000,
    )  # fmt: skip


class Walk:
    """Opens pages on both screens and keeps what is wrong with them."""

    def __init__(self, url: str, desktop: BrowserContext, phone: BrowserContext) -> None:
        self.url, self.wide, self.small = url, desktop.new_page(), phone.new_page()
        self.found: list[tuple[str, object]] = []

    def sign_in(self, name: str) -> None:
        sign_in(self.wide, self.url, name)
        sign_in(self.small, self.url, name)

    def look(self, path: str, *, end: str = "") -> None:
        """Check a page; ``end`` is how its address ends, where one is sent on to it."""
        for page in (self.wide, self.small):
            page.goto(self.url + path)
            assert page.url.endswith(end or path), (path, page.url)
        self.look_here()

    def look_here(self) -> None:
        """Check the page that both show, and on the phone the questions under the sheet."""
        path = self.small.url.removeprefix(self.url)
        sheet = self.small.locator("[data-sheet-open]")
        faults = violations(self.small)
        if sheet.is_visible():  # what its edge cuts in two is whole after a scroll
            faults = [fault for fault in faults if not fault.startswith("target-size")]
        self._note(path, faults)
        self._note(path, violations(self.wide))
        self._note(path, self.wide.evaluate(MOVING) or [])
        self._note(path, self.wide.evaluate(TINY))
        # Of 1280 px.
        for percent in (200, 400):
            self.wide.set_viewport_size({"width": 128_000 // percent, "height": 90_000 // percent})
            over = self.wide.evaluate("document.documentElement.scrollWidth - innerWidth")
            self._note(path, f"{over} px too wide at {percent} %" if over > 0 else [])
        # Letters, words and lines set wider by the reader (1.4.12).
        spaced = self.wide.evaluate(SPACED)
        self._note(path, [f"cut when spaced wider: {text}" for text in spaced])
        self.wide.set_viewport_size({"width": 1280, "height": 900})
        self._note(path, self.small.evaluate(SMALL))
        if sheet.is_visible():
            sheet.tap()
            self._note(path, violations(self.small))
            self._note(path, self.small.evaluate(SMALL))

    def _note(self, path: str, what: Any) -> None:
        if what:
            self.found.append((path, what))


def test_pages_on_the_way_to_an_item(
    live_server: Any, desktop: BrowserContext, phone: BrowserContext, ann: User
) -> None:
    study = make_full_study([ann], make_person("mia"))
    walk = Walk(live_server.url, desktop, phone)
    walk.look("/accounts/login/")
    walk.sign_in("ann")
    here = f"/studies/{study.pk}/"
    for path in ("/", "/studies/", here, f"{here}information/", f"{here}withdraw/"):
        walk.look(path)
    for path in ("/accounts/password/change/", "/accounts/2fa/", "/accounts/logout/", "/nowhere/"):
        walk.look(path)
    note_information_read(study=study, user=ann, version=1)
    walk.look(f"{here}consent/")
    agree(study, ann)
    walk.look(f"{here}annotate/", end=f"{here}background/1/")
    answer(study, ann, "background", 1, degree=2, language=3, experience=1)
    walk.look(f"{here}guidelines/")
    walk.look(f"{here}training/")
    walk.look(f"{here}training/1/")
    train(study, ann, 2)
    walk.look(f"{here}training/1/feedback/")
    train(study, ann, 5, first=2)
    Participant.objects.update(break_since=timezone.now())
    walk.look(f"{here}annotate/", end=f"{here}break/")
    Participant.objects.update(break_since=None, state=Participant.State.PAUSED)
    walk.look(f"{here}annotate/", end="/")
    assert walk.found == [], "\n".join(map(str, walk.found))


def test_pages_of_items_and_sessions(
    live_server: Any, desktop: BrowserContext, phone: BrowserContext, ann: User
) -> None:
    manager = make_person("mia")
    session = make_live_session(make_live_study(by=manager), [ann])
    study = make_study(annotators=[ann], manager=manager)
    walk = Walk(live_server.url, desktop, phone)
    walk.sign_in("ann")
    for path in ("/", f"/studies/{study.pk}/annotate/1/", "/sessions/"):
        walk.look(path)
    walk.look(f"/sessions/{session.pk}/instructions/")
    begin(session)
    walk.look(f"/sessions/{session.pk}/")
    work_without_break(study, ann, 50)
    walk.look(f"/studies/{study.pk}/annotate/2/")
    for page in (walk.wide, walk.small):
        offer = page.get_by_role("button", name="Take a break · 50 min")
        expect(offer).to_be_in_viewport(ratio=1)
    offer.tap()
    walk.small.wait_for_url("**/break/")
    walk.look(f"/studies/{study.pk}/break/")
    walk.small.get_by_role("button", name="End break").tap()
    walk.small.get_by_role("button", name="I have read this").tap()
    walk.small.wait_for_url("**/annotate/2/")
    assert walk.found == [], "\n".join(map(str, walk.found))


def test_pages_of_those_who_come_by_a_link_and_of_those_who_leave(
    live_server: Any, desktop: BrowserContext, phone: BrowserContext, ann: User
) -> None:
    manager = make_person("mia")
    study = make_full_study([ann], manager, dealing="pool", background="")
    walk = Walk(live_server.url, desktop, phone)
    walk.look("/join/nobody-was-sent-this/", end="/join/")
    token = make_invite(study=study, role="annotator", label="", days=7, by=manager)
    walk.look(f"/join/{token}/", end="/join/")
    # Screening: one answer lets nobody in, the other one does.
    link = make_recruiting_link(
        study=study, by=manager, platform="prolific", code="C0DE", places=2, items_each=1, days=7,
        screening=read_screening("Do you cook? | *Yes | No"), screened_code="SORRY",
    )  # fmt: skip
    walk.look(f"/recruit/{link}/", end="/recruit/")
    expect(walk.small.get_by_label("Your Prolific ID")).to_be_visible()
    ids = "?PROLIFIC_PID={}&STUDY_ID=s&SESSION_ID=s"
    for answer_given in ("No", "Yes"):
        for number, page in enumerate((walk.wide, walk.small)):
            page.goto(f"{live_server.url}/recruit/{link}/{ids.format(answer_given + str(number))}")
        walk.look_here()
        for page in (walk.wide, walk.small):
            page.get_by_label(answer_given, exact=True).check()
            page.get_by_role("button", name="Take part").click()
        walk.look_here()
    expect(walk.small.get_by_role("heading", name="Information about the study")).to_be_visible()
    Recruit.objects.update(finished_at=timezone.now(), code="C0DE")
    walk.look(f"/studies/{study.pk}/finished/")
    expect(walk.small.locator(".completion-code")).to_have_text("C0DE")
    # Somebody who withdraws, and the pages of an account.
    walk.sign_in("ann")
    walk.look(f"/studies/{study.pk}/withdraw/")
    walk.small.get_by_role("button", name="Withdraw from the study").tap()
    expect(walk.small.get_by_text("You have withdrawn from")).to_be_visible()
    walk.wide.goto(walk.small.url)
    walk.look_here()
    walk.look("/studies/away/")
    walk.look("/accounts/reauthenticate/?next=/")
    assert walk.found == [], "\n".join(map(str, walk.found))


def test_pages_of_every_kind_of_desk_and_of_sessions_that_end(
    live_server: Any, desktop: BrowserContext, phone: BrowserContext, ann: User
) -> None:
    manager = make_person("mia")
    walk = Walk(live_server.url, desktop, phone)
    walk.sign_in("ann")
    # A session from its practice round to the questions after it.
    live = make_live_study(by=manager, practises=True, settings={"asks": True})
    session = make_live_session(live, [ann], max_turns=1)
    walk.look(f"/sessions/{session.pk}/instructions/")
    walk.small.get_by_role("button", name="Start practice round").tap()
    walk.small.wait_for_url(re.compile(r"/sessions/\d+/$"))
    walk.wide.goto(walk.small.url)
    walk.look_here()
    LiveSession.objects.filter(practice=True).update(state=LiveSession.State.CANCELLED)
    begin(session)
    say(session, "That is not possible here.")
    walk.look(f"/sessions/{session.pk}/")
    walk.wide.set_viewport_size({"width": 1280, "height": 300})
    talk = walk.wide.locator("#room-talk")
    assert talk.evaluate("one => one.scrollHeight > one.clientHeight")
    walk.wide.emulate_media(media="print")
    assert talk.evaluate("one => one.scrollHeight <= one.clientHeight")
    walk.wide.emulate_media(media="screen")
    walk.wide.set_viewport_size({"width": 1280, "height": 900})
    walk.small.get_by_role("link", name="Rate this session").tap()
    walk.small.wait_for_url("**/annotate/1/")
    walk.wide.goto(walk.small.url)
    walk.look_here()
    check = make_kind("violation_check@2", ann)
    walk.look(f"/studies/{check.pk}/annotate/1/")
    # On paper: the text, and under it the questions on all turns.
    walk.small.emulate_media(media="print")
    expect(walk.small.locator(".turn")).to_have_count(2)
    for part in (*walk.small.locator(".turn").all(), *walk.small.locator(".desk-part").all()):
        expect(part).to_be_visible()
    walk.small.emulate_media(media="screen", color_scheme="dark")
    played = check.items.order_by("pk")[0].trajectory
    for kind, new in (
        ("filter_check@2", NewItem(task=Candidate.objects.order_by("pk")[0].task_id)),
        ("turn_scores@2", NewItem(trajectory=played.pk)),
    ):
        study = Study(name=kind, questionnaire=kind, status=Study.Status.OPEN)
        store_study(study=study, items=[new], people=[ann], lists=[[0]], by=manager)
        walk.look(f"/studies/{study.pk}/annotate/1/")
    expected = {"feasibility.turn-1": {"values": [5], "why": "All of it is at hand."}}
    item = study.assignments.get(position=1)
    Item.objects.filter(pk=item.item_id).update(use=Item.Use.GOLD, expected=expected)
    Assignment.objects.filter(pk=item.pk).update(state=Assignment.State.SUBMITTED)
    Study.objects.filter(pk=study.pk).update(gold_feedback=True)
    walk.look(f"/studies/{study.pk}/annotate/1/feedback/")
    assert walk.found == [], "\n".join(map(str, walk.found))


def test_keys_reach_everything_and_the_focus_is_seen(
    live_server: Any, desktop: BrowserContext, ann: User
) -> None:
    manager = make_person("mia")
    make_live_session(make_live_study(by=manager), [ann])
    study = make_study(annotators=[ann], manager=manager)
    page = desktop.new_page()
    sign_in(page, live_server.url)
    here = f"/studies/{study.pk}/"
    for path in ("/", here, f"{here}annotate/1/", "/sessions/", f"{here}break/"):
        if path.endswith("break/"):
            Participant.objects.update(break_since=timezone.now())
        page.goto(live_server.url + path)
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            at = page.evaluate(FOCUS)
            if at["body"]:
                break
            assert at["marked"], (path, at)
            assert at["free"], (path, at)
            reached.append(at["html"])
        assert len(set(reached)) >= 5, path
    for name in ("End break", "I have read this"):
        page.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
    page.wait_for_url("**/annotate/1/")


class Tree:
    """A page as assistive technology has it: roles and names in reading order."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        nodes = self.session.send("Accessibility.getFullAXTree")["nodes"]
        by_id = {node["nodeId"]: node for node in nodes}
        self.by_id = by_id
        self.nodes: list[dict[str, Any]] = []
        waiting = [nodes[0]["nodeId"]]
        while waiting:
            node = by_id.get(waiting.pop())
            if node is not None:
                self.nodes.append(node)
                waiting.extend(reversed(node.get("childIds", [])))

    def names(self, role: str) -> list[str]:
        """Return the names of what has this role."""
        return [_name(node) for node in self.nodes if _role(node) == role]

    def find(self, role: str, name: str, *, within: str = "") -> dict[str, Any]:
        """Return the first of a role and name, after the one that is named ``within``."""
        inside = not within
        for node in self.nodes:
            inside = inside or within in _name(node)
            if inside and _role(node) == role and _name(node).startswith(name):
                return node
        raise AssertionError(f"no {role} {name!r} {within and 'in ' + within!r}")

    def below(self, node: dict[str, Any]) -> list[str]:
        """Return the ids of all nodes within this one."""
        children = [child for child in node.get("childIds", []) if child in self.by_id]
        return children + [one for child in children for one in self.below(self.by_id[child])]

    def press(self, node: dict[str, Any]) -> None:
        """Do what a screen reader does to press something."""
        found = self.session.send("DOM.resolveNode", {"backendNodeId": node["backendDOMNodeId"]})
        self.session.send(
            "Runtime.callFunctionOn",
            {
                "objectId": found["object"]["objectId"],
                "functionDeclaration": "function () { this.focus(); this.click(); }",
            },
        )


def _role(node: dict[str, Any]) -> str:
    return "" if node["ignored"] else str(node["role"]["value"])


def _name(node: dict[str, Any]) -> str:
    return "" if node["ignored"] else str(node.get("name", {}).get("value", ""))


def _description(node: dict[str, Any]) -> str:
    return str(node.get("description", {}).get("value", ""))


def test_item_is_read_and_answered_by_its_accessibility_tree(
    live_server: Any, desktop: BrowserContext, ann: User
) -> None:
    study: Study = make_study(annotators=[ann], manager=make_person("mia"))
    page = desktop.new_page()
    sign_in(page, live_server.url)
    page.goto(f"{live_server.url}/studies/{study.pk}/annotate/1/")
    tree = Tree(page)
    read = " ".join(tree.names("StaticText"))
    # The task, both plans and what came back, in this order.
    parts = ("How do I mend thing", "Take the hammer", "I have no hammer", "Take the glue")
    places = [read.index(part) for part in parts]
    assert places == sorted(places)
    headings = tree.names("heading")
    assert any("Turn 1" in name for name in headings)
    groups = page.locator(".score-group").all_text_contents()
    assert groups and {"Query", *groups} <= set(headings)
    # The dialogue is a log, but no live one: a page of many turns must not be read aloud by itself.
    log = tree.find("log", "Turns")
    assert "live" not in {one["name"] for one in log["properties"]}
    assert any(_name(tree.by_id[one]).startswith("Turn 1") for one in tree.below(log))
    groups = [name for name in tree.names("group") if name[:1].isdigit()]
    assert len(groups) == 10
    for name in groups:
        described = {n: _description(tree.find("radio", n, within=name)) for n in "12345"}
        assert all(described[point] for point in "135"), name
        assert described["2"] == f"between {described['1']} {described['3']}"
        assert described["4"] == f"between {described['3']} {described['5']}"
        # A question is heard whole when it gets the focus: what it asks, and its anchors.
        fieldset = page.get_by_role("group", name=name, exact=True)
        asked = fieldset.locator(".score-definition").text_content() or ""
        assert asked
        heard = _description(tree.find("group", name))
        assert heard.startswith(asked), name
        assert all(described[point] in heard for point in "135"), name
        tree.press(tree.find("radio", "4", within=name))
        # Which answer was taken is said, as the focus is on the next question then.
        said = page.get_by_role("status").filter(has_text=f"{name}: 4")
        expect(said).to_have_text(f"{name}: 4")
    # “saving” and “saved” are seen, and not read out at each answer.
    expect(page.locator(".desk-bar .save-state")).to_have_attribute("aria-live", "off")
    expect(page.locator(".desk-submit [data-answered]")).to_have_text("10 of 10")
    tree.press(Tree(page).find("button", "Submit"))
    page.wait_for_url("**/annotate/2/")
    item = Assignment.objects.get(study=study, annotator=ann, position=1)
    assert item.state == Assignment.State.SUBMITTED
    values = Rating.objects.filter(assignment=item).values_list("value", flat=True)
    assert list(values) == [4] * 10


def test_a_trail_that_takes_two_lines_can_be_touched(
    live_server: Any, phone: BrowserContext, ann: User
) -> None:
    study = make_study(annotators=[ann], manager=make_person("mia"))
    Study.objects.filter(pk=study.pk).update(
        name="A pilot whose name is nearly as long as a whole line"
    )
    page = phone.new_page()
    sign_in(page, live_server.url, "mia")
    page.goto(f"{live_server.url}/studies/{study.pk}/people/1/")
    first, *_, last = page.locator(".breadcrumb a").all()
    assert first.bounding_box()["y"] < last.bounding_box()["y"]
    assert violations(page) == []
