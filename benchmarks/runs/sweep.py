"""The sweep: it finds jobs and runs that a dead worker held or a lost message forgot."""

from functools import partial

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from benchmarks.jobs import wake_up
from benchmarks.jobs.services import WAKE_AGAIN_AFTER, wake_unattended_jobs
from benchmarks.locks import try_named_lock
from benchmarks.models import Run, Trajectory
from benchmarks.runs.prepared import WORKABLE
from benchmarks.runs.worker import runs_with_room

MAX_RESERVED = 200


def sweep() -> int:
    """Wake workers for jobs and runs that wait without one; return how many there were.

    Every server command calls this every ten seconds, on any number of machines. Waking twice does
    no harm, because work is claimed. To keep it rare, one process sweeps at a time, and only while
    the queue is empty.
    """
    with try_named_lock("sweep") as free:
        if not free or not wake_up.queue_is_empty():
            return 0
        jobs, runs, reserved = wake_unattended_jobs(), _unattended_runs(), _unattended_reserved()
        if runs:
            transaction.on_commit(lambda: wake_up.wake_for_runs(runs))
        for pk in reserved:
            transaction.on_commit(partial(wake_up.wake_for_trajectory, pk))
        return jobs + len(runs) + len(reserved)


def _unattended_reserved() -> list[int]:
    """Return live trajectories without a worker; each has a message of its own, so check each."""
    lapsed = Q(status=Trajectory.Status.RUNNING, lease_until__lt=timezone.now())
    free = Trajectory.objects.filter(Q(status=Trajectory.Status.PENDING) | lapsed)
    rows = free.filter(reserved=True, run__status__in=WORKABLE).order_by("pk")
    return list(rows.values_list("pk", flat=True)[:MAX_RESERVED])


def _unattended_runs() -> list[int]:
    """Return runs that nobody carries though they could, and those that more workers may join."""
    now = timezone.now()
    units = Trajectory.objects.filter(run=OuterRef("pk"))
    held = units.filter(status=Trajectory.Status.RUNNING, lease_until__gte=now)
    free = units.filter(
        Q(status=Trajectory.Status.PENDING)
        | Q(status=Trajectory.Status.RUNNING, lease_until__lt=now)
    )
    left = units.filter(status__in=[Trajectory.Status.PENDING, Trajectory.Status.RUNNING])
    idle = Run.objects.filter(status__in=WORKABLE).filter(
        Exists(free) & ~Exists(held) | Q(status=Run.Status.RUNNING) & ~Exists(left)
    )
    since = now - WAKE_AGAIN_AFTER
    unattended = set(idle.filter(created_at__lt=since).values_list("pk", flat=True))
    return sorted(unattended.union(run.pk for run in runs_with_room() if run.created_at < since))
