"""Reports that are made in the background: asked for once, kept, told apart from each other."""

import time
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches

from analysis.reports import deferred_reports
from analysis.reports.content import Report
from analysis.reports.deferred_reports import (
    Params,
    ReportRequest,
    find_deferred,
    note_progress,
    report_maker,
    request_deferred,
    run_report_job,
)
from benchmarks.jobs import services as jobs
from benchmarks.jobs.services import cancel_job, perform
from benchmarks.models import Job
from benchmarks.visibility import Visibility
from tests.factories.benchmarks import make_user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_stored_reports")]


@report_maker("echo")
def echo(params: Params, seen: Visibility) -> tuple[str, Callable[[], Report]]:
    """Says its words, under the key that they have now."""

    def write() -> Report:
        if params["words"] == "fail":
            raise ValueError("no such fit")
        if params["words"] == "long":
            note_progress("1 of 2 fits")
            _until_said("1 of 2 fits")
        if params["words"] == "cancelled":
            cancel_job(job=Job.objects.get())
            _until_refused()
        return Report(sentence=f"{params['words']} for {seen.user}")

    return params["key now"], write


def _until_said(words: str) -> None:
    """Wait for the job's own thread, which writes on a connection of its own."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if Job.objects.filter(message=words).exists():
            return
        time.sleep(0.01)
    raise AssertionError("nobody said how far it is")


def _until_refused() -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        note_progress("going on")
        time.sleep(0.01)


@pytest.fixture
def ann(db: None) -> User:
    return make_user("ann")


def wanted(words: str = "a fit", *, key: str = "k1", now: str = "") -> ReportRequest:
    return ReportRequest("echo", {"words": words, "key now": now or key}, key, "A fit")


def test_it_is_asked_for_once_and_there_when_its_job_is_done(ann: User) -> None:
    assert find_deferred(wanted()).unasked
    first, second = (
        request_deferred(wanted=wanted(), person=ann),
        request_deferred(wanted=wanted(), person=ann),
    )
    assert first.moving and second.job == first.job and Job.objects.count() == 1
    assert first.job is not None
    perform(job_id=first.job.pk, owner="w")
    found = find_deferred(wanted())
    assert found.report == Report(sentence="a fit for ann") and not found.moving
    assert (
        request_deferred(wanted=wanted(), person=ann).report is not None
        and Job.objects.count() == 1
    )


def test_one_that_is_stored_while_somebody_looks_is_found(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = request_deferred(wanted=wanted(), person=ann).job
    assert job is not None
    look, looks = deferred_reports.kept_deferred, []

    def look_before_it_is_stored(key: str) -> Report | None:
        found = look(key)
        looks.append(found)
        if len(looks) == 1:
            perform(job_id=job.pk, owner="w")
        return found

    monkeypatch.setattr(deferred_reports, "kept_deferred", look_before_it_is_stored)
    assert find_deferred(wanted()).report == Report(sentence="a fit for ann")


def test_what_was_made_from_other_data_is_kept_as_such(ann: User) -> None:
    state = request_deferred(wanted=wanted(now="k2"), person=ann)
    assert state.job is not None
    perform(job_id=state.job.pk, owner="w")
    assert find_deferred(wanted()).unasked  # so it can be asked for again
    assert find_deferred(wanted(key="k2")).report is not None


def test_a_failure_is_told_and_can_be_tried_again(ann: User) -> None:
    state = request_deferred(wanted=wanted("fail"), person=ann)
    assert state.job is not None
    perform(job_id=state.job.pk, owner="w")
    failed = find_deferred(wanted("fail"))
    assert failed.failed and failed.job is not None and "no such fit" in failed.job.message
    assert request_deferred(wanted=wanted("fail"), person=ann).moving


@pytest.mark.django_db(transaction=True)
def test_how_far_it_is_is_told_while_it_is_written(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.01)
    state = request_deferred(wanted=wanted("long"), person=ann)
    assert state.job is not None
    asked = state.stamp
    perform(job_id=state.job.pk, owner="w")
    found = find_deferred(wanted("long"))
    assert found.report == Report(sentence="long for ann")
    state.job.refresh_from_db()
    assert state.job.message == "1 of 2 fits" and state.stamp != asked
    note_progress("to nobody")  # outside of a job there is nobody to tell


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_one_ends_where_it_tells(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.01)
    state = request_deferred(wanted=wanted("cancelled"), person=ann)
    assert state.job is not None
    perform(job_id=state.job.pk, owner="w")
    found = find_deferred(wanted("cancelled"))
    assert found.failed and found.job is not None
    assert found.job.status == Job.Status.CANCELLED


def test_nothing_is_made_for_whom_is_gone(ann: User) -> None:
    state = request_deferred(wanted=wanted(), person=ann)
    ann.is_active = False
    ann.save()
    assert state.job is not None
    perform(job_id=state.job.pk, owner="w")
    assert find_deferred(wanted()).unasked


def test_a_report_that_is_there_is_not_made_again(ann: User) -> None:
    caches["kept"].set("k1", Report(sentence="there"), 60)
    job = Job(payload={"maker": "echo", "params": wanted("fail").params, "key": "k1"})
    job.created_by = ann
    run_report_job(job, None)  # type: ignore[arg-type]  # nothing is reported: nothing is done
    assert find_deferred(wanted()).report == Report(sentence="there")
