"""Pages of constructions: problems in, calls counted, a dataset made, and how its profiles grew."""

import html
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from benchmarks import visibility as blinding
from benchmarks.construction.services import make_dataset
from benchmarks.endpoints.services import create_endpoint
from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Job, Run, Task, Upload
from tests.benchmarks.constructions import PROBLEMS, make_construction
from tests.benchmarks.systems.adaplanbench.macgyver_problems import row, write_workbook
from tests.factories.benchmarks import (
    AnswererVersionFactory,
    DatasetFactory,
    ExchangeFactory,
    RunFactory,
    TaskFactory,
    TrajectoryFactory,
    start_sample_runs,
)

pytestmark = pytest.mark.django_db

NEW = "/datasets/construct/"
IMPORT = "/datasets/import/problems/"


@pytest.fixture
def problems(db: None) -> Dataset:
    dataset = DatasetFactory(system=PROBLEMS)
    for name in ("kite", "door"):
        TaskFactory(dataset=dataset, external_id=name, payload={"solution": "1. Fetch a rake."})
    return dataset


@pytest.fixture
def answers(problems: Dataset, researcher: Client) -> dict[str, Any]:
    """Return what the form sends when nothing is changed."""
    form = researcher.get(NEW).context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    return {**given, "dataset": problems.pk}


@pytest.fixture
def made(db: None) -> Dataset:
    run = make_construction("constructed", "filtered_out")
    return make_dataset(run=run, name="Made").saved.dataset


class TestStarting:
    def test_without_problems_it_says_how_to_get_some(self, researcher: Client) -> None:
        assert IMPORT in researcher.get(NEW).content.decode()

    def test_planners_stand_on_an_equal_footing(
        self, researcher: Client, answers: dict[str, Any]
    ) -> None:
        form = researcher.get(NEW).context["form"]
        assert [field.label for field in form.planner_fields] == [
            "Planner 1", "Planner 2", "Planner 3",
        ]  # fmt: skip
        titles = [
            [title for _, title in field.field.choices[0][1]] for field in form.planner_fields
        ]
        assert titles[0] == titles[1] == titles[2]
        assert [field.name for field in form.role_fields] == [
            f"role_{role}_1" for role in ("rewriter", "filter", "extractor", "merger", "checker")
        ]

    @pytest.mark.parametrize(
        ("given", "each", "calls"),
        [
            ({}, 62, 124),
            ({"set_rounds": 1, "set_planners": 2}, 16, 32),
            ({"tasks": "kite"}, 62, 62),
        ],
    )
    def test_calls_are_counted_before(
        self,
        researcher: Client,
        answers: dict[str, Any],
        given: dict[str, Any],
        each: int,
        calls: int,
    ) -> None:
        page = researcher.get(NEW, {**answers, **given}, headers={"HX-Request": "true"})
        size = page.context["size"]
        assert (size["each"], size["calls"]) == (each, calls)
        assert "<html" not in page.content.decode()

    def test_calls_to_models_are_told_with_what_they_will_cost(
        self, researcher: Client, answers: dict[str, Any], problems: Dataset
    ) -> None:
        """Of 62 calls 6 go to the model as first planner and 6 to it as checker."""
        create_endpoint(name="m", title="M", base_url="http://localhost:1/v1", model="m")
        given = {**answers, "role_agent_1": "endpoint:m", "role_checker_1": "endpoint:m"}
        size = researcher.get(NEW, given).context["size"]
        assert (size["paid_calls"], size["estimate"]) == (2 * (6 + 6), None)
        run = RunFactory(dataset=problems, level="")
        by = AnswererVersionFactory(kind="endpoint", name="m")
        for number in range(1, 6):
            row = TrajectoryFactory(
                run=run, task=problems.tasks.all()[0], profile=None, attempt=number
            )
            for step, role in enumerate(("agent", "checker")):
                ExchangeFactory(trajectory=row, role=role, step=step, answerer=by, cost=0.5)
        page = researcher.get(NEW, given)
        assert page.context["size"]["estimate"].amount == 2 * (0.5 + 0.5)
        assert "Likely cost, if all pass the filter: about" in page.content.decode()
        researcher.post(NEW, given)
        begun = Run.objects.get(kind=Run.Kind.CONSTRUCTION)
        assert begun.agent.endpoint is not None
        assert begun.roles["checker"][0]["endpoint"] == "m"

    def test_it_begins(self, researcher: Client, answers: dict[str, Any]) -> None:
        given = {**answers, "seed": 5, "set_rounds": 2, "tasks": "kite", "name": "Pilot"}
        response = researcher.post(NEW, given)
        run = Run.objects.get()
        assert response["Location"] == reverse("benchmarks:run", args=[run.pk])
        assert (run.kind, run.seed, run.settings["rounds"]) == (Run.Kind.CONSTRUCTION, 5, 2)
        assert [task.external_id for task in Task.objects.filter(trajectories__run=run)] == ["kite"]
        page = researcher.get(response["Location"]).content.decode()
        assert (
            "Scripted construction" in page
            and "<h1>Pilot " in page
            and "construction</span>" in page
        )
        assert "construction" in researcher.get("/runs/").content.decode()

    @pytest.mark.parametrize(
        ("field", "value", "said"),
        [
            ("set_rounds", "9", "at most 6"),
            ("tasks", "nobody", "no task nobody"),
            ("role_checker_1", "nobody", "Select a valid choice"),
        ],
    )
    def test_what_is_wrong_is_said_and_nothing_begins(
        self, researcher: Client, answers: dict[str, Any], field: str, value: str, said: str
    ) -> None:
        response = researcher.post(NEW, {**answers, field: value})
        assert response.status_code == 422
        assert said in response.content.decode()
        assert not Run.objects.exists()

    def test_problems_are_constructed_from_and_not_run(
        self, researcher: Client, problems: Dataset
    ) -> None:
        page = researcher.get(f"/datasets/{problems.pk}/").content.decode()
        assert f"{NEW}?dataset={problems.pk}" in page and "/runs/new/" not in page
        assert researcher.get("/runs/new/").context["datasets"] == []


