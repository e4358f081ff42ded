"""Jobs: stored, woken for, claimed by one, given up when their workers die; the sweep of runs."""

import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from benchmarks.jobs import services as jobs
from benchmarks.jobs.services import Progress, cancel_job, enqueue_job, perform
from benchmarks.models import Job, Run, Trajectory
from benchmarks.runs.sweep import sweep
from tests.factories.benchmarks import RunFactory, TrajectoryFactory

S = Job.Status
T = Trajectory.Status


@pytest.fixture
def woken_jobs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the jobs that a worker was woken for."""
    ids: list[int] = []
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", ids.append)
    return ids


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids of the runs that workers were woken for."""
    ids: list[int] = []
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", ids.extend)
    return ids


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Kinds of jobs for the tests, and a note of what was done."""
    done: list[str] = []

    def note(job: Job, progress: Progress) -> None:
        for n in range(1, 4):
            progress.report(done=n, total=3, message=f"part {n}")
            done.append(f"{job.kind} {n}")

    def fail(job: Job, progress: Progress) -> None:
        raise ValueError("line 7 holds no id")

    monkeypatch.setattr(jobs, "WORK", {"note": note, "fail": fail})
    yield done


def make_job(kind: str = "note", **given: Any) -> Job:
    return Job.objects.create(kind=kind, title="Some work", **given)


def ago(seconds: int) -> datetime:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.mark.django_db
def test_a_job_is_woken_for_when_it_is_committed(
    woken_jobs: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = enqueue_job(kind="note", title="Some work", payload={"file": "x"}, total=3)
        assert woken_jobs == []
    assert woken_jobs == [job.pk]
    assert (job.status, job.payload, job.total) == (S.QUEUED, {"file": "x"}, 3)


@pytest.mark.django_db
@pytest.mark.usefixtures("work")
class TestPerforming:
    def test_work_that_succeeds(self) -> None:
        job = make_job()
        perform(job_id=job.pk, owner="one")
        job.refresh_from_db()
        assert (job.status, job.done, job.total, job.message) == (S.DONE, 3, 3, "part 3")
        assert (job.lease_owner, job.lease_until, job.attempts) == ("", None, 1)
        assert job.started_at is not None and job.finished_at is not None

    def test_work_that_fails_says_why(self, caplog: pytest.LogCaptureFixture) -> None:
        job = make_job("fail")
        perform(job_id=job.pk, owner="one")
        job.refresh_from_db()
        assert (job.status, job.message) == (S.FAILED, "ValueError: line 7 holds no id")
        assert "failed" in caplog.text

    def test_a_second_wake_up_finds_nothing_to_do(self, work: list[str]) -> None:
        job = make_job()
        perform(job_id=job.pk, owner="one")
        perform(job_id=job.pk, owner="two")
        assert len(work) == 3

    def test_a_job_under_a_lease_is_left_to_its_worker(self, work: list[str]) -> None:
        job = make_job(status=S.RUNNING, lease_owner="one", lease_until=ago(-30))
        perform(job_id=job.pk, owner="two")
        assert work == []

    def test_a_job_whose_worker_died_is_begun_anew(self, work: list[str]) -> None:
        job = make_job(status=S.RUNNING, lease_owner="dead", lease_until=ago(1), attempts=1)
        perform(job_id=job.pk, owner="two")
        job.refresh_from_db()
        assert (job.status, job.attempts, len(work)) == (S.DONE, 2, 3)

    def test_a_job_that_kills_its_workers_is_given_up(self, work: list[str]) -> None:
        job = make_job(
            status=S.RUNNING, lease_owner="dead", lease_until=ago(1), attempts=jobs.MAX_ATTEMPTS
        )
        perform(job_id=job.pk, owner="two")
        job.refresh_from_db()
        assert job.status == S.FAILED
        assert "given up" in job.message
        assert work == []

    def test_a_report_renews_the_lease(self) -> None:
        job = make_job(status=S.RUNNING, lease_owner="one", lease_until=ago(-1))
        Progress(job, "one").report(done=1)
        job.refresh_from_db()
        assert job.lease_until is not None
        assert job.lease_until > ago(-30)

    def test_a_worker_that_lost_the_job_changes_nothing(self) -> None:
        job = make_job(status=S.RUNNING, lease_owner="heir", lease_until=ago(-30))
        with pytest.raises(jobs.JobCancelled):
            Progress(job, "late").report(done=9)
        job.refresh_from_db()
        assert (job.status, job.done, job.lease_owner) == (S.RUNNING, 0, "heir")


@pytest.mark.django_db
class TestCancelling:
    def test_a_queued_job_is_over_at_once(self, work: list[str]) -> None:
        job = make_job()
        cancel_job(job=job)
        perform(job_id=job.pk, owner="one")
        job.refresh_from_db()
        assert (job.status, work) == (S.CANCELLED, [])

    def test_a_running_job_stops_at_its_next_report(
        self, work: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = make_job()

        def cancelled_half_way(row: Job, progress: Progress) -> None:
            progress.report(done=1)
            cancel_job(job=row)
            progress.report(done=2)
            work.append("went on")

        monkeypatch.setitem(jobs.WORK, "note", cancelled_half_way)
        perform(job_id=job.pk, owner="one")
        job.refresh_from_db()
        assert (job.status, job.done, job.message, work) == (S.CANCELLED, 1, "cancelled", [])

    def test_what_is_over_stays_as_it_is(self) -> None:
        job = make_job(status=S.DONE)
        cancel_job(job=job)
        job.refresh_from_db()
        assert job.status == S.DONE


@pytest.mark.django_db(transaction=True)
def test_of_several_workers_one_does_the_job(work: list[str]) -> None:
    job = make_job()
    gate = threading.Barrier(4)

    def claim(owner: str) -> None:
        gate.wait()
        perform(job_id=job.pk, owner=owner)
        connection.close()

    threads = [threading.Thread(target=claim, args=(str(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    job.refresh_from_db()
    assert (job.status, job.attempts, len(work)) == (S.DONE, 1, 3)


@pytest.mark.django_db
class TestSweep:
    """Times are seconds ago, taken when the test runs; negative ones are yet to come."""

    @pytest.mark.parametrize(
        ("given", "again"),
        [
            ({"status": S.QUEUED, "woken_at": 60}, True),
            ({"status": S.QUEUED, "woken_at": 1}, False),
            ({"status": S.RUNNING, "lease_until": 1}, True),
            ({"status": S.RUNNING, "lease_until": -30}, False),
            ({"status": S.DONE, "woken_at": 60}, False),
            ({"status": S.CANCELLED, "woken_at": 60}, False),
        ],
    )
    def test_jobs_that_nobody_works_on(
        self,
        given: dict[str, Any],
        again: bool,
        woken_jobs: list[int],
        woken: list[int],
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        seconds = {key: value for key, value in given.items() if key != "status"}
        times = {key: ago(value) for key, value in seconds.items()}
        job = make_job(status=given["status"], **times)
        with django_capture_on_commit_callbacks(execute=True):
            assert sweep() == again
        assert woken_jobs == [job.pk] * again

    @pytest.mark.parametrize(
        ("status", "units", "again"),
        [
            (Run.Status.QUEUED, [(T.PENDING, None)], True),
            # A worker that came later may join, unless as many carry the run as may share it.
            (Run.Status.RUNNING, [(T.PENDING, None), (T.RUNNING, -30)], True),
            (Run.Status.RUNNING, [(T.PENDING, None), *[(T.RUNNING, -30)] * 4], False),
            (Run.Status.RUNNING, [(T.RUNNING, 1)], True),
            (Run.Status.RUNNING, [(T.PENDING, None), (T.RUNNING, 1)], True),
            (Run.Status.RUNNING, [(T.DONE, None)], True),
            (Run.Status.WAITING, [(T.WAITING, None)], False),
            (Run.Status.PAUSED, [(T.PENDING, None)], False),
            (Run.Status.CANCELLED, [(T.PENDING, None)], False),
            (Run.Status.DONE, [(T.DONE, None)], False),
            (Run.Status.ATTENTION, [(T.FAILED, None)], False),
        ],
    )
    def test_runs_that_nobody_carries(
        self,
        status: str,
        units: list[tuple[str, int | None]],
        again: bool,
        woken: list[int],
        django_capture_on_commit_callbacks: Any,
    ) -> None:
        run = RunFactory(status=status)
        Run.objects.filter(pk=run.pk).update(created_at=ago(300))
        for state, seconds in units:
            until = None if seconds is None else ago(seconds)
            TrajectoryFactory(run=run, status=state, lease_until=until)
        with django_capture_on_commit_callbacks(execute=True):
            assert sweep() == again
        assert woken == [run.pk] * again

    def test_a_run_that_has_just_begun_was_just_woken_for(self) -> None:
        TrajectoryFactory(run__status=Run.Status.QUEUED, status=T.PENDING)
        assert sweep() == 0

    def test_nothing_is_woken_for_while_messages_wait(self, monkeypatch: Any) -> None:
        make_job(status=S.QUEUED, woken_at=ago(60))
        monkeypatch.setattr(jobs.wake_up, "queue_is_empty", lambda: False)
        assert sweep() == 0
        monkeypatch.undo()
        assert sweep() == 1
