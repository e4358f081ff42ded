"""Celery tasks: each reloads its row by id and calls a service; messages carry ids only."""

import logging
import threading
from functools import cache

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import close_old_connections

# Importing these modules registers their kinds of jobs.
from benchmarks.datasets import uploads as dataset_uploads  # noqa: F401
from benchmarks.deletion import services as deletion  # noqa: F401
from benchmarks.endpoints import trials  # noqa: F401
from benchmarks.imports import turns, uploads  # noqa: F401
from benchmarks.jobs import services as jobs  # noqa: F401
from benchmarks.jobs import workers
from benchmarks.jobs.threads import ProcessEnds, Threads, end_work, owner_name
from benchmarks.judging import counts  # noqa: F401
from benchmarks.judging import trials as trying  # noqa: F401
from benchmarks.runs import drain, worker
from benchmarks.validity import services as validity  # noqa: F401
from benchmarks.verification import services as background  # noqa: F401

logger = logging.getLogger(__name__)


@worker_ready.connect
def report_alive(**about: object) -> None:
    """Have this worker report that it lives."""
    workers.start_heartbeat()


@worker_shutting_down.connect
def finish_calls(**about: object) -> None:
    """Have this worker end after the calls that are under way, or at its time limit."""
    end_work()
    # In a thread, because this is called by the handler of a signal.
    threading.Thread(target=drain.drain, name="drain", daemon=True).start()


@shared_task
def carry_run(run_id: int) -> None:
    """Work on runs, this one first, unless enough threads of this process do so already.

    Those threads choose the next run whenever a trajectory has ended, so this run gets its turn.
    The other threads stay free for jobs that somebody waits for at a page. Runs on endpoints have
    threads of their own, up to the endpoints' capacity.
    """
    try:
        if worker.waits_for_endpoints(run_id):
            worker.begin_carrying(first=run_id, owner=owner_name())
        elif (places := _places()).acquire(blocking=False):
            try:
                worker.work_on_runs(first=run_id, owner=owner_name())
            finally:
                places.release()
    except ProcessEnds:
        logger.info("the process ends; run %s is left to the sweep", run_id)


@cache
def _places() -> threading.BoundedSemaphore:
    """Return the semaphore that limits the threads which work on runs."""
    return threading.BoundedSemaphore(settings.RUN_THREADS)


@shared_task
def carry_reserved(trajectory_id: int) -> None:
    """Carry a live trajectory in one of the threads for live sessions.

    People must not wait for runs to end, and many of them wait at the same time for agents that
    take seconds to reply. The task ends once a thread has the work; if the process dies, the sweep
    finds what it held.
    """
    _live().submit(_carry_reserved, trajectory_id)


def _carry_reserved(trajectory_id: int) -> None:
    try:
        if worker.carry_reserved(pk=trajectory_id, owner=owner_name()):
            # In another thread, so that a slow suggesting endpoint delays nobody's reply.
            _beside().submit(_suggest, trajectory_id)
    except ProcessEnds:
        logger.info("the process ends; trajectory %s is left to the sweep", trajectory_id)
    except Exception:
        logger.exception("trajectory %s was left to the sweep", trajectory_id)
    finally:
        close_old_connections()


def _suggest(trajectory_id: int) -> None:
    try:
        worker.suggest_beside(pk=trajectory_id)
    except ProcessEnds:
        logger.info("the process ends; suggestions on trajectory %s are left out", trajectory_id)
    except Exception:
        logger.exception("suggestions on trajectory %s were not made", trajectory_id)
    finally:
        close_old_connections()


@cache
def _live() -> Threads:
    return Threads(settings.LIVE_THREADS, thread_name_prefix="live")


@cache
def _beside() -> Threads:
    """Return the threads that wait for suggestions; each takes a minute at most."""
    return Threads(settings.LIVE_THREADS, thread_name_prefix="beside")


@shared_task
def perform_job(job_id: int) -> None:
    try:
        jobs.perform(job_id=job_id, owner=owner_name())
    except ProcessEnds:
        logger.info("the process ends; job %s is left to the sweep", job_id)