class TestImporting:
    def send(self, client: Client, name: str, content: bytes) -> str:
        """The page of the job that the file became, when that has ended."""
        file = SimpleUploadedFile(name, content)
        sent = client.post(IMPORT, {"file": file, "name": "Kites"})
        perform(job_id=Job.objects.latest("pk").pk, owner="test")
        return client.get(sent["Location"]).content.decode()

    def test_rows_come_in(self, researcher: Client) -> None:
        page = self.send(researcher, "p.csv", b"problem,solution\nA kite hangs.,1. Fetch a rake.\n")
        dataset = Dataset.objects.get()
        assert f'href="/datasets/{dataset.pk}/"' in page
        assert (dataset.name, dataset.source) == ("Kites", "p.csv")

    def test_faults_are_told_by_place(self, researcher: Client) -> None:
        page = self.send(researcher, "p.json", b'[{"problem": "<b>A</b>"}]')
        assert "p.json, [0], solution" in page
        assert not Dataset.objects.exists()
        assert not Upload.objects.exists()

    def test_what_a_workbook_declares_is_refused_at_once(self, researcher: Client) -> None:
        file = SimpleUploadedFile("p.xlsx", b"no workbook")
        response = researcher.post(IMPORT, {"file": file, "name": "Kites"})
        assert response.status_code == 422
        assert "expected an xlsx workbook, found a file that is no zip" in response.content.decode()
        assert not Job.objects.exists() and not Upload.objects.exists()

    def test_a_list_where_a_text_belongs_is_told_by_file_entry_and_field(
        self, researcher: Client, tmp_path: Path
    ) -> None:
        answer = {"model": "m", "annotation": ["correct_efficient"], "solution": "1. Pull it."}
        workbook = write_workbook(tmp_path / "p.xlsx", [row()])
        files = {
            "file": SimpleUploadedFile("p.xlsx", workbook.read_bytes()),
            "results": SimpleUploadedFile("r.json", json.dumps({"17": [answer]}).encode()),
        }
        sent = researcher.post(IMPORT, {**files, "name": "MacGyver"})
        perform(job_id=Job.objects.latest("pk").pk, owner="test")
        text = html.unescape(researcher.get(sent["Location"]).content.decode())
        assert "r.json, problem '17'[0].annotation" in text
        assert "expected nothing, or one of correct_efficient" in text
        assert not Dataset.objects.exists()


class TestTheDataset:
    def test_it_is_made_with_what_is_missing_told(self, researcher: Client) -> None:
        run = make_construction("constructed", None)
        url = f"/runs/{run.pk}/dataset/"
        page = researcher.get(url).content.decode()
        assert "1 problem is missing" in page and "Make a dataset of 1 task<" in page
        response = researcher.post(url, {"name": "Kites", "licence": ""})
        dataset = Dataset.objects.get(name="Kites")
        assert response["Location"] == f"/datasets/{dataset.pk}/"
        again = researcher.post(url, {"name": "Others"}, follow=True).content.decode()
        assert "stored as Kites 1 already" in again

    def test_nothing_can_be_made_of_nothing(self, researcher: Client) -> None:
        url = f"/runs/{make_construction('filtered_out').pk}/dataset/"
        assert "Nothing is constructed yet" in researcher.get(url).content.decode()
        response = researcher.post(url, {"name": "Kites"})
        assert response.status_code == 422
        assert "has constructed no task yet" in response.content.decode()

    def test_other_runs_have_none(self, researcher: Client) -> None:
        (run,) = start_sample_runs()
        assert researcher.get(f"/runs/{run.pk}/dataset/").status_code == 404

    def test_its_page_tells_sizes_origin_and_label(self, researcher: Client, made: Dataset) -> None:
        page = researcher.get(f"/datasets/{made.pk}/").content.decode()
        assert "Scripted construction" in page
        assert f"/runs/{made.made_by_id}/" in page
        assert "9.76" in page and "One profile has no spread" in page
        assert reverse("annotation:filter_check", args=[made.pk]) in page

    def test_the_published_format(
        self, researcher: Client, made: Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = f"/datasets/{made.pk}/file/"
        response = researcher.get(url)
        (query,) = response.json()["data"]
        assert "attachment" in response["Content-Disposition"]
        assert query["ban_pool"][0]["tools"] == ["There is no ladder."]
        closed = blinding.ClosedRows(tasks=[made.tasks.get().pk])
        monkeypatch.setattr(blinding, "_rules", [lambda user: closed])
        assert researcher.get(url).status_code == 404
        assert url not in researcher.get(f"/datasets/{made.pk}/").content.decode()


class TestGrowth:
    def test_who_brought_what_and_why_it_went(self, reader: Client, made: Dataset) -> None:
        task = made.tasks.get()
        url = f"/tasks/{task.pk}/growth/"
        assert url in reader.get(f"/tasks/{task.pk}/").content.decode()
        page = reader.get(url).content.decode()
        for words in (
            "Planner 2: Takes what is at hand", "Planners 1, 3 · ladder", "From: No ladder.",
            "Removed by the checker: It is needed.", "<s>No rake here.</s>",
        ):  # fmt: skip
            assert words in page, words

    def test_nothing_is_told_where_nothing_is_known(self, reader: Client) -> None:
        assert reader.get(f"/tasks/{TaskFactory().pk}/growth/").status_code == 404
