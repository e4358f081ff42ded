"""Tests of files that a job writes: progress, bounds, and who gets them."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.reports import deferred_files
from analysis.reports.deferred_files import AT_ONCE, KIND, MOST_WAITING
from analysis.reports.deferred_reports import request_deferred
from benchmarks.jobs.services import perform
from benchmarks.models import Job, Run
from tests.analysis.rows import flat, make_dataset, make_person, make_run, make_trajectory

pytestmark = pytest.mark.django_db
S = Job.Status
HTML = {"Accept": "text/html"}


@pytest.fixture(autouse=True)
def _workers_are_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs stay queued until a test performs them, and no request waits for one."""
    monkeypatch.setattr(deferred_files, "request_deferred", request_deferred)
    monkeypatch.setattr(deferred_files, "PATIENCE", 0.0)
    caches["reports"].clear()


@pytest.fixture
def run() -> Run:
    made = make_run(make_dataset(), "ada")
    for task in (1, 2, 3):
        make_trajectory(made, task, scores=[flat(4), flat(5)], accurate=task % 2)
    return made


@pytest.fixture
def rita() -> User:
    return make_person("rita", "view_results")


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def csv_of(run: Run, **query: Any) -> str:
    address = {"dataset": run.dataset_id, **query}
    return reverse("analysis:leaderboard_table", kwargs={"part": "board"}, query=address)


def test_a_browser_waits_on_a_page_and_then_gets_the_file(run: Run, rita: User) -> None:
    client = signed_in(rita)
    page = client.get(csv_of(run), headers=HTML)
    assert page.status_code == 202
    assert "Waiting for a worker" in page.content.decode()
    (job,) = Job.objects.filter(kind=KIND)
    *_, again = re.findall(r'hx-get="([^"]+)"', page.content.decode())  # after the search
    poll = again.replace("&amp;", "&")
    Job.objects.filter(pk=job.pk).update(status=S.RUNNING, message="computing Leaderboard")
    part = client.get(poll, headers={"HX-Request": "true"}).content.decode()
    assert "computing Leaderboard" in part and "<html" not in part
    Job.objects.filter(pk=job.pk).update(status=S.QUEUED)
    perform(job_id=job.pk, owner="tests")
    part = client.get(poll, headers={"HX-Request": "true"}).content.decode()
    assert "data-download-now" in part and "hx-trigger" not in part
    # More data came while it was written: the one who waited gets what was written.
    make_trajectory(run, 4, scores=[flat(1)], accurate=0)
    Run.objects.filter(pk=run.pk).update(data_version=run.data_version + 1)
    file = client.get(poll)
    assert file["Content-Type"].startswith("text/csv")
    assert file.content.startswith(b"agent,kind,run")
    assert "attachment" in file["Content-Disposition"]
    assert Job.objects.filter(kind=KIND).count() == 1


def test_a_program_is_told_to_ask_again(run: Run, rita: User) -> None:
    answer = signed_in(rita).get(csv_of(run))
    assert (answer.status_code, answer["Retry-After"]) == (202, "2")
    assert answer["Content-Type"].startswith("text/plain")


def test_what_the_page_has_computed_needs_no_job(run: Run, rita: User) -> None:
    client = signed_in(rita)
    client.get(reverse("analysis:leaderboard", query={"dataset": run.dataset_id}))
    assert client.get(csv_of(run)).status_code == 200
    assert not Job.objects.exists()


def test_a_report_that_was_stored_meanwhile_is_the_file(run: Run, rita: User) -> None:
    client = signed_in(rita)
    assert client.get(csv_of(run)).status_code == 202
    client.get(reverse("analysis:leaderboard", query={"dataset": run.dataset_id}))
    perform(job_id=Job.objects.get(kind=KIND).pk, owner="tests")
    assert Job.objects.get(kind=KIND).status == S.DONE
    assert client.get(csv_of(run)).content.startswith(b"agent,kind,run")


def test_a_person_has_a_bounded_number_of_files_under_way(run: Run, rita: User) -> None:
    for number in range(MOST_WAITING):
        Job.objects.create(kind=KIND, title=f"file {number}", created_by=rita)
    refused = signed_in(rita).get(csv_of(run), headers=HTML)
    assert refused.status_code == 429
    assert "10 files of yours are being written" in refused.content.decode()
    assert signed_in(make_person("otto", "view_results")).get(csv_of(run)).status_code == 202


def test_few_files_are_written_at_once(
    run: Run, rita: User, django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = timezone.now() + timedelta(seconds=60)
    others = [
        Job.objects.create(kind=KIND, title="other", status=S.RUNNING, lease_until=later)
        for _ in range(AT_ONCE)
    ]
    signed_in(rita).get(csv_of(run))
    job = Job.objects.filter(kind=KIND).latest("pk")
    perform(job_id=job.pk, owner="tests")
    job.refresh_from_db()
    assert job.status == S.QUEUED
    # The one that ends wakes the next.
    woken: list[int] = []
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", woken.append)
    Job.objects.filter(pk=others[0].pk).update(status=S.QUEUED)
    with django_capture_on_commit_callbacks(execute=True):
        perform(job_id=others[0].pk, owner="tests")
    assert woken == [job.pk]
    perform(job_id=job.pk, owner="tests")
    job.refresh_from_db()
    assert job.status == S.DONE


def test_a_file_is_written_with_the_rights_of_its_person_and_for_nobody_else(
    run: Run, rita: User
) -> None:
    signed_in(rita).get(csv_of(run))
    job = Job.objects.get(kind=KIND)
    rita.user_permissions.clear()
    perform(job_id=job.pk, owner="tests")
    job.refresh_from_db()
    assert job.status == S.FAILED
    # Whoever names the job of another person gets one of their own.
    otto = signed_in(make_person("otto", "view_results"))
    assert otto.get(csv_of(run, job=job.pk)).status_code == 202
    assert Job.objects.filter(kind=KIND).count() == 2


def test_what_failed_says_why_and_can_be_tried_again(run: Run, rita: User) -> None:
    client = signed_in(rita)
    client.get(csv_of(run))
    Job.objects.filter(kind=KIND).update(status=S.FAILED, message="The disk is full.")
    page = client.get(csv_of(run), headers=HTML).content.decode()
    assert "could not be written" in page and "The disk is full." in page
    link = re.search(r'href="([^"]+again=1)"', page)
    assert link is not None
    assert client.get(link[1].replace("&amp;", "&"), headers=HTML).status_code == 202
    assert Job.objects.filter(kind=KIND, status=S.QUEUED).count() == 1
