"""Columns of lists that a person chooses, and lists as CSV."""

import csv
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from benchmarks.lists.columns import LISTS
from benchmarks.models import ListColumns
from benchmarks.pages.list_columns import RUN_COLUMNS
from tests.factories.benchmarks import ExperimentFactory, RunFactory, play, start_sample_runs

LIST_PAGES = {
    "agents": "benchmarks:agent_list",
    "datasets": "benchmarks:dataset_list",
    "endpoints": "benchmarks:endpoint_list",
    "experiments": "benchmarks:experiment_list",
    "papers": "analysis:paper_list",
    "rejudgings": "benchmarks:judge_list",
    "runs": "benchmarks:run_list",
    "studies": "annotation:study_list",
    "tables": "analysis:table_list",
    "trajectories": "analysis:trajectory_list",
}


def table(response: Any) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(StringIO(text)))


def choose(client: Client, name: str, *, offered: list[str], shown: list[str], to: str) -> Any:
    return client.post(
        reverse("benchmarks:list_columns", args=[name]),
        {"offered": offered, "column": shown, "next": to},
    )


def test_every_list_that_keeps_columns_is_a_page() -> None:
    # The lists within a study have tests beside their pages, judge versions one below.
    within = {"annotators", "items", "judges", "sessions", "tasks"}
    assert set(LIST_PAGES) | within == LISTS


def test_versions_of_judges_have_a_file_and_columns_of_their_own(researcher: Client) -> None:
    (run,) = start_sample_runs()
    play(run)
    page = reverse("benchmarks:judge_list")
    rows = table(researcher.get(page, {"format": "versions-csv"}))
    assert rows and {"judge", "role", "replies", "unreadable", "last_asked"} <= set(rows[0])
    assert all(row["judge"] and row["role"] for row in rows)
    head = researcher.get(page).content.decode().split("<thead>")[1].split("</thead>")[0]
    assert ">Replies</th>" in head and ">Last asked</th>" in head
    choose(researcher, "judges", offered=["replies", "asked"], shown=[], to=page)
    text = researcher.get(page).content.decode()
    head, body = text.split("<thead>")[1].split("</thead>")
    assert ">Replies</th>" not in head and ">Last asked</th>" not in head
    assert head.count("<th ") == body.split("</tr>")[0].count("<td") + 1


def test_hidden_columns_stay_hidden_until_they_are_shown_again(researcher: Client) -> None:
    RunFactory(seed=4242)
    page = reverse("benchmarks:run_list")
    assert ">Condition</th>" in researcher.get(page).content.decode()
    assert "4242" not in researcher.get(page).content.decode()
    offered = [column.key for column in RUN_COLUMNS if not column.fixed]
    shown = [key for key in offered if key not in {"condition", "cost"}]
    answer = choose(researcher, "runs", offered=offered, shown=shown, to=page + "?level=")
    assert answer.status_code == 302
    assert answer["Location"] == page + "?level="
    for _ in range(2):
        text = researcher.get(page).content.decode()
        assert ">Condition</th>" not in text
        assert ">Cost</a>" not in text
        assert "4242" in text
        head, row = text.split("<thead>")[1].split("</thead>")
        assert head.count("<th") == row.split("</tr>")[0].count("<td") + 1
    choose(researcher, "runs", offered=offered, shown=offered, to=page)
    assert ">Condition</th>" in researcher.get(page).content.decode()


def test_a_choice_is_one_persons(researcher: Client, reader: Client) -> None:
    RunFactory()
    page = reverse("benchmarks:run_list")
    choose(researcher, "runs", offered=["condition"], shown=[], to=page)
    assert ">Condition</th>" in reader.get(page).content.decode()


def test_columns_that_a_form_did_not_offer_keep_their_state(researcher: Client) -> None:
    choose(researcher, "trajectories", offered=["turns", "measure:a"], shown=[], to="/")
    choose(researcher, "trajectories", offered=["turns"], shown=["turns"], to="/")
    assert ListColumns.objects.get().shown == {"turns": True, "measure:a": False}


@pytest.mark.parametrize(
    ("name", "given", "status"),
    [
        ("unknown", {}, 404),
        ("runs", {"next": "https://elsewhere.example/"}, 302),
        ("runs", {"offered": ["x" * 5000, "a\x00b", ""] + [str(n) for n in range(300)]}, 302),
    ],
)
def test_a_strange_form_keeps_little(
    researcher: Client, name: str, given: dict[str, Any], status: int
) -> None:
    answer = researcher.post(reverse("benchmarks:list_columns", args=[name]), given)
    assert answer.status_code == status
    assert answer.headers.get("Location", "/") == "/"
    for row in ListColumns.objects.all():
        assert len(row.shown) <= 100
        assert all(0 < len(key) <= 80 and "\x00" not in key for key in row.shown)


@pytest.mark.parametrize("name", sorted(LIST_PAGES))
def test_every_list_is_a_csv_file_and_loses_each_column(researcher: Client, name: str) -> None:
    (run,) = start_sample_runs()
    play(run)
    ExperimentFactory()
    page = reverse(LIST_PAGES[name])
    shown = researcher.get(page)
    assert shown.status_code == 200
    answer = researcher.get(page, {"format": "csv"})
    assert answer["Content-Type"].startswith("text/csv")
    rows = table(answer)
    if name in {"agents", "datasets", "experiments", "runs", "trajectories"}:
        assert rows
    for column, _ in shown.context["columns"].offered:
        choose(researcher, name, offered=[column.key], shown=[], to=page)
    assert researcher.get(page).status_code == 200


def test_the_file_of_runs_has_all_pages_of_the_filter(
    researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.lists.columns.CHUNK", 2)
    runs = [RunFactory(level="mid") for _ in range(5)]
    RunFactory(level="high")
    rows = table(researcher.get(reverse("benchmarks:run_list"), {"level": "mid", "format": "csv"}))
    assert [int(row["run"]) for row in rows] == [run.pk for run in reversed(runs)]
    assert rows[0]["dataset"] == runs[-1].dataset.name


def test_a_file_is_for_those_who_see_the_list(stranger: Client) -> None:
    assert stranger.get(reverse("benchmarks:run_list"), {"format": "csv"}).status_code == 403


def test_the_choice_goes_with_the_account(researcher: Client) -> None:
    choose(researcher, "runs", offered=["cost"], shown=[], to="/")
    User.objects.get(list_columns__list="runs").delete()
    assert not ListColumns.objects.exists()
