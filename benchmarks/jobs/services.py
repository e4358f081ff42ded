"""Background jobs: the rows are the truth, Celery messages only wake workers.

The sweep (``benchmarks.runs.sweep``) wakes workers again for jobs and runs that a dead worker held
or a lost message forgot.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import Error, connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from benchmarks.core.errors import CoreError
from benchmarks.jobs import wake_up
from benchmarks.jobs.leases import contact
from benchmarks.jobs.threads import ProcessEnds, check_ending
from benchmarks.models import Job

logger = logging.getLogger(__name__)

JOB_LEASE = timedelta(seconds=60)
WAKE_AGAIN_AFTER = timedelta(seconds=20)
MAX_ATTEMPTS = 5
BEAT_SECONDS = 2.0


class JobCancelled(Exception):
    """Raised at a progress report once the job was cancelled or its lease lost."""


def enqueue_job(
    *,
    kind: str,
    title: str,
    payload: Mapping[str, Any] | None = None,
    total: int | None = None,
    created_by: User | None = None,
) -> Job:
    """Store a job, and wake a worker once the transaction is committed."""
    job = Job.objects.create(
        kind=kind,
        title=title,
        payload=dict(payload or {}),
        total=total,
        created_by=created_by,
        woken_at=timezone.now(),
    )
    _wake_on_commit(job.pk)
    return job


def _wake_on_commit(job_id: int) -> None:
    transaction.on_commit(lambda: wake_up.wake_for_job(job_id))


class Progress:
    """The handle with which a job reports progress, renews its lease and sees a cancellation."""

    def __init__(self, job: Job, owner: str) -> None:
        self.job, self.owner = job, owner

    def report(
        self,
        *,
        done: int | None = None,
        total: int | None = None,
        failed: int | None = None,
        message: str | None = None,
    ) -> None:
        given = {"done": done, "total": total, "failed": failed, "message": message}
        changes: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        held = Job.objects.filter(pk=self.job.pk, lease_owner=self.owner, cancel=False)
        if not held.update(lease_until=timezone.now() + JOB_LEASE, **changes):
            raise JobCancelled


@contextmanager
def keep_lease(
    progress: Progress, words: Callable[[], str | None] = lambda: None
) -> Iterator[threading.Event]:
    """Renew a job's lease while its work reports nothing; ``words`` returns a progress text.

    A thread does so on a connection of its own, because the work's open transaction hides what it
    writes. The yielded event is set once the lease is lost: the job was cancelled, or another
    worker took it over.
    """
    over, lost = threading.Event(), threading.Event()

    def beat() -> None:
        while not over.wait(BEAT_SECONDS):
            try:
                progress.report(message=words())
            except JobCancelled:
                lost.set()
                break
            except Error:
                logger.info("lease of job %s not renewed; trying again", progress.job.pk)
                connection.close()
        connection.close()

    thread = threading.Thread(target=beat, name="job-lease", daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        over.set()
        thread.join()


Work = Callable[[Job, Progress], None]
WORK: dict[str, Work] = {}
# Kinds of which only so many jobs run at once, on all machines together.
AT_ONCE: dict[str, int] = {}


def job_kind(name: str, *, at_once: int | None = None) -> Callable[[Work], Work]:
    """Register the work of a kind of job. It can be restarted at any time, so it must resume.

    ``at_once`` bounds how many of the kind run at the same time; the others stay queued.
    """

    def register(work: Work) -> Work:
        WORK[name] = work
        if at_once is not None:
            AT_ONCE[name] = at_once
        return work

    return register


def perform(*, job_id: int, owner: str) -> None:
    """Claim a job and do its work; a second message for the same job finds nothing to claim."""
    check_ending()
    now = timezone.now()
    lapsed = Q(status=Job.Status.RUNNING, lease_until__lt=contact.lapsed_by(now))
    free = Q(status=Job.Status.QUEUED) | lapsed
    if not _has_room(job_id, lapsed):
        return  # the next one of its kind to end wakes it
    claimed = Job.objects.filter(free, pk=job_id).update(
        status=Job.Status.RUNNING,
        lease_owner=owner,
        lease_until=now + JOB_LEASE,
        attempts=F("attempts") + 1,
    )
    if not claimed:
        return
    Job.objects.filter(pk=job_id, started_at=None).update(started_at=now)
    job = Job.objects.get(pk=job_id)
    if job.attempts > MAX_ATTEMPTS:
        _finish(job, owner, Job.Status.FAILED, "given up: its workers died several times")
        return
    try:
        WORK[job.kind](job, Progress(job, owner))
    except JobCancelled:
        _finish(job, owner, Job.Status.CANCELLED, "cancelled")
    except ProcessEnds:
        release_jobs(Job.objects.filter(pk=job.pk, lease_owner=owner))
        raise
    except CoreError as error:  # refused on purpose: its text says all there is to say
        _finish(job, owner, Job.Status.FAILED, str(error))
    except Exception as error:
        logger.exception("job %s (%s) failed", job.pk, job.kind)
        _finish(job, owner, Job.Status.FAILED, f"{type(error).__name__}: {error}")
    else:
        _finish(job, owner, Job.Status.DONE, None)
        logger.info("job %s (%s) is done", job.pk, job.kind)


def _has_room(job_id: int, lapsed: Q) -> bool:
    """Return whether one more job of this kind may run.

    Two workers that look at the same moment may both find room: the bound protects a machine's
    memory and processors, and one job more does them no harm.
    """
    kind = Job.objects.filter(pk=job_id).values_list("kind", flat=True).first()
    if kind not in AT_ONCE:
        return True
    running = Job.objects.filter(kind=kind, status=Job.Status.RUNNING).exclude(lapsed)
    return running.exclude(pk=job_id).count() < AT_ONCE[kind]


def _wake_next(kind: str) -> None:
    """Wake a worker for the oldest queued job of a kind that is bounded."""
    waiting = Job.objects.filter(kind=kind, status=Job.Status.QUEUED).order_by("pk").first()
    if kind in AT_ONCE and waiting is not None:
        _wake_on_commit(waiting.pk)


def _finish(job: Job, owner: str, status: str, message: str | None) -> None:
    changes: dict[str, Any] = {"status": status, "finished_at": timezone.now()}
    if message is not None:
        changes["message"] = message
    Job.objects.filter(pk=job.pk, lease_owner=owner).update(
        lease_owner="", lease_until=None, **changes
    )
    _wake_next(job.kind)


def release_jobs(jobs: QuerySet[Job]) -> int:
    """Put running jobs back into the queue because their worker ends; return how many.

    It is no attempt of theirs. The next sweep wakes another worker for them.
    """
    return jobs.filter(status=Job.Status.RUNNING).update(
        status=Job.Status.QUEUED,
        lease_owner="",
        lease_until=None,
        attempts=Greatest(F("attempts") - 1, 0),
        woken_at=timezone.now() - WAKE_AGAIN_AFTER,
    )


def retry_job(*, job: Job) -> bool:
    """Put a failed job back into the queue; return False if it has not failed."""
    with transaction.atomic():
        failed = Job.objects.filter(pk=job.pk, status=Job.Status.FAILED)
        if not failed.update(
            status=Job.Status.QUEUED,
            attempts=0,
            cancel=False,
            message="",
            finished_at=None,
            woken_at=timezone.now(),
        ):
            return False
        _wake_on_commit(job.pk)
    return True


def cancel_job(*, job: Job) -> None:
    """Ask a job to stop at its next progress report; a queued one is over at once."""
    Job.objects.filter(pk=job.pk).update(cancel=True)
    Job.objects.filter(pk=job.pk, status=Job.Status.QUEUED).update(
        status=Job.Status.CANCELLED, finished_at=timezone.now()
    )


def wake_unattended_jobs() -> int:
    """Wake workers for jobs that wait without one; return how many there were."""
    now = timezone.now()
    stale = Q(status=Job.Status.QUEUED, woken_at__lt=now - WAKE_AGAIN_AFTER) | Q(
        status=Job.Status.RUNNING, lease_until__lt=now
    )
    jobs = list(Job.objects.filter(stale).values_list("pk", flat=True))
    Job.objects.filter(pk__in=jobs).update(woken_at=now)
    for pk in jobs:
        _wake_on_commit(pk)
    return len(jobs)
