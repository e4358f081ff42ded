"""The page on two runs: what it finds, narrows, warns of and hides."""

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.browser.compare_runs import views
from benchmarks import visibility as blinding
from benchmarks.models import Dataset, Run
from tests.analysis.rows import flat, make_dataset, make_imported, make_run, make_trajectory

URL = "/compare/runs/"


@pytest.fixture
def dataset(db: None) -> Dataset:
    return make_dataset(tasks=4)


def make_pair(dataset: Dataset) -> tuple[Run, Run]:
    """Ada succeeds on tasks 1 and 2, Bob on 1 and 3; task 4 is undefined for Bob."""
    ada, bob = (make_run(dataset, name) for name in ("ada", "bob"))
    for task, value in enumerate((1.0, 1.0, 0.0, 0.0), 1):
        make_trajectory(ada, task, accurate=value, scores=[flat(4)])
    for task, value in enumerate((1.0, 0.0, 1.0), 1):
        make_trajectory(bob, task, accurate=value, scores=[flat(3), flat(5)])
    make_trajectory(bob, 4, undefined={"accurate": "a judge was silent"})
    return ada, bob


def tasks_of(page: Any) -> list[str]:
    return [line["row"].task.name for line in page.context["lines"]]


def test_addresses_that_other_pages_make(researcher: Client, dataset: Dataset) -> None:
    ada, bob = make_pair(dataset)
    known = {"a": ada.pk, "b": bob.pk, "measure": "accurate"}
    for flip, tasks in (
        ("won", ["t2"]), ("lost", ["t3"]), ("both_pass", ["t1"]), ("both_fail", []),
        ("undefined", ["t4"]), ("", ["t1", "t2", "t3", "t4"]),
        ("no'such", ["t1", "t2", "t3", "t4"]),
    ):  # fmt: skip
        page = researcher.get(URL, {**known, "flip": flip})
        assert tasks_of(page) == tasks, flip
    text = researcher.get(URL, known).content.decode()
    assert "Bob passes on 1 task where Ada does not, Ada on 1 where Bob does not" in text
    assert "undefined: a judge was silent" in text
    one = ada.trajectories.get(task__external_id="t2").pk
    two = bob.trajectories.get(task__external_id="t2").pk
    assert f"/compare/?t={one}&amp;t={two}" in text


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        # Ada's last plans have 4, Bob's 5 on three tasks; the fourth has no scores.
        pytest.param("mean", "Bob is higher on 3 tasks, Ada on 0", id="mean"),
        pytest.param(
            "feasibility",
            "Difference (Ada − Bob): −1.00 (the difference is the same on every task: no interval",
            id="dimension",
        ),
        pytest.param("turns", "On turns, Bob is higher", id="turns"),
        pytest.param("charm", "There is no measure “charm” here", id="unknown"),
    ],
)
def test_measures(researcher: Client, dataset: Dataset, measure: str, said: str) -> None:
    ada, bob = make_pair(dataset)
    bob.trajectories.filter(turn_count=2).update(metrics={"turns": 9})
    page = researcher.get(URL, {"a": ada.pk, "b": bob.pk, "measure": measure})
    assert said in page.content.decode()


def test_what_differs_besides_the_agent_is_warned_of(researcher: Client, dataset: Dataset) -> None:
    ada, bob = make_pair(dataset)
    assert not researcher.get(URL, {"a": ada.pk, "b": bob.pk}).context["warnings"]
    bob.level, bob.pins = "high", {**bob.pins, "prompts": "2"}
    bob.roles = {**bob.roles, "rubric_judge": bob.roles["rubric_judge"][:1]}
    bob.settings = {"tau": 3.0}
    bob.save()
    warned = researcher.get(URL, {"a": ada.pk, "b": bob.pk}).context["warnings"]
    assert [one.what for one in warned] == [
        "Level", "Setting tau", "Rubric judges", "Version of prompts",
    ]  # fmt: skip


