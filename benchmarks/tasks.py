"""Celery tasks: reload by id, call a service. A message carries ids and nothing else."""

import os
import socket
import threading
from functools import cache

from celery import shared_task
from django.conf import settings

# Uploads bring a kind of job of their own.
from benchmarks.services import jobs, trials, uploads, work  # noqa: F401


def owner_name() -> str:
    """Who holds a lease: host, process and thread; unique among living workers."""
    # Cut so that it fits, also behind the words that a job puts before it.
    return f"{socket.gethostname()[-32:]}:{os.getpid()}:{threading.get_ident()}"


@shared_task
def carry_run(run_id: int) -> None:
    """Work on runs, beginning with this one; not if enough threads of this process do already.

    They look for the next run whenever a trajectory has ended, so this one is not forgotten. The
    threads that are left do the jobs that somebody waits for at a page.
    """
    places = _places()
    if places.acquire(blocking=False):
        try:
            work.work_on_runs(first=run_id, owner=owner_name())
        finally:
            places.release()


@cache
def _places() -> threading.BoundedSemaphore:
    """As many as threads of this process may work on runs."""
    return threading.BoundedSemaphore(settings.RUN_THREADS)


@shared_task
def perform_job(job_id: int) -> None:
    jobs.perform(job_id=job_id, owner=owner_name())
