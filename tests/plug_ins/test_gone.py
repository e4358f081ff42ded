"""What a plug-in made stays readable when it is uninstalled, and everything else works."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.services import store_questionnaire
from annotation.studies.setup import NewItem, store_study
from benchmarks.core.registry import SYSTEMS
from benchmarks.models import Agent, Dataset, Run
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.services import retry_trajectory, start_runs
from tests.annotation.rows import make_person
from tests.factories.benchmarks import play

pytestmark = [pytest.mark.django_db, pytest.mark.either]

TARGET = "tests.plug_ins.package.toy_plug_ins.counting.system:SYSTEM"
SYSTEM = "counting", ("Counting", TARGET)
QUESTIONS = Path(__file__).parent / "package" / "toy_plug_ins" / "boldness.v1.yaml"


@pytest.fixture
def rita() -> User:
    return make_person("rita", superuser=True)


@pytest.fixture
def run(rita: User, tmp_path: Path) -> Iterator[Run]:
    """A run of a system that was a plug-in, with a study about it."""
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps([1, 20]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SYSTEMS, *SYSTEM)
        call_command("import_dataset", "counting", str(path), name="Numbers")
        ensure_scripted_agents()
        agent = Agent.objects.get(system="counting")
        (run,) = start_runs(dataset=Dataset.objects.get(), agents=[agent])
        play(run)
        asked = store_questionnaire(name="boldness", text=QUESTIONS.read_text(), by=rita)
        study = Study(name="Bold", questionnaire=asked.id, status=Study.Status.OPEN)
        items = [NewItem(trajectory=row.pk) for row in run.trajectories.all()]
        store_study(
            study=study, items=items, people=[make_person("ann")], lists=[range(2)], by=rita
        )
    load_questionnaire.cache_clear()
    yield run
    load_questionnaire.cache_clear()


def test_a_run_that_is_not_over_goes_on_when_its_system_is_back(run: Run) -> None:
    run.trajectories.filter(task__external_id="n1").update(status="pending", termination="")
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    play(run)
    failed = run.trajectories.get(task__external_id="n1")
    assert failed.status == "failed" and "unknown system 'counting'" in failed.problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SYSTEMS, *SYSTEM)
        retry_trajectory(trajectory=failed)
        play(run)
    failed.refresh_from_db()
    assert (failed.status, failed.termination) == ("done", "right")


def test_every_page_works_without_the_system(
    run: Run, rita: User, subtests: pytest.Subtests
) -> None:
    study, trajectory = Study.objects.get(), run.trajectories.order_by("pk")[0]
    urls = [
        "/", "/runs/", f"/runs/{run.pk}/", f"/runs/{run.pk}/report.html", "/runs/new/",
        f"/datasets/{run.dataset_id}/", "/datasets/", "/agents/", "/trajectories/",
        f"/trajectories/{trajectory.pk}/", "/analysis/", "/analysis/leaderboard/",
        f"/analysis/leaderboard/?dataset={run.dataset_id}", f"/analysis/ratings/?study={study.pk}",
        "/analysis/agreement/", "/studies/", f"/studies/{study.pk}/", "/studies/new/",
        f"/studies/{study.pk}/items/", "/questionnaires/", "/questionnaires/boldness/1/",
        "/experiments/", "/experiments/new/", "/sessions/", "/endpoints/",
        f"/runs/{run.pk}/verification/", "/failure-labels/", "/server/",
    ]  # fmt: skip
    client = Client()
    client.force_login(rita)
    for url in urls:
        with subtests.test(url=url):
            assert client.get(url, follow=True).status_code == 200
    client.force_login(study.memberships.get(role="annotator").user)
    for url in ("/", f"/studies/{study.pk}/annotate/1/"):
        with subtests.test(url=url):
            assert client.get(url, follow=True).status_code == 200
