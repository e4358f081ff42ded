"""Celery tasks: reload by id, call a service. A message carries ids and nothing else."""

import logging
import os
import socket
import threading
from functools import cache

from celery import shared_task
from django.conf import settings
from django.db import close_old_connections

# Uploads, trials and verifications bring kinds of jobs of their own.
from benchmarks.datasets import uploads as dataset_uploads  # noqa: F401
from benchmarks.endpoints import trials  # noqa: F401
from benchmarks.imports import uploads  # noqa: F401
from benchmarks.jobs import services as jobs  # noqa: F401
from benchmarks.judging import trials as trying  # noqa: F401
from benchmarks.runs import worker as work  # noqa: F401
from benchmarks.runs.threads import ProcessEnds, Threads
from benchmarks.verification import services as background  # noqa: F401

logger = logging.getLogger(__name__)


def owner_name() -> str:
    """Who holds a lease: host, process and thread; unique among living workers."""
    # Cut so that it fits, also behind the words that a job puts before it.
    return f"{socket.gethostname()[-32:]}:{os.getpid()}:{threading.get_ident()}"


@shared_task
def carry_run(run_id: int) -> None:
    """Work on runs, beginning with this one; not if enough threads of this process do already.

    They look for the next run whenever a trajectory has ended, so this one is not forgotten. The
    threads that are left do the jobs that somebody waits for at a page. Runs on endpoints have
    threads of their own, as many as the endpoints have room for.
    """
    if work.waits_for_endpoints(run_id):
        work.begin_carrying(first=run_id, owner=owner_name())
        return
    places = _places()
    if places.acquire(blocking=False):
        try:
            work.work_on_runs(first=run_id, owner=owner_name())
        except ProcessEnds:
            logger.info("the process ends; run %s is left to the sweep", run_id)
        finally:
            places.release()


@cache
def _places() -> threading.BoundedSemaphore:
    """As many as threads of this process may work on runs."""
    return threading.BoundedSemaphore(settings.RUN_THREADS)


@shared_task
def carry_reserved(trajectory_id: int) -> None:
    """Carry a trajectory with people in it, in a thread of its own kind.

    People must not wait for runs to end, and many of them wait at the same time for agents that
    take seconds to reply. The message has done its part once a thread has it: what a dead process
    held is found by the sweep.
    """
    _live().submit(_carry_reserved, trajectory_id)


def _carry_reserved(trajectory_id: int) -> None:
    try:
        if work.carry_reserved(pk=trajectory_id, owner=owner_name()):
            # Elsewhere: a slow endpoint that suggests must not hold up those who have replied.
            _beside().submit(_suggest, trajectory_id)
    except ProcessEnds:
        logger.info("the process ends; trajectory %s is left to the sweep", trajectory_id)
    except Exception:
        logger.exception("trajectory %s was left to the sweep", trajectory_id)
    finally:
        close_old_connections()


def _suggest(trajectory_id: int) -> None:
    try:
        work.suggest_beside(pk=trajectory_id)
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
    """Threads in which suggestions are waited for; each takes a minute at most."""
    return Threads(settings.LIVE_THREADS, thread_name_prefix="beside")


@shared_task
def perform_job(job_id: int) -> None:
    jobs.perform(job_id=job_id, owner=owner_name())
