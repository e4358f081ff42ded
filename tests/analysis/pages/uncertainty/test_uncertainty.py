"""The page on uncertainty: shares, steps, what they cost, and why they may be undefined."""

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict

from analysis.filters import Filters, read_filters
from analysis.pages.catalogue import PAGES, select
from analysis.pages.uncertainty.page import TRIALS
from analysis.reports.content import Report, join_reports
from analysis.stats.uncertainty.budgets import NO_SUCH, ONE_JUDGE
from tests.analysis.pages.test_correction import plant
from tests.analysis.rows import (
    JUDGES,
    KEYS,
    flat,
    make_dataset,
    make_person,
    make_ratings,
    make_run,
    make_study,
    make_trajectory,
)

pytestmark = pytest.mark.django_db


def report(user: User, query: str = "", key: str = "uncertainty") -> Report:
    page = PAGES[key]
    selection = select(page, read_filters(QueryDict(query)), user)
    answer = page.content.answer(selection)
    if answer.empty is not None:
        return answer
    return join_reports(answer, page.content.details(selection))


def play(*, tasks: int = 12, judges: int = len(JUDGES)) -> User:
    """Two agents whose judges differ by a point each, and whose tasks hardly differ."""
    dataset = make_dataset(tasks=tasks)
    for number, agent in enumerate(("ada", "ben")):
        run = make_run(dataset, agent)
        for task in range(1, tasks + 1):
            base = 1.0 + 0.1 * ((task * (3 + number)) % 5)
            scores = tuple(base + place for place in range(judges))
            make_trajectory(run, task, scores=[dict.fromkeys(KEYS, scores)], accurate=1.0)
    return make_person("mia", "view_results")


def rows(found: Report, name: str) -> list[dict[str, object]]:
    table = found.table(name)
    assert table is not None
    return [dict(zip(table.header, row, strict=True)) for row in table.records()]


def test_judges_who_differ_are_the_largest_share() -> None:
    found = report(play())
    assert "of the squared half-width comes from the choice of 3 judges" in found.sentence
    assert "More ratings cannot be projected for Ada: no study drew plans" in found.sentence
    assert "with one more judge" in found.sentence and "10 more tasks" not in found.sentence
    for row in rows(found, "budget"):
        assert row["judges"] > 0.9 and row["half-width with other judges"] > row["half-width"]  # type: ignore[operator]
    steps = rows(found, "steps")
    assert len(steps) == 2 * len(TRIALS)
    judge = next(row for row in steps if row["step"] == "One more judge")
    assert judge["narrower"] > 0.2 and judge["needed"]  # type: ignore[operator]
    # A tenth narrower takes no more judges than a quarter.
    less = rows(report(User.objects.get(), "narrower=tenth"), "steps")
    assert next(row for row in less if row["step"] == "One more judge")["needed"] <= judge["needed"]  # type: ignore[operator]
    table = found.table("steps")
    assert table is not None
    reasons = {cell.reason for row in table.rows for cell in row}
    assert NO_SUCH in reasons
    # Differences pair judges: what both agents share cancels out.
    assert (
        rows(found, "differences")[0]["half-width with other judges"]
        < rows(found, "budget")[0]["half-width with other judges"]
    )  # type: ignore[operator]


def test_one_judge_and_few_tasks_have_a_reason() -> None:
    found = report(play(judges=1))
    table = found.table("budget")
    assert table is not None
    assert ONE_JUDGE in {cell.reason for row in table.rows for cell in row}
    assert "choice of" not in found.sentence or "tasks" in found.sentence


def test_three_tasks_are_undefined() -> None:
    found = report(play(tasks=3))
    assert found.sentence.startswith("What makes intervals wide is undefined here")
    assert "3 tasks" in found.sentence and not found.figures


def test_without_runs_the_page_says_what_it_needs() -> None:
    assert report(make_person("mia", "view_results")).empty is not None
    assert Filters().narrower == ""


def test_ratings_are_a_step_where_people_rated_drawn_plans() -> None:
    plant()
    steps = rows(report(make_person("root", superuser=True)), "steps")
    mine = [row for row in steps if str(row["step"]).startswith("Up to 60 more")]
    assert len(mine) == 3 and all(row["narrower"] is not None for row in mine)


def test_ratings_are_compared_with_the_corrected_interval_as_it_is() -> None:
    """Of 50 plans 40 were rated: ten more cannot do much, however wide judges' intervals are."""
    plant()
    found = report(make_person("root", superuser=True))
    mine = [r for r in rows(found, "steps") if str(r["step"]).startswith("Up to 60 more")]
    assert all(0 <= row["narrower"] < 0.3 for row in mine)  # type: ignore[operator]
    assert "Intervals of means that people correct narrow by" in found.sentence


def test_people_are_a_component_where_several_rated_the_same_plans() -> None:
    dataset, study = make_dataset(tasks=12), make_study()
    run, people = make_run(dataset, "ada"), [make_person(name) for name in ("ann", "bo", "cy")]
    for task in range(1, 13):
        trajectory = make_trajectory(run, task, scores=[flat(3.0)], accurate=1.0)
        for place, person in enumerate(people):
            make_ratings(study, person, trajectory, dict.fromkeys(KEYS, 2 + place - task % 2))
    page = PAGES["uncertainty"]
    chosen = select(page, Filters(), make_person("root", superuser=True))
    (row,) = rows(page.content.deferred_report(chosen), "people")
    assert row["people"] > 0.8  # type: ignore[operator]
    assert row["half-width with other judges"] > row["half-width"]  # type: ignore[operator]


def test_the_leaderboard_says_it_in_one_line() -> None:
    found = report(play(), key="leaderboard")
    told = [notice for notice in found.notices if "the choice of 3 judges" in notice.text]
    assert len(told) == 1 and "/leaderboard/uncertainty/" in told[0].url


def test_every_dimension_is_split_by_a_job() -> None:
    user = play()
    page = PAGES["uncertainty"]
    found = page.content.deferred_report(select(page, Filters(), user))
    assert len(rows(found, "dimensions")) == 2 * len(KEYS)
