"""Reset leases, calls and caches in a database that was restored from a backup."""

import secrets

from django.utils import timezone

from benchmarks.models import Exchange, Job, Run, Trajectory

_DATA_VERSIONS = 2**30


def settle_restored() -> None:
    """Free all leases, give up calls under way, and invalidate cached pages.

    Workers that were busy when the backup was made may still be running. Their leases have no owner
    any more, so their next write fails, and the sweep gives the work to free workers.
    """
    now = timezone.now()
    for model, running in ((Trajectory, Trajectory.Status.RUNNING), (Job, Job.Status.RUNNING)):
        model._default_manager.exclude(lease_owner="").update(lease_owner="")
        model._default_manager.filter(status=running).update(lease_until=now)
    # A late reply must not settle another call that has the same number now.
    Exchange.objects.filter(state=Exchange.State.SENT).update(
        state=Exchange.State.LOST,
        reason="was under way when the backup was made that this was restored from",
        settled_at=now,
    )
    # Caches and running processes hold analyses under these numbers. Counting on from the
    # restored numbers would reach the same ones again.
    Run.objects.update(data_version=secrets.randbelow(_DATA_VERSIONS))
