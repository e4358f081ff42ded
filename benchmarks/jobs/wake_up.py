"""Wake-up messages to workers. Tasks are found by name, so that services do not import them.

A message that is lost or sent twice does no harm: work is claimed, and the sweep sends another. So
an unreachable broker is only reported.
"""

from collections.abc import Sequence
from typing import Any

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from benchmarks.outages import BROKER, note_outage, note_recovery

_TRIES = {"max_retries": 1, "interval_start": 0}


def wake_for_job(job_id: int) -> None:
    """Wake a worker for a job."""
    _send("benchmarks.tasks.perform_job", [job_id])


def wake_for_runs(run_ids: Sequence[int]) -> None:
    """Wake as many workers for each run as may share it."""
    _send(
        "benchmarks.tasks.carry_run",
        [run_id for run_id in run_ids for _ in range(settings.WORKERS_PER_RUN)],
    )


def wake_for_trajectory(trajectory_id: int) -> None:
    """Wake a worker for one trajectory that people wait for."""
    _send("benchmarks.tasks.carry_reserved", [trajectory_id])


def _send(task: str, ids: Sequence[int]) -> None:
    try:
        for each in ids:
            current_app.tasks[task].apply_async((each,), retry_policy=_TRIES)
    except OperationalError as error:
        note_outage(BROKER, f"the broker cannot be reached ({error}); new work waits")
    else:
        note_recovery(BROKER)


def queue_is_empty() -> bool:
    """Return whether workers have taken all messages; if not, more would only lengthen the queue.

    It is False, too, if the broker cannot be reached.
    """
    with current_app.connection_for_read() as broker:
        away: tuple[type[BaseException], ...] = (OperationalError, *broker.connection_errors)
        try:
            broker.ensure_connection(max_retries=1, interval_start=0)
            channel: Any = broker.default_channel
            waiting: int = channel.queue_declare(current_app.conf.task_default_queue).message_count
        except away as error:
            note_outage(BROKER, f"the broker cannot be reached ({error}); new work waits")
            return False
    note_recovery(BROKER)
    return waiting == 0
