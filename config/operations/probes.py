"""Probes of what a server needs to work: database, migrations, disk and broker."""

import shutil
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from django.conf import settings
from django.db import DatabaseError, connection
from kombu.exceptions import OperationalError as BrokerError

from config.celery import app
from config.upgrades import is_behind

# A load balancer may ask often, and strangers may, too.
KEEP_SECONDS = 1.0
MIGRATIONS_KEEP_SECONDS = 60.0


class Probe(NamedTuple):
    """The result of a probe; without an ``essential`` part the server cannot answer requests."""

    name: str
    ok: bool
    detail: str
    essential: bool = True


class Readiness(NamedTuple):
    """All probes of one moment."""

    probes: tuple[Probe, ...]

    @property
    def ready(self) -> bool:
        """Return whether requests should come here."""
        return all(probe.ok for probe in self.probes if probe.essential)

    @property
    def status(self) -> str:
        """One word for all of it."""
        if not self.ready:
            return "not ready"
        return "ready" if all(probe.ok for probe in self.probes) else "degraded"


_lock = threading.Lock()
_kept: tuple[float, Readiness] | None = None
_migrated_at: float | None = None


def readiness() -> Readiness:
    """Look at everything, at most once a second in a process."""
    global _kept
    with _lock:
        if _kept is None or time.monotonic() - _kept[0] > KEEP_SECONDS:
            database = _probe("database", _database)
            migrations = (
                _probe("migrations", _migrations)
                if database.ok
                else Probe("migrations", False, "not known without the database")
            )
            probes = database, migrations, _probe("disk", _disk), _broker()
            _kept = time.monotonic(), Readiness(probes)
        return _kept[1]


def forget() -> None:
    """Look anew at the next request."""
    global _kept, _migrated_at
    _kept = _migrated_at = None


class _ProbeFailed(Exception):
    """Raised by a probe with what is wrong."""


def _probe(name: str, look: Callable[[], str]) -> Probe:
    try:
        return Probe(name, True, look())
    except (_ProbeFailed, DatabaseError, OSError) as error:
        return Probe(name, False, first_line(error))


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or its kind."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchone()
    except DatabaseError:
        connection.close()
        raise
    version = ".".join(map(str, connection.get_database_version()))
    return f"{connection.display_name} {version}"


def _migrations() -> str:
    global _migrated_at
    now = time.monotonic()
    if _migrated_at is None or now - _migrated_at > MIGRATIONS_KEEP_SECONDS:
        if is_behind(connection):
            raise _ProbeFailed("migrations are missing; run manage.py migrate")
        _migrated_at = now
    return "up to date"


def _disk() -> str:
    free = shutil.disk_usage(settings.DATA_DIR).free >> 20
    words = f"{free:,} MB free in the data folder"
    if free < settings.MIN_FREE_MB:
        raise _ProbeFailed(f"{words}, below {settings.MIN_FREE_MB:,}")
    return words


def _broker() -> Probe:
    """Probe the broker, which is not essential: without it pages go on, and only background work
    waits.
    """
    try:
        return Probe("broker", True, f"{messages_waiting():,} messages waiting", essential=False)
    except _ProbeFailed as error:
        return Probe("broker", False, str(error), essential=False)


def messages_waiting() -> int:
    """Return the length of the queue, or ``_ProbeFailed``."""
    with app.connection_for_read() as broker:
        away: tuple[type[BaseException], ...] = (
            BrokerError,
            *broker.connection_errors,
            *broker.channel_errors,
        )
        try:
            broker.ensure_connection(max_retries=0, interval_start=0)
            channel: Any = broker.default_channel
            return int(channel.queue_declare(app.conf.task_default_queue).message_count)
        except away as error:
            raise _ProbeFailed(f"{broker.as_uri()}: {first_line(error)}") from None
