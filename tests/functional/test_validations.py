"""The three human validations from the first click to the figure, by three browsers at once.

Each study is small enough to be computed by hand; what three people click in turn is what the
researcher's page must say.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from annotation.models import Assignment, Membership, Study
from annotation.studies.setup import NewItem, add_member, store_study
from benchmarks.models import Candidate, Constraint, Profile, Task, Trajectory, Violation
from tests.analysis.rows import flat, make_dataset, make_person, make_run, make_trajectory
from tests.functional.test_annotation_loop import answered, open_item, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
NAMES = ("ann", "bob", "cy")


@pytest.fixture
def tabs(live_server: Any, browser: Browser) -> Iterator[dict[str, Page]]:
    """Three annotators and a researcher, each signed in with a browser of their own."""
    with ExitStack() as stack:
        pages = {}
        for name in (*NAMES, "rita"):
            make_person(name, *(["view_results"] if name == "rita" else []))
            pages[name] = stack.enter_context(browser.new_context()).new_page()
            sign_in(pages[name], live_server.url, name)
        yield pages


def launch(
    questionnaire: str, items: Sequence[NewItem], dealt: Mapping[str, Sequence[int]]
) -> Study:
    """An open study in which rita reads results."""
    people = {user.username: user for user in User.objects.filter(username__in=NAMES)}
    study = store_study(
        study=Study(name="Validation", questionnaire=questionnaire, status=Study.Status.OPEN),
        items=items,
        people=[people[name] for name in dealt],
        lists=list(dealt.values()),
    )
    rita = User.objects.get(username="rita")
    add_member(study=study, user=rita, role=Membership.Role.RESEARCHER)
    return study


def press_in_turn(tabs: Mapping[str, Page], keys: Mapping[str, Sequence[str]]) -> None:
    """Key by key: everybody presses their first, then everybody their second, and so on."""
    for place in range(max(map(len, keys.values()))):
        for name, row in keys.items():
            if place < len(row):
                tabs[name].keyboard.press(row[place])


def finished(tabs: Mapping[str, Page], study: Study) -> None:
    """Everybody submits with Enter and is told that nothing is left."""
    for name in NAMES:
        tabs[name].keyboard.press("Enter")
    for name in NAMES:
        tabs[name].wait_for_url(f"**/studies/{study.pk}/")
    assert set(study.assignments.values_list("state", flat=True)) == {Assignment.State.SUBMITTED}


def table(page: Page, url: str, part: str, study: Study) -> dict[str, dict[str, str]]:
    """A table of the researcher's page, by its first column, as the page lets it be downloaded."""
    reply = page.request.get(f"{url}{part}.csv?study={study.pk}")
    assert reply.ok
    return {next(iter(row.values())): row for row in csv.DictReader(io.StringIO(reply.text()))}


def test_ten_questions(live_server: Any, tabs: dict[str, Page]) -> None:
    # One rater an item. All judges gave 4 on everything; ann says 4, bob 5 and cy 2, so the
    # differences on every dimension are 0, 1 and 2: one of three equal, two of three within one.
    run = make_run(make_dataset(), "planner")
    made = [make_trajectory(run, task, scores=[flat(3), flat(4)]) for task in (1, 2, 3)]
    for trajectory in made:
        first = trajectory.turns.get(index=1)
        first.feedback = "I have no hammer."
        first.save()
        Violation.objects.create(
            turn=first, key="w1", kind="world", text="No hammer.", revealed=True, new=True,
            repeated=False,
        )  # fmt: skip
    items = [NewItem(trajectory=trajectory.pk) for trajectory in made]
    study = launch("ten_questions@1", items, {name: [n] for n, name in enumerate(NAMES)})
    for name in NAMES:
        open_item(tabs[name], live_server.url, study)
    press_in_turn(tabs, {"ann": "54" + "4" * 8, "bob": "44" + "5" * 8, "cy": "35" + "2" * 8})
    for name in NAMES:
        answered(tabs[name], "10 of 10")
    finished(tabs, study)

    url = f"{live_server.url}/analysis/agreement/"
    rows = table(tabs["rita"], url, "agreement", study)
    assert len(rows) == 9  # eight dimensions and all together
    for name, row in rows.items():
        n = "24" if name.startswith("All") else "3"
        assert (row["n"], row["equal"], row["within one"]) == (n, "0.333333", "0.666667")
    asked = table(tabs["rita"], url, "questions", study)
    means = [(row["mean"], row["mean n"]) for row in asked.values()]
    assert means == [("4.0", "3"), ("4.333333", "3")]
    tabs["rita"].goto(f"{url}?study={study.pk}")
    expect(tabs["rita"].locator("#report")).to_contain_text("33.3 %")


