"""Answers given after unblinding are counted and said, or left out and said, on every page."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from analysis.filters import Filters
from analysis.pages.catalogue import PAGES, select
from analysis.pages.reports import make_report, report_key
from analysis.reports.content import Report
from annotation.models import Item, Study
from tests.analysis.human_rows import (
    Said,
    answer,
    make_filter_check,
    make_item,
    make_kind_study,
    make_people,
    make_turn_scores,
    make_violation_check,
)
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_run,
    make_trajectory,
)

pytestmark = pytest.mark.django_db

WHY = "after the blinding was lifted"


@pytest.fixture
def reader() -> User:
    return make_person("rita", "view_results")


def scored() -> Study:
    """One plan, scored on safety by two people."""
    study = make_kind_study("ten_questions@1")
    talk = make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[flat(4)])
    item = make_item(study, trajectory=talk, asked=["safety"])
    for user in make_people("ann", "bob"):
        answer(item, user, {"safety": 4})
    return study


# The page, its study, how many answers count on it, and what somebody says after unblinding.
CASES: list[tuple[str, Callable[[], Study], int, Said]] = [
    ("agreement", scored, 2, {"safety": 1}),
    ("ratings", scored, 2, {"safety": 1}),
    (
        "turn-scores", lambda: make_turn_scores(make_people()), 12,
        {"feasibility.turn-1": 1, "feasibility.turn-2": 1},
    ),
    (
        "violation-check", lambda: make_violation_check(make_people()), 36,
        {"world_violated.turn-1": ["w2"], "user_violated.turn-1": []},
    ),
    ("filter-check", lambda: make_filter_check(make_people()), 20, {"keep.candidate-c1": 1}),
]  # fmt: skip


def report(reader: User, name: str, **words: str) -> Report:
    page = PAGES[name]
    selection = select(page, Filters(**words), reader)  # type: ignore[arg-type]
    if name == "turn-scores":  # its answer waits for this
        page.content.deferred_report(selection)
    return make_report(page, selection, report_key(page, selection))


@pytest.mark.parametrize(("name", "make", "before", "said"), CASES, ids=[c[0] for c in CASES])
def test_the_page_says_how_many_and_whether_they_count(
    reader: User, name: str, make: Callable[[], Study], before: int, said: Said
) -> None:
    study = make()
    make_member(study, reader)
    blind = report(reader, name)
    assert not any(WHY in line for line in (*blind.how, *(n.text for n in blind.notices)))
    item = study.items.filter(use=Item.Use.MAIN).order_by("rank")[0]
    answer(item, make_person("told"), said, unblinded=True)
    counted, left_out = report(reader, name), report(reader, name, unblinded="exclude")
    of = f"{len(said)} of {before + len(said)} answers"
    were = "was" if len(said) == 1 else "were"
    assert any(f"{of} {were} given {WHY}" in notice.text for notice in counted.notices)
    assert any(line.endswith(f"{of}, counted.") for line in counted.how)
    assert any(
        notice.text.startswith(f"Left out: {of}, given {WHY}") for notice in left_out.notices
    )
    assert any(line.endswith(f"{of}, left out by the filter.") for line in left_out.how)
    # Without them everything is as it was before they were given.
    assert left_out.sentence == blind.sentence != counted.sentence
    assert [t.rows for t in left_out.tables] == [t.rows for t in blind.tables]


def test_nothing_but_answers_after_unblinding(reader: User) -> None:
    study = make_kind_study("ten_questions@1")
    make_member(study, reader)
    talk = make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[flat(4)])
    item = make_item(study, trajectory=talk, asked=["safety"])
    answer(item, make_person("told"), {"safety": 4}, unblinded=True)
    assert report(reader, "agreement").empty is None
    empty = report(reader, "agreement", unblinded="exclude").empty
    assert empty is not None and "were given after the blinding was lifted" in empty.text
    assert "unblinded" not in empty.action_url and f"study={study.pk}" in empty.action_url


def test_the_filter_is_offered_where_somebody_was_unblinded(reader: User, client: Client) -> None:
    study = scored()
    make_member(study, reader)
    client.force_login(reader)
    address = reverse("analysis:agreement", query={"unblinded": "exclude"})
    assert "Answers after unblinding" not in client.get(address).content.decode()
    item = study.items.get()
    answer(item, make_person("told"), {"safety": 1}, unblinded=True)
    page = client.get(address).content.decode()
    assert '<option value="exclude" selected>Left out</option>' in page
    # The page of the same study beside it leaves them out too.
    assert f"/analysis/ratings/?study={study.pk}&amp;unblinded=exclude" in page
