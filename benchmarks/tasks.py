"""Celery tasks: reload by id, call a service. A message carries ids and nothing else."""

import os
import socket
import threading

from celery import shared_task

# Uploads bring a kind of job of their own.
from benchmarks.services import jobs, trials, uploads, work  # noqa: F401


def owner_name() -> str:
    """Who holds a lease: host, process and thread; unique among living workers."""
    # Cut so that it fits, also behind the words that a job puts before it.
    return f"{socket.gethostname()[-32:]}:{os.getpid()}:{threading.get_ident()}"


@shared_task
def carry_run(run_id: int) -> None:
    work.work_on_run(run_id=run_id, owner=owner_name())


@shared_task
def perform_job(job_id: int) -> None:
    jobs.perform(job_id=job_id, owner=owner_name())
