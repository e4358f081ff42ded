"""The end of a worker: it finishes calls under way, up to a time limit, and frees its leases.

A call that is still out at the limit is recorded as lost. Its reserved cost stays committed,
because it may have been answered and billed.
"""

import logging
import os
import time

from django.conf import settings
from django.db import Error, connection, transaction
from django.utils import timezone

from benchmarks.jobs.services import release_jobs
from benchmarks.jobs.threads import process_name
from benchmarks.jobs.workers import end_heartbeat, report_ending
from benchmarks.models import Endpoint, Exchange, Job, Run, Trajectory
from benchmarks.models.role_assignments import all_assignments
from benchmarks.runs.prepared import WORKABLE

logger = logging.getLogger(__name__)

# Seconds beyond the longest call that can be out, for storing what it brings.
MARGIN = 10.0
INTERRUPTED = "interrupted: the worker was stopped before the reply came"


def drain_seconds() -> float:
    """Return how long a worker that is told to end finishes calls.

    It is the setting, or else the longest timeout of an endpoint that an unfinished run uses, and
    ``MARGIN`` more.
    """
    if settings.DRAIN_SECONDS is not None:
        return float(settings.DRAIN_SECONDS)
    names = {
        assignment["endpoint"]
        for roles in Run.objects.filter(status__in=WORKABLE).values_list("roles", flat=True)
        for assignment in all_assignments(roles)
        if "endpoint" in assignment
    }
    timeouts = Endpoint.objects.filter(name__in=names).values_list("timeout", flat=True)
    return max(timeouts, default=0.0) + MARGIN


def drain() -> None:
    """Give this worker's work its time, then record what is still out, and end the process."""
    try:
        limit = drain_seconds()
        report_ending()
    except Error:
        limit = MARGIN
    finally:
        connection.close()
    time.sleep(limit)
    logger.warning("This worker ends at its limit of %.0f s; it frees what it holds.", limit)
    try:
        interrupt_work(process_name())
        end_heartbeat()
    except Error:
        logger.error("What this worker holds could not be freed; its leases will run out.")
    logging.shutdown()
    os._exit(0)


def interrupt_work(process: str) -> int:
    """Record the calls that a process has out as lost, and free its leases; return how many.

    Its threads may still be running: what they write later finds no lease and changes nothing.
    """
    calls = 0
    held = Trajectory.objects.filter(
        status=Trajectory.Status.RUNNING, lease_owner__contains=f"{process}:"
    )
    for pk, owner in held.values_list("pk", "lease_owner"):
        with transaction.atomic():
            freed = Trajectory.objects.filter(pk=pk, lease_owner=owner).update(
                status=Trajectory.Status.PENDING, lease_owner="", lease_until=None
            )
            out = Exchange.every.filter(trajectory=pk, state=Exchange.State.SENT)
            lost = list(out.select_for_update().select_related("answerer")) if freed else []
            out.filter(pk__in=[call.pk for call in lost]).update(
                state=Exchange.State.LOST, reason=INTERRUPTED, settled_at=timezone.now()
            )
        for call in lost:
            cost = "unknown" if call.most is None else f"{call.most:g}"
            logger.warning(
                "Interrupted a call to %s: trajectory %s, step %s, slot %s, attempt %s, "
                "reserved cost %s.",
                call.answerer.name, pk, call.step, call.slot, call.attempt, cost,
            )  # fmt: skip
        calls += len(lost)
    release_jobs(Job.objects.filter(lease_owner__contains=f"{process}:"))
    return calls
