"""Deletions: a dry run that counts, refusals, a mark that hides, and a job that can be killed."""

import json
from typing import Any
from zipfile import ZipFile

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from analysis.search.index import TURNS, add_rows, rows_of_turn
from analysis.search.matches import find_trajectories
from annotation.deletion.studies import begin_with_studies, plan_study_deletion
from annotation.demo.deletion import begin_demo_deletion, plan_demo_deletion
from annotation.demo.services import PASSWORD
from annotation.demo.studies import ACCOUNTS
from annotation.errors import Refused
from annotation.models import RatingEdit, Remark, Study, StudyEvent
from annotation.remarks.services import add_remark
from benchmarks.api.tokens import create_token
from benchmarks.deletion import services
from benchmarks.deletion.plans import may_delete, plan_dataset, plan_experiment, plan_run
from benchmarks.deletion.services import DeletionError, begin_deletion, trajectories_deleted
from benchmarks.jobs.services import perform, retry_job
from benchmarks.models import Dataset, Experiment, Job, Run, Task, Trajectory, Turn
from benchmarks.visibility import Visibility
from tests.annotation.judged import make_judged, say
from tests.annotation.rows import make_person, make_runs

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def root(db: None) -> User:
    return make_person("root", superuser=True)


@pytest.fixture
def study(ann: User, manager: User) -> Study:
    study = make_judged([ann], manager, items=2)
    say(study, ann, 1, {"safety": 2})
    return study


def work(job: Job) -> Job:
    perform(job_id=job.pk, owner="host:1:1")
    job.refresh_from_db()
    return job


