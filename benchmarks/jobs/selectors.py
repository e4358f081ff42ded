"""Read jobs and workers for pages: the states of jobs in words, and what each worker carries."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from benchmarks.models import Job, Trajectory, WorkerProcess

# The words and the tone of each state of a job.
STATES = {
    Job.Status.QUEUED: ("waiting", "idle"),
    Job.Status.RUNNING: ("under way", "info"),
    Job.Status.DONE: ("done", "ok"),
    Job.Status.FAILED: ("failed", "bad"),
    Job.Status.CANCELLED: ("cancelled", "idle"),
}
LOST_AFTER = timedelta(seconds=40)


class WorkerState(NamedTuple):
    """One worker with the number of trajectories and jobs that it carries."""

    row: WorkerProcess
    lost: bool
    trajectories: int
    jobs: int


def worker_states() -> list[WorkerState]:
    """Return all workers that reported within a day, without lost ones that were replaced."""
    now = timezone.now()
    trajectories = Trajectory.objects.filter(status=Trajectory.Status.RUNNING, lease_until__gte=now)
    jobs = Job.objects.filter(status=Job.Status.RUNNING, lease_until__gte=now)
    carrying = list(trajectories.values_list("lease_owner", flat=True))
    working = list(jobs.values_list("lease_owner", flat=True))
    limit = now - LOST_AFTER
    rows = list(WorkerProcess.objects.all())
    replaced = _replaced(rows, limit)
    return [
        WorkerState(
            row,
            row.seen_at < limit,
            sum(row.holds(owner) for owner in carrying),
            sum(row.holds(owner) for owner in working),
        )
        for row in rows
        if row.pk not in replaced
    ]


def _replaced(rows: Iterable[WorkerProcess], limit: datetime) -> set[int]:
    """Return the lost workers for which another one was started since, on any machine.

    Each worker that lives stands for one: if two are lost and one is started, one is still missing.
    """
    by_time = sorted(rows, key=lambda row: row.seen_at)
    lost = [row for row in by_time if row.seen_at < limit]
    starts = sorted(row.started_at for row in by_time if row.seen_at >= limit)
    replaced = set()
    for row in lost:
        later = next((start for start in starts if start > row.seen_at), None)
        if later is not None:
            starts.remove(later)
            replaced.add(row.pk)
    return replaced