def test_violation_check(live_server: Any, tabs: dict[str, Page]) -> None:
    # Judges found w1 in turn 1 and nothing in turn 2. By majority of three, people find w1 and w2
    # in turn 1 (one more than the judges) and nothing in turn 2: one of two turns equal, both
    # within one; of 6 decisions the judges miss one of two violations.
    run = make_run(make_dataset(), "planner")
    trajectory = make_trajectory(
        run, 1, texts=["1. Hit it.", "1. Glue it."], found_valid=[False, True]
    )
    profile = Profile.objects.create(task=trajectory.task, level="mid", rank=2)
    for kind, key in (("world", "w1"), ("world", "w2"), ("user", "u1")):
        Constraint.objects.create(profile=profile, kind=kind, key=key, text=f"Condition {key}")
    Trajectory.objects.filter(pk=trajectory.pk).update(profile=profile)
    Violation.objects.create(
        turn=trajectory.turns.get(index=1), key="w1", kind="world", text="Condition w1",
        revealed=True, new=True, repeated=False,
    )  # fmt: skip
    item = NewItem(trajectory=trajectory.pk, wanted=3)
    study = launch("violation_check@1", [item], {name: [0] for name in NAMES})
    for name in NAMES:
        open_item(tabs[name], live_server.url, study)
    # Condition by condition: 1 violated, 2 not, 0 none of the rest of a list.
    press_in_turn(
        tabs,
        {
            "ann": ["1", "2", "0", "0", "0"],
            "bob": ["1", "1", "0", "0", "0"],
            "cy": ["2", "1", "0", "0", "1"],
        },
    )
    for name in NAMES:
        answered(tabs[name], "4 of 4")
    finished(tabs, study)

    url = f"{live_server.url}/analysis/ratings/violation-check/"
    row = table(tabs["rita"], url, "sets", study)["All constraints"]
    assert (row["turns"], row["equal hits"], row["equal of"]) == ("2", "1", "2")
    assert (row["within one hits"], row["within one of"]) == ("2", "2")
    tabs["rita"].goto(f"{url}?study={study.pk}")
    expect(tabs["rita"].locator("#report")).to_contain_text("50.0 %")
    expect(tabs["rita"].locator("#report")).to_contain_text("89.76 %")


def test_filter_check(live_server: Any, tabs: dict[str, Page]) -> None:
    # The checker removed c2 and c3 of four candidates. People keep c1 and c2 and remove c3 and c4
    # by majority: of two to be removed the checker kept one (c4), of two to be kept it removed one
    # (c2). Half of all were removed.
    task = Task.objects.filter(dataset=make_dataset()).order_by("pk")[0]
    for n, decision in enumerate(("kept", "removed", "removed", "kept"), 1):
        Candidate.objects.create(
            task=task, key=f"c{n}", kind="world", text=f"Candidate {n}", decision=decision
        )
    study = launch("filter_check@1", [NewItem(task=task.pk, wanted=3)], {n: [0] for n in NAMES})
    for name in NAMES:
        open_item(tabs[name], live_server.url, study)
    press_in_turn(tabs, {"ann": "kkrr", "bob": "krrr", "cy": "kkkr"})
    for name in NAMES:
        answered(tabs[name], "4 of 4")
    finished(tabs, study)

    url = f"{live_server.url}/analysis/ratings/filter-check/"
    row = table(tabs["rita"], url, "rates", study)["All candidates"]
    assert (row["compared"], row["tasks"]) == ("4", "1")
    assert (row["fnr hits"], row["fnr of"], row["fpr hits"], row["fpr of"]) == ("1", "2", "1", "2")
    assert (row["removed"], row["same decision"]) == ("0.5", "0.5")
    tabs["rita"].goto(f"{url}?study={study.pk}")
    expect(tabs["rita"].locator("#report")).to_contain_text("50.0 %")