def close(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(status=Study.Status.CLOSED)
    study.refresh_from_db()


def rows_left() -> dict[str, int]:
    """Count the rows of runs and studies, by table."""
    models = [*apps.get_app_config("benchmarks").get_models()]
    models += apps.get_app_config("annotation").get_models()
    counted = {m.__name__: m._base_manager.count() for m in models}
    kept = {"Job", "Agent", "Annotator", "FailureLabel", "FailureWording", "AllowedHost"}
    return {name: count for name, count in counted.items() if count and name not in kept}


def test_a_run_goes_with_all_its_rows_and_nothing_else(root: User) -> None:
    first, second = make_runs(tasks=3)
    trajectory = first.trajectories.order_by("pk")[0]
    add_remark(trajectory=trajectory, by=root, text="A note.")
    plan = plan_run(first)
    assert plan.counts == {"Runs": 1, "Trajectories": 3, "Notes beside trajectories": 1}
    told: list[int] = []

    def hear(sender: object, ids: list[int], **about: Any) -> None:
        told.extend(ids)

    trajectories_deleted.connect(hear)
    gone = set(first.trajectories.values_list("pk", flat=True))
    job = work(begin_deletion(plan, by=root))
    trajectories_deleted.disconnect(hear)
    assert (job.status, job.done, job.total) == ("done", 3, 3) and set(told) == gone
    assert list(Run.objects.all()) == [second] and second.trajectories.count() == 3
    assert not Remark._base_manager.exists()
    assert Turn.objects.count() == 6 and Experiment.objects.filter(pk=second.experiment_id).exists()
    entry = LogEntry.objects.get(user=root)
    assert (entry.object_repr, entry.is_deletion()) == (f"run {first.pk}", True)


def test_the_search_finds_no_deleted_run(root: User, client: Client) -> None:
    first, second = make_runs(tasks=1)
    for turn in Turn.objects.order_by("pk"):
        add_rows(TURNS, rows_of_turn(turn.trajectory_id, turn.index, turn.text, turn.feedback))
    gone, left = (run.trajectories.get().pk for run in (first, second))
    assert set(find_trajectories(words="hammer").tolist()) == {gone, left}
    assert work(begin_deletion(plan_run(first), by=root)).status == Job.Status.DONE
    assert left in find_trajectories(words="hammer").tolist()
    client.force_login(root)
    page = client.get("/trajectories/?q=hammer")
    assert page.status_code == 200
    assert f"/trajectories/{gone}/" not in page.content.decode()


def test_ratings_keep_the_runs_that_they_are_about(study: Study, root: User) -> None:
    item = study.items.order_by("rank")[0]
    assert item.trajectory is not None
    run = item.trajectory.run
    plan = plan_run(run)
    assert "needs the trajectories" in plan.refusals[0].words
    assert plan.refusals[0].url == reverse("annotation:study_settings", args=[study.pk])
    with pytest.raises(DeletionError, match="Judged"):
        begin_deletion(plan, by=root)
    assert Run.objects.get(pk=run.pk).removed_at is None


@pytest.mark.parametrize("status", ["queued", "running", "paused", "waiting"])
def test_a_run_at_work_is_cancelled_first(status: str) -> None:
    run, _ = make_runs(tasks=1)
    Run.objects.filter(pk=run.pk).update(status=status)
    assert "Cancel it first" in plan_run(run).refusals[0].words


def test_what_is_marked_is_hidden_at_once_and_a_killed_job_goes_on(
    root: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "PORTION", 2)
    first, second = make_runs(tasks=5)
    job = begin_deletion(plan_run(first), by=root)
    seen = Visibility.to(root)
    assert list(seen.of(Run.objects.all())) == [second]
    assert not seen.of(first.trajectories.all()).exists()
    assert seen.of(Task.objects.all()).count() == 5  # tasks of the other run stay in sight
    client.force_login(root)
    assert client.get(reverse("benchmarks:run", args=[first.pk])).status_code == 404
    assert "being deleted already" in plan_run(first).refusals[0].words

    def killed(sender: object, **about: Any) -> None:
        if Trajectory.objects.filter(run=first).count() < 3:
            raise KeyboardInterrupt

    trajectories_deleted.connect(killed)
    with pytest.raises(KeyboardInterrupt):
        perform(job_id=job.pk, owner="host:1:1")
    trajectories_deleted.disconnect(killed)
    assert Trajectory.objects.filter(run=first).exists()
    assert not Visibility.to(root).of(Trajectory.objects.filter(run=first)).exists()
    Job.objects.filter(pk=job.pk).update(status=Job.Status.QUEUED)
    assert work(job).status == Job.Status.DONE
    assert list(Run.objects.all()) == [second]


def test_a_study_that_comes_in_between_keeps_its_runs(
    study: Study, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    item = study.items.order_by("rank")[0]
    assert item.trajectory is not None
    run = item.trajectory.run
    Run.objects.filter(pk=run.pk).update(removed_at=study.created_at)
    payload = {"runs": [run.pk], "datasets": [], "companions": [], "experiments": []}
    job = work(Job.objects.create(kind=services.KIND, title="Deleting", payload=payload))
    assert job.status == Job.Status.FAILED and "needs the trajectories" in job.message
    run.refresh_from_db()
    assert run.removed_at is None and run.trajectories.exists()


def test_an_experiment_and_then_its_dataset(root: User) -> None:
    run, _ = make_runs(tasks=2)
    assert run.experiment is not None
    dataset = run.dataset
    assert "uses the dataset" in plan_dataset(dataset).refusals[0].words
    work(begin_deletion(plan_experiment(run.experiment), by=root))
    job = begin_deletion(plan_dataset(dataset), by=root)
    assert not Visibility.to(root).of(Dataset.objects.all()).exists()
    assert not Visibility.to(root).of(Task.objects.all()).exists()
    assert work(job).status == Job.Status.DONE
    assert rows_left() == {}


def test_who_may_delete_what() -> None:
    run, other = make_runs(tasks=1)
    starter = make_person("starter", "view_results", "start_runs")
    viewer = make_person("viewer", "view_results")
    experiment, dataset = run.experiment, run.dataset
    assert experiment is not None

    def own(user: User) -> list[bool]:
        Run.objects.filter(pk=run.pk).update(created_by=user)
        Experiment.objects.update(created_by=user)
        run.refresh_from_db()
        experiment.refresh_from_db()
        return [
            may_delete(user, run, plan_run(run)),
            may_delete(user, experiment, plan_experiment(experiment)),
        ]

    assert own(viewer) == [False, False]
    assert not may_delete(starter, run, plan_run(run))
    assert own(starter) == [True, False]  # the experiment has a run of somebody else
    Run.objects.filter(pk=other.pk).update(created_by=starter)
    assert own(starter) == [True, True]
    assert not may_delete(starter, dataset, plan_dataset(dataset))
    result = {"result": {"dataset": dataset.pk, "created": True}}
    Job.objects.create(kind="import", title="", payload=result, created_by=starter)
    assert may_delete(starter, dataset, plan_dataset(dataset))


def test_a_closed_study_goes_and_its_trajectories_stay(
    study: Study, root: User, manager: User, ann: User, client: Client
) -> None:
    trajectories = Trajectory.objects.count()
    with pytest.raises(Refused, match="not closed"):
        begin_with_studies(plan_study_deletion(study), by=manager)
    close(study)
    plan = plan_study_deletion(study)
    assert plan.counts["Items"] == 2 and plan.counts["Changes of answers"] > 0
    client.force_login(manager)
    address = reverse("annotation:study_delete", args=[study.pk])
    assert "Changes of answers" in client.get(address).content.decode()
    assert client.post(address).status_code == 302
    for person in (manager, ann, root):
        client.force_login(person)
        assert client.get(reverse("annotation:study", args=[study.pk])).status_code == 404
    job = work(Job.objects.get(kind=services.KIND))
    assert job.status == Job.Status.DONE, job.message
    assert not Study.objects.exists() and not RatingEdit._base_manager.exists()
    assert not StudyEvent._base_manager.exists()
    assert Trajectory.objects.count() == trajectories


def test_the_demo_goes_with_its_studies(study: Study, root: User) -> None:
    other = make_runs(tasks=1, level="high")[0]
    Study.objects.update(is_demo=True)
    demo = Run.objects.exclude(dataset=other.dataset)
    demo.update(is_demo=True)
    Dataset.objects.exclude(pk=other.dataset_id).update(is_demo=True)
    plan = plan_demo_deletion()
    assert not plan.refusals
    assert work(begin_demo_deletion(plan, by=root)).status == Job.Status.DONE
    assert not Study.objects.exists()
    assert set(Run.objects.values_list("dataset", flat=True)) == {other.dataset_id}
    assert not Dataset.objects.filter(is_demo=True).exists()


def test_the_page_and_the_api(root: User, client: Client) -> None:
    first, second = make_runs(tasks=1)
    client.force_login(make_person("starter", "view_results", "start_runs"))
    address = reverse("benchmarks:run_delete", args=[first.pk])
    assert client.get(address).status_code == 403
    client.force_login(root)
    assert "Trajectories" in client.get(address).content.decode()
    assert client.post(address).status_code == 302
    assert Run.objects.get(pk=first.pk).removed_at is not None
    headers = {"Authorization": f"Bearer {create_token(user=root, name='t')[1]}"}
    url = f"/api/v1/runs/{second.pk}"
    dry = client.delete(f"{url}?dry_run=true", headers=headers)
    assert dry.status_code == 200 and dry.json()["counts"] == {"Runs": 1, "Trajectories": 1}
    assert Run.objects.get(pk=second.pk).removed_at is None
    Run.objects.filter(pk=second.pk).update(status="running")
    assert client.delete(url, headers=headers).status_code == 409
    Run.objects.filter(pk=second.pk).update(status="done")
    done = client.delete(url, headers=headers)
    assert done.status_code == 202 and work(Job.objects.get(pk=done.json()["job"])).done == 1


def test_the_command(study: Study, tmp_path: Any, capsys: Any) -> None:
    run, _ = make_runs(tasks=1, level="high")
    call_command("delete", "run", str(run.pk))
    assert "Nothing was deleted. Add --yes" in capsys.readouterr().out
    assert Run.objects.get(pk=run.pk).removed_at is None
    call_command("delete", "run", str(run.pk), "--yes", "--wait")
    assert not Run.objects.filter(pk=run.pk).exists()
    with pytest.raises(CommandError, match="nothing was deleted"):
        call_command("delete", "study", str(study.pk), "--yes")
    close(study)
    given = ["--yes", "--wait", "--archive", str(tmp_path)]
    call_command("delete", "study", str(study.pk), *given)
    (archive,) = tmp_path.iterdir()
    with ZipFile(archive / "study.zip") as file:
        assert json.loads(file.read("study.json"))["events"]
    assert not Study.objects.exists()


def test_the_demo_goes_by_its_page(study: Study, root: User, client: Client) -> None:
    Study.objects.update(is_demo=True)
    Run.objects.update(is_demo=True)
    Dataset.objects.update(is_demo=True)
    close(study)
    demo = User.objects.create_superuser("admin", password=PASSWORD)
    demo.groups.add(Group.objects.create(name=ACCOUNTS))
    address = reverse("annotation:demo_delete")
    client.force_login(make_person("starter", "view_results", "start_runs"))
    assert client.get(address).status_code == 403
    client.force_login(demo)  # who would shut themselves out
    assert "manage.py create_admin NAME" in client.get(address).content.decode()
    client.post(address)
    assert not Job.objects.filter(kind=services.KIND).exists()
    client.force_login(root)
    assert address in client.get(reverse("server")).content.decode()
    loading = Job.objects.create(kind="demo", title="Loading the demo")
    assert "The demo is being loaded" in client.get(address).content.decode()
    loading.delete()
    page = client.get(address).content.decode()
    assert "Changes of answers" in page and "Delete the demo" in page
    assert client.post(address).status_code == 302
    demo.refresh_from_db()
    assert not demo.is_active
    assert work(Job.objects.get(kind=services.KIND)).status == Job.Status.DONE
    assert not Study.objects.exists() and not Dataset.objects.exists()


@pytest.mark.parametrize("by", ["page", "api"])
def test_a_study_is_archived_first_where_wanted(
    study: Study, manager: User, client: Client, settings: Any, tmp_path: Any, by: str
) -> None:
    close(study)
    settings.ARCHIVE_DIR = tmp_path / "file" / "archive"
    (tmp_path / "file").touch()
    client.force_login(manager)
    address = reverse("annotation:study_delete", args=[study.pk])
    assert "Archive the study first" in client.get(address).content.decode()
    if by == "page":
        client.post(address, {"archive": "on"})
    else:
        headers = {"Authorization": f"Bearer {create_token(user=manager, name='t')[1]}"}
        client.delete(f"/api/v1/studies/{study.pk}?archive=true", headers=headers)
    job = work(Job.objects.get(kind=services.KIND))
    assert job.status == Job.Status.FAILED and "the study was not deleted" in job.message
    assert RatingEdit.objects.filter(assignment__study=study).exists()
    settings.ARCHIVE_DIR = tmp_path / "archive"
    retry_job(job=job)
    assert work(job).status == Job.Status.DONE
    (archive,) = settings.ARCHIVE_DIR.iterdir()
    assert job.message == f"Archived: {archive.name}"
    with ZipFile(archive / "study.zip") as file:
        assert json.loads(file.read("study.json"))["study"]["name"] == study.name
    assert not Study.objects.exists()


def test_commands_hide_what_is_being_deleted(study: Study, root: User, capsys: Any) -> None:
    run, _ = make_runs(tasks=1, level="high")
    call_command("metrics", str(run.pk))
    begin_deletion(plan_run(run), by=root)
    commands: list[tuple[Any, ...]] = [
        ("metrics", run.pk), ("verify", run.pk), ("rejudge", "--run", run.pk),
        ("export_trajectories", run.pk, "unused", "--format", "openai-chat"),
        ("construct_dataset", "--run", run.pk),
    ]  # fmt: skip
    for name, *given in commands:
        with pytest.raises(CommandError, match=f"(?i)(no|unknown) run.*{run.pk}"):
            call_command(name, *map(str, given))
    close(study)
    begin_with_studies(plan_study_deletion(study), by=root)
    with pytest.raises(CommandError, match="there is no study"):
        call_command("export_study", str(study.pk), "--out", "unused")
