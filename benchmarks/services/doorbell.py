"""Ringing for workers. Tasks are found by name, so that services need not import their callers.

A ring that is lost or comes twice does no harm: work is claimed, and the sweep rings again.
"""

from collections.abc import Sequence

from celery import current_app
from django.conf import settings


def ring_job(job_id: int) -> None:
    """Wake a worker for a job."""
    current_app.tasks["benchmarks.tasks.perform_job"].delay(job_id)


def ring_runs(run_ids: Sequence[int]) -> None:
    """Wake as many workers as may share each run."""
    for run_id in run_ids:
        for _ in range(settings.WORKERS_PER_RUN):
            current_app.tasks["benchmarks.tasks.carry_run"].delay(run_id)
