"""Ringing for workers. Tasks are found by name, so that services need not import their callers.

A ring that is lost or comes twice does no harm: work is claimed, and the sweep rings again. So a
broker that cannot be reached is noted, and what was stored stays stored.
"""

import logging
from collections.abc import Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

_TRIES = {"max_retries": 1, "interval_start": 0}


def ring_job(job_id: int) -> None:
    """Wake a worker for a job."""
    _ring("benchmarks.tasks.perform_job", [job_id])


def ring_runs(run_ids: Sequence[int]) -> None:
    """Wake as many workers as may share each run."""
    _ring(
        "benchmarks.tasks.carry_run",
        [run_id for run_id in run_ids for _ in range(settings.WORKERS_PER_RUN)],
    )


def ring_trajectory(trajectory_id: int) -> None:
    """Wake a worker for one trajectory that people wait for."""
    _ring("benchmarks.tasks.carry_reserved", [trajectory_id])


def _ring(task: str, ids: Sequence[int]) -> None:
    try:
        for each in ids:
            current_app.tasks[task].apply_async((each,), retry_policy=_TRIES)
    except OperationalError as error:
        _complain(error)


def nobody_waits() -> bool:
    """Whether all messages have found a worker; if not, ringing again would only lengthen a queue.

    False also where the broker cannot be reached, for then it cannot be rung either.
    """
    with current_app.connection_for_read() as broker:
        away: tuple[type[BaseException], ...] = (OperationalError, *broker.connection_errors)
        try:
            broker.ensure_connection(max_retries=1, interval_start=0)
            channel: Any = broker.default_channel
            waiting: int = channel.queue_declare(current_app.conf.task_default_queue).message_count
        except away as error:
            _complain(error)
            return False
    return waiting == 0


def _complain(error: BaseException) -> None:
    # One line: the traceback of a broker that is away says no more.
    logger.error("The broker cannot be reached (%s); the sweep rings again.", error)
