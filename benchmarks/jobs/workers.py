"""The heartbeat of worker processes, and what each of them carries.

A worker reports every ten seconds that it lives. Operators see it. Who may continue a piece of work
is decided by its lease, and by whether the worker was without the database (``Contact``).
"""

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from benchmarks.models import Job, Trajectory, WorkerProcess
from benchmarks.runs.leases import contact
from benchmarks.runs.threads import process_name

BEAT_SECONDS = 10.0
LOST_AFTER = timedelta(seconds=40)
FORGET_AFTER = timedelta(days=1)
_THREAD = "heartbeat"
_over = threading.Event()


def start_heartbeat() -> None:
    """Report in a thread that this worker lives, until ``end_heartbeat``; done once."""
    if any(thread.name == _THREAD for thread in threading.enumerate()):
        return
    _over.clear()
    started = timezone.now()

    def beat() -> None:
        while True:
            try:
                _report(started)
                contact.note()
            except Error:
                # Whatever needs the database says that it is away.
                connection.close()
            if _over.wait(BEAT_SECONDS):
                break
        connection.close()

    threading.Thread(target=beat, name=_THREAD, daemon=True).start()


def _report(started: datetime) -> None:
    now = timezone.now()
    WorkerProcess.objects.update_or_create(
        name=process_name(),
        defaults={"seen_at": now},
        create_defaults={
            "seen_at": now,
            "version": settings.VERSION,
            "threads": settings.RUN_THREADS,
            "endpoint_threads": settings.ENDPOINT_THREADS,
            "started_at": started,
        },
    )
    WorkerProcess.objects.filter(seen_at__lt=now - FORGET_AFTER).delete()


def report_ending() -> None:
    """Say that this worker takes nothing new."""
    with suppress(Error):
        WorkerProcess.objects.filter(name=process_name()).update(state=WorkerProcess.State.ENDING)


def end_heartbeat() -> None:
    """Forget this worker, which has ended as it was told to."""
    _over.set()
    contact.forget()
    with suppress(Error):
        WorkerProcess.objects.filter(name=process_name()).delete()


@dataclass(frozen=True)
class WorkerState:
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
