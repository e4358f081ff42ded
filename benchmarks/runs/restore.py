"""What has to be true of a database whose rows come from a backup."""

import secrets

from django.utils import timezone

from benchmarks.models import Exchange, Job, Run, Trajectory

_DATA_VERSIONS = 2**30


def settle_restored() -> None:
    """Nobody holds anything, nothing is under way, and no page that was kept is shown again.

    Workers that were busy when the backup was made may be so still: what they hold has no owner any
    more, so that they lose it at their next write. The sweep has it taken up by whoever is free.
    """
    now = timezone.now()
    for model, running in ((Trajectory, Trajectory.Status.RUNNING), (Job, Job.Status.RUNNING)):
        model._default_manager.exclude(lease_owner="").update(lease_owner="")
        model._default_manager.filter(status=running).update(lease_until=now)
    # A reply to another call of the same number must find nothing that waits for one.
    Exchange.objects.filter(state=Exchange.State.SENT).update(
        state=Exchange.State.LOST,
        reason="was under way when the backup was made that this was restored from",
        settled_at=now,
    )
    # Analyses are kept under these numbers, in processes and caches that nobody here can reach.
    # Counting on from what is here would come by the same numbers again.
    Run.objects.update(data_version=secrets.randbelow(_DATA_VERSIONS))
