"""Leases on trajectories, renewed while their worker lives, and freed in a restored database.

A lease lasts ``LEASE``, and a thread of the worker's process renews it. So a call may take any
time, and the trajectories of a dead worker are soon free to be claimed again.

While the database is away nobody can renew a lease, so one that runs out then does not mean that
its worker is dead. Therefore a worker that has been without the database leaves such leases alone
for ``LEASE`` after the outage: their owners renew them first, and store what they hold.
"""

import logging
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import Error, connection
from django.utils import timezone

from benchmarks.models import CallColumns, Job, Run, Trajectory, call_models
from benchmarks.outages import keep_trying

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
BEAT_SECONDS = 10.0
_DATA_VERSIONS = 2**30
# A worker that has not reached the database for so long was cut off from it. An outage takes at
# least ``LEASE - BEAT_SECONDS`` to let a lease run out whose owner lives, which is longer.
LONGEST_GAP = timedelta(seconds=1.5 * BEAT_SECONDS)


class Contact:
    """The times at which this process reached the database, or could not for a while.

    Workers note it at each report that they live. A process that notes nothing, such as a command,
    takes every lease that has run out.
    """

    def __init__(self) -> None:
        self._last: datetime | None = None
        # The last outage: the moment before which a lease ran out without it, and its end.
        self._outage: tuple[datetime, datetime] | None = None

    def note(self) -> None:
        """Note that the database has answered just now."""
        now = timezone.now()
        if self._last is not None and now - self._last > LONGEST_GAP:
            self._outage = (self.lapsed_by(now), now)
        self._last = now

    def forget(self) -> None:
        """Forget everything, because this process reports no more."""
        self._last = self._outage = None

    def lapsed_by(self, now: datetime) -> datetime:
        """Return the moment before which a lease must have run out to be free at ``now``."""
        if self._outage is not None and now - self._outage[1] < LEASE:
            return self._outage[0]
        if self._last is not None and now - self._last > LONGEST_GAP:
            return self._last
        return now


contact = Contact()


class Heartbeat:
    """Renew the leases of this process from one thread, which ends when none are held."""

    def __init__(self) -> None:
        self._held: dict[int, str] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def held(self) -> list[int]:
        """Return the trajectories that this process carries now."""
        with self._lock:
            return list(self._held)

    @contextmanager
    def hold(self, pk: int, owner: str) -> Iterator[None]:
        """Keep a claimed trajectory's lease alive for as long as the block lasts."""
        with self._lock:
            self._held[pk] = owner
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(pk, None)

    def _beat(self) -> None:
        while True:
            time.sleep(BEAT_SECONDS)
            with self._lock:
                if not self._held:
                    self._thread = None
                    break
            try:
                keep_trying(self._renew_held)
            except Error:
                logger.exception("leases could not be renewed; trying again")
                connection.close()
        connection.close()

    def _renew_held(self) -> None:
        with self._lock:
            held = dict(self._held)
        self.renew(held)

    @staticmethod
    def renew(held: dict[int, str]) -> None:
        """Renew the leases that still belong to the owner that claimed them."""
        until = timezone.now() + LEASE
        for owner in set(held.values()):
            mine = [pk for pk, name in held.items() if name == owner]
            Trajectory.objects.filter(pk__in=mine, lease_owner=owner).update(lease_until=until)


heartbeat = Heartbeat()


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
    for calls in call_models():
        calls._base_manager.filter(state=CallColumns.State.SENT).update(
            state=CallColumns.State.LOST,
            reason="was under way when the backup was made that this was restored from",
            settled_at=now,
        )
    # Caches and running processes hold analyses under these numbers. Counting on from the
    # restored numbers would reach the same ones again.
    Run.objects.update(data_version=secrets.randbelow(_DATA_VERSIONS))
