"""The analysis pages and groups of failures as JSON, with the rights and numbers of the pages."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from analysis.exports.figure_pdf import chromium
from analysis.pages.catalogue import PAGES
from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Job
from tests.analysis.rows import flat, make_dataset, make_person, make_run, make_trajectory
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    caches["reports"].clear()


@pytest.fixture
def dataset() -> Dataset:
    """Ada is accurate on four of four tasks, Bob on two; both were scored by judges."""
    made = make_dataset(is_demo=True)
    for name, accurate in (("ada", [1, 1, 1, 1]), ("bob", [1, 1, 0, 0])):
        run = make_run(made, name)
        for task, value in enumerate(accurate, 1):
            make_trajectory(
                run, task, accurate=value, accurate_all=value, accurate_main=value,
                scores=[flat(4), flat(3 + value)], found_valid=[False, True],
            )  # fmt: skip
    return made


@pytest.fixture
def rita() -> User:
    return make_person("rita", "view_results")


@pytest.fixture
def caller(rita: User) -> Caller:
    """The program of somebody who may see results."""
    return Caller(bearer(rita))


def test_a_page_says_in_json_what_it_shows(dataset: Dataset, caller: Caller, rita: User) -> None:
    found = caller.get("/analysis/leaderboard", dataset=dataset.pk).json()
    client = Client()
    client.force_login(rita)
    page = client.get(found["url"]).content.decode()
    assert found["answer"].startswith("No agent clearly leads. Ada is")
    assert found["answer"][:30] in page.replace("\u00a0", " ")
    assert found["filters"]["dataset"] == str(dataset.pk)
    assert {one["value"] for one in found["choices"]["agents"]} == {"ada", "bob"}
    board = next(table for table in found["tables"] if table["name"] == "board")
    rows = {row[0]: dict(zip(board["columns"], row, strict=True)) for row in board["rows"]}
    assert (rows["Ada"]["acc"], rows["Bob"]["acc"]) == (1.0, 0.5)
    address = reverse("analysis:leaderboard_table", kwargs={"part": "board"})
    csv = client.get(address, {"dataset": dataset.pk}).content.decode()
    assert csv.splitlines()[0].lstrip("\ufeff").split(",") == board["columns"]
    figure = found["figures"][0]
    assert figure["plotly"]["data"] and figure["plotly"]["layout"]["height"]
    assert figure["table"] in {table["name"] for table in found["tables"]}
    assert "Wilson" in found["methods"] and found["how"]
    assert found["marks"], "scripted agents are labelled"


def test_every_page_answers_in_the_same_form(dataset: Dataset, caller: Caller) -> None:
    summaries = caller.get("/analysis").json()
    assert [one["key"] for one in summaries] == list(PAGES)
    for one in summaries:
        found = caller.get(f"/analysis/{one['key']}")
        assert found.status_code == 200, one["key"]
        body = found.json()
        assert body["question"] == one["question"]
        assert body["answer"] or body["empty"], one["key"]
        for table in body["tables"]:
            assert all(len(row) == len(table["columns"]) for row in table["rows"])
            assert {reason["column"] for reason in table["reasons"]} <= set(table["columns"])


def test_the_answer_alone(dataset: Dataset, caller: Caller) -> None:
    whole = caller.get("/analysis/leaderboard").json()
    short = caller.get("/analysis/leaderboard", details="false").json()
    assert short["answer"] == whole["answer"]
    assert short["how"] == [] and len(short["tables"]) < len(whole["tables"])


def test_what_takes_long_is_made_when_it_is_requested(dataset: Dataset, caller: Caller) -> None:
    assert caller.get("/analysis/dispersion").json()["later"]["status"] == "not_requested"
    assert caller.post("/analysis/dispersion/later").status_code == 202
    assert caller.get("/analysis/dispersion").json()["later"]["status"] == "queued"
    perform(job_id=Job.objects.get().pk, owner="test")
    later = caller.get("/analysis/dispersion").json()["later"]
    assert later["status"] == "ready"
    assert later["report"]["tables"]
    assert caller.post("/analysis/leaderboard/later").status_code == 404


def test_filters_that_a_page_does_not_have_are_refused(dataset: Dataset, caller: Caller) -> None:
    answer = caller.get("/analysis/leaderboard", epsilon="0.2")
    assert answer.status_code == 422
    assert answer.json()["error"]["field"] == "epsilon"
    assert "level" in answer.json()["error"]["message"]


def test_tables_and_figures_are_files(
    dataset: Dataset, caller: Caller, rita: User, settings: Any
) -> None:
    client = Client()
    client.force_login(rita)
    at = "/analysis/leaderboard/tables/board"
    csv = caller.get(at).content
    page = reverse("analysis:leaderboard_table", kwargs={"part": "board"})
    assert csv == client.get(page).content
    tex = caller.get(at, format="latex")
    assert tex["Content-Type"].startswith("application/x-tex") and b"\\begin{tab" in tex.content
    assert caller.get(f"{at}s").status_code == 404
    settings.CHROMIUM = "off"
    chromium.cache_clear()
    answer = caller.get("/analysis/leaderboard/figures/board")
    assert (answer.status_code, answer.json()["error"]["code"]) == (501, "not_installed")
    chromium.cache_clear()


def test_turns_as_rows(dataset: Dataset, caller: Caller) -> None:
    run = dataset.runs.order_by("pk")[0]
    rows = caller.get("/turns", run=run.pk, limit=3).json()
    assert len(rows["items"]) == 3 and rows["next"]
    whole = caller.get("/turns", run=run.pk).json()["items"]
    assert {row["run"] for row in whole} == {run.pk} and len(whole) > 4
    assert {
        row["is_final"] for row in caller.get("/turns", run=run.pk, final="true").json()["items"]
    } == {True}
    assert caller.get("/turns").json()["error"]["field"] == "run"


def test_groups_of_failures(dataset: Dataset, caller: Caller) -> None:
    query = f"trajectories=dataset%3D{dataset.pk}"
    found = caller.get(f"/failure-groups?{query}").json()
    assert (found["status"], found["matching"], found["failed"]) == ("not_requested", 8, 2)
    assert caller.post(f"/failure-groups?{query}").status_code == 202
    perform(job_id=Job.objects.get().pk, owner="test")
    found = caller.get(f"/failure-groups?{query}").json()
    assert found["status"] == "ready"
    assert found["report"]["answer"] or found["empty"]["title"] == "Too little to group"
    for wrong in ("colour%3Dred", "dataset%3D999"):
        answer = caller.get(f"/failure-groups?trajectories={wrong}")
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, "trajectories")


def test_only_for_those_who_see_results(dataset: Dataset) -> None:
    nobody: Any = Caller(bearer(make_person("nobody")))
    for path in ("/analysis", "/analysis/leaderboard", "/failure-groups"):
        assert nobody.get(path).status_code == 403
    reading = Caller(bearer(make_person("ro", "view_results"), read_only=True))
    assert reading.post("/analysis/dispersion/later").json()["error"]["code"] == "read_only"
