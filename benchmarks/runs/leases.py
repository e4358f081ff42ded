"""Leases on trajectories, renewed while their worker lives.

A lease lasts ``LEASE``, and a thread of the worker's process renews it. So a call may take any
time, and the trajectories of a dead worker are soon free to be claimed again.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import Error, connection
from django.utils import timezone

from benchmarks.models import Trajectory

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
BEAT_SECONDS = 10.0


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
                held = dict(self._held)
                if not held:
                    self._thread = None
                    break
            try:
                self.renew(held)
            except Error:
                logger.exception("leases could not be renewed; trying again")
                connection.close()  # a database that has restarted needs a new connection
        connection.close()

    @staticmethod
    def renew(held: dict[int, str]) -> None:
        """Renew the leases that still belong to the owner that claimed them."""
        until = timezone.now() + LEASE
        for owner in set(held.values()):
            mine = [pk for pk, name in held.items() if name == owner]
            Trajectory.objects.filter(pk__in=mine, lease_owner=owner).update(lease_until=until)


heartbeat = Heartbeat()
