"""The system and the questionnaire of an installed package do all that our own do.

Its tasks are imported, it is run, played by a person, judged by people, analysed and exported.
"""

import io
import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from analysis.pages.catalogue import PAGES
from analysis.reproduction.manifest import product_now
from annotation.desk.services import submit_assignment
from annotation.live.setup.sessions import make_session
from annotation.models import StoredQuestionnaire, Study
from annotation.ratings.services import record_rating
from annotation.studies.setup import NewItem, store_study
from benchmarks.core import plugins
from benchmarks.exports.services import export_run
from benchmarks.jobs import wake_up
from benchmarks.models import Agent, Dataset, Job, Run, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import start_runs
from benchmarks.source_digest import sealed_plug_in
from tests.annotation.live_sessions import asked, carry, make_live_study
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def rita() -> User:
    return make_person("rita", superuser=True)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """The dataset as the one import command makes it."""
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps([1, 3, 20]))
    out = io.StringIO()
    call_command("import_dataset", "counting", str(path), name="Three numbers", stdout=out)
    assert out.getvalue().strip() == "Three numbers 1: 3 tasks"
    return Dataset.objects.get(system="counting")


def test_a_wrong_file_is_refused_in_a_process_of_its_own(rita: User) -> None:
    file = SimpleUploadedFile("numbers.json", b'[1, "two"]')
    sent = {"file": file, "format": "counting:numbers", "name": "Wrong"}
    page = client_of(rita).post("/datasets/import/", sent, follow=True)
    assert page.status_code == 200, page.content
    job = Job.objects.get()
    wake_up.wake_for_job(job.pk)
    page = client_of(rita).get(page.redirect_chain[-1][0])
    assert "expected a whole number, or one with an id" in page.content.decode()


@pytest.fixture
def run(dataset: Dataset) -> Run:
    """The scripted agent on all of it."""
    ensure_scripted_agents()
    agent = Agent.objects.get(system="counting", policy="counting-up")
    (run,) = start_runs(dataset=dataset, agents=[agent])
    play(run)
    return run


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_it_is_run_and_shown(run: Run, rita: User) -> None:
    ended = dict(run.trajectories.values_list("task__external_id", "termination"))
    assert ended == {"n1": "right", "n3": "right", "n20": "spent"}
    client = client_of(rita)
    assert "Counting" in client.get(f"/runs/{run.pk}/").content.decode()
    page = client.get(f"/trajectories/{run.trajectories.get(task__external_id='n3').pk}/")
    assert "The number was named." in page.content.decode()
    assert "Guess 3: 3" in page.content.decode()


def test_a_person_plays_it_live(dataset: Dataset) -> None:
    ensure_scripted_agents()
    pia = make_person("pia")
    session = make_session(
        study=make_live_study(system="counting", mode="agent"),
        agent=Agent.objects.filter(kind=Agent.Kind.HUMAN)[0],
        task=dataset.tasks.get(external_id="n3"), level="", settings={}, players=[pia], by=None,
    )  # fmt: skip
    client, url = client_of(pia), f"/sessions/{session.pk}/"
    assert client.post(f"{url}ready/").status_code == 302
    carry(session)
    for number in (5, 3):
        (ask,) = asked(session)
        assert 'name="number"' in client.get(url).content.decode()
        reply = {"from_fields": "1", "number": str(number)}
        assert client.post(f"{url}reply/{ask.pk}/", reply).status_code == 302
        carry(session)
    assert session.trajectory.termination == "right"
    assert "You named the number." in client.get(url).content.decode()


def test_people_judge_it(run: Run, rita: User) -> None:
    ann = make_person("ann")
    study = Study(name="Bold", questionnaire="boldness@1", status=Study.Status.OPEN)
    trajectory = run.trajectories.get(task__external_id="n3")
    items = [NewItem(trajectory=trajectory.pk)]
    store_study(study=study, items=items, people=[ann], lists=[range(1)], by=rita)
    assignment = study.assignments.get(annotator=ann, part="main")
    page = client_of(ann).get(f"/studies/{study.pk}/annotate/1/")
    assert page.status_code == 200 and "Boldness" in page.content.decode()
    for turn in assignment.item.subjects["turn"]:
        record_rating(
            assignment=assignment, by=ann, question="boldness", value=4, subject=f"turn-{turn}",
            client_id=uuid4(),
        )  # fmt: skip
    submit_assignment(assignment=assignment, by=ann)
    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    # The study keeps its questions if the package is changed or uninstalled.
    assert "id: boldness" in StoredQuestionnaire.objects.get(name="boldness", version=1).text
    assert "toy-plug-ins 1.2" in client_of(rita).get("/questionnaires/").content.decode()


def test_the_questionnaire_is_chosen_when_a_study_is_made(run: Run, rita: User) -> None:
    make_person("ann")
    client, draft = client_of(rita), ""
    steps: dict[str, dict[str, Any]] = {
        "items": {"name": "Bold", "way": "all", "source": f"{run.experiment_id}:"},
        "form": {"questionnaire": "boldness@1"},
        "people": {"dealing": "named", "annotators": ["ann"], "raters": "1"},
        "dealing": {"order": "blocks", "seed": "3"},
        "before": {"information": "Read this.", "pass_mark": "75"},
    }
    for step, fields in steps.items():
        sent = {"step": step, "go": "next", "draft": draft, **fields}
        page = client.post("/studies/new/", sent)
        assert page.status_code == 200, step
        draft = page.context["draft"].text
    assert "Boldness of every guess, version 1" in page.content.decode()
    client.post("/studies/new/", {"step": "", "go": "create", "draft": draft})
    assert Study.objects.get().questionnaire == "boldness@1"


def test_a_run_records_the_package(run: Run, rita: User) -> None:
    pin = run.pins["plug_in"]
    assert (pin["kind"], pin["name"]) == ("systems", "counting")
    assert (pin["package"], pin["version"], len(pin["sha256"])) == ("toy-plug-ins", "1.2", 64)
    words = "counting of toy-plug-ins 1.2"
    assert words in client_of(rita).get(f"/runs/{run.pk}/").content.decode()
    assert words in client_of(rita).get(f"/runs/{run.pk}/report.html").content.decode()
    assert sealed_plug_in(plugins.loaded[0]) in product_now()["plug_ins"]


@pytest.mark.parametrize("name", sorted(PAGES))
def test_it_is_analysed(name: str, run: Run, rita: User) -> None:
    page = client_of(rita).get(f"/analysis/{name}/?dataset={run.dataset_id}", follow=True)
    assert page.status_code == 200


def test_the_leaderboard_has_its_measures(run: Run, rita: User) -> None:
    page = client_of(rita).get(f"/analysis/leaderboard/?dataset={run.dataset_id}", follow=True)
    assert "Guesses" in page.content.decode()


def test_it_is_exported(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "run.jsonl"
    assert export_run(run=run, format="openai-chat", target=target) == 3
    rows = [json.loads(line) for line in target.read_text().splitlines()]
    assert {row["task_id"] for row in rows} == {"n1", "n3", "n20"}
    assert Trajectory.objects.filter(run=run).count() == len(rows)
