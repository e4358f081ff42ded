"""Leases on trajectories, kept alive while their worker lives.

A trajectory is held for ``LEASE``, and a thread of the process that carries it renews that. So a
call may take as long as it takes, and a dead worker's trajectories are free soon after.
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
    """Renews what this process holds, from one thread that ends when nothing is held."""

    def __init__(self) -> None:
        self._held: dict[int, str] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def held(self) -> list[int]:
        """The trajectories that this process carries now."""
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
                connection.close()  # a server that came back answers only a new one
        connection.close()

    @staticmethod
    def renew(held: dict[int, str]) -> None:
        """Renew what is still held by the owner that claimed it."""
        until = timezone.now() + LEASE
        for owner in set(held.values()):
            mine = [pk for pk, name in held.items() if name == owner]
            Trajectory.objects.filter(pk__in=mine, lease_owner=owner).update(lease_until=until)


heartbeat = Heartbeat()
