"""The heartbeat of worker processes, and what each of them carries.

A worker reports every ten seconds that it lives. Operators see it. Who may continue a piece of work
is decided by its lease, and by whether the worker was without the database (``Contact``).
"""

import threading
from contextlib import suppress
from datetime import datetime, timedelta

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from benchmarks.jobs.leases import contact
from benchmarks.jobs.threads import process_name
from benchmarks.models import WorkerProcess

BEAT_SECONDS = 10.0
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