def test_runs_to_choose_stand_with_the_comparable_ones_first(
    researcher: Client, dataset: Dataset
) -> None:
    ada, bob = make_pair(dataset)
    high = make_run(dataset, "bob", level="high")
    other = make_run(make_dataset("Others"), "eve")
    groups = researcher.get(URL, {"a": ada.pk}).context["groups_b"]
    assert [(group.title, [run.pk for run in group.runs]) for group in groups] == [
        ("Same dataset, level and condition", [bob.pk]),
        ("Same dataset", [high.pk]),
        ("No task in common: Others 1", [other.pk]),
    ]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        pytest.param({}, "Choose a run", id="nothing chosen"),
        pytest.param({"a": "999", "b": "x"}, "There is no run 999", id="not there"),
        pytest.param({"a": "9" * 30}, "Choose a run", id="no id"),
        pytest.param({"a": "A", "b": "A"}, "cannot be compared with itself", id="itself"),
        pytest.param({"a": "A", "b": "B", "page": "77"}, "1 to 4 of 4 tasks", id="past the end"),
        pytest.param({"a": "A", "b": "B", "q": "zebra"}, "No task fits", id="no such words"),
        pytest.param({"a": "A", "b": "E"}, "no task in common", id="other dataset"),
    ],
)
def test_broken_addresses(
    researcher: Client, dataset: Dataset, query: dict[str, str], said: str
) -> None:
    ada, bob = make_pair(dataset)
    eve = make_run(make_dataset("Others"), "eve")
    ids = {"A": ada.pk, "B": bob.pk, "E": eve.pk}
    page = researcher.get(URL, {name: ids.get(value, value) for name, value in query.items()})
    assert page.status_code == 200
    assert said in page.content.decode()


def test_no_runs_at_all(researcher: Client) -> None:
    assert "No runs yet" in researcher.get(URL).content.decode()


def test_imported_runs_are_compared_by_reward(researcher: Client) -> None:
    one, two = make_imported(("gpt-9", "bard-2"), rewards={1: (1.0, 0.0), 2: (1.0, 1.0)})
    page = researcher.get(URL, {"a": one.pk, "b": two.pk})
    assert page.context["pair"].measured.name == "reward"
    assert "on 2 of 2 common tasks they are equal" in page.content.decode()
    # Two attempts of each, side by side, on every line.
    assert all(line["url"].count("t=") == 4 for line in page.context["lines"])


def test_the_csv_has_what_the_page_narrows_to(researcher: Client, dataset: Dataset) -> None:
    ada, bob = make_pair(dataset)
    make_trajectory(ada, 2, attempt=2, accurate=0.0)
    query = {"a": ada.pk, "b": bob.pk, "q": "Mend 2"}
    answer = researcher.get(reverse("analysis:compare_runs_table"), query)
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    # Ada's two attempts have 1 and 0; Bob's has 0.
    assert (row["task"], row["flip"], row["a value"], row["b value"]) == ("t2", "won", "0.5", "0.0")
    assert row["difference"] == "0.5"
    assert row["a endings"] == "Valid plan × 2"


def test_closed_runs_are_not_there(
    researcher: Client, dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = make_pair(dataset)
    monkeypatch.setattr(blinding, "_rules", [lambda user: blinding.ClosedRows(runs=[bob.pk])])
    page = researcher.get(URL, {"a": ada.pk, "b": bob.pk})
    assert f"There is no run {bob.pk}" in page.content.decode()
    assert "Bob" not in page.content.decode()
    table = researcher.get(reverse("analysis:compare_runs_table"), {"a": ada.pk, "b": bob.pk})
    assert table.content.decode().count("\n") == 1


def test_queries_and_pages(
    researcher: Client, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    monkeypatch.setattr(views, "ROWS", 10)
    dataset = make_dataset(tasks=25)
    ada, bob = (make_run(dataset, name) for name in ("ada", "bob"))
    for run in (ada, bob):
        for task in range(1, 26):
            make_trajectory(run, task, accurate=float(task % 2))
    with django_assert_max_num_queries(15):
        page = researcher.get(URL, {"a": ada.pk, "b": bob.pk, "measure": "mean"})
    seen = [*tasks_of(page)]
    while page.context["next_url"]:
        page = researcher.get(URL + page.context["next_url"])
        seen += tasks_of(page)
    assert seen == [f"t{n}" for n in range(1, 26)]


def test_pages_that_lead_here(researcher: Client, dataset: Dataset) -> None:
    ada, bob = make_pair(dataset)
    run_page = researcher.get(reverse("benchmarks:run", args=[ada.pk])).content.decode()
    assert f"{URL}?a={ada.pk}" in run_page
    assert f'href="{URL}"' in researcher.get("/runs/").content.decode()
    board = researcher.get("/analysis/leaderboard/").content.decode()
    assert (
        f"{URL}?a={ada.pk}&amp;b={bob.pk}" in board or f"{URL}?a={bob.pk}&amp;b={ada.pk}" in board
    )
