"""Named locks for code that reads first and then writes, and locks on rows.

Locks on trajectories are taken before the lock on their run, so that no deadlock can arise.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from time import sleep

from django.db import connection, transaction

from benchmarks.models import Run, Trajectory

# In seconds. Whoever waits for SQLite's writer looks every tenth of a second whether it is free.
WRITER_PAUSE = 0.12


def pause_writing() -> None:
    """Let others write between two portions of a large change; only SQLite needs that."""
    if connection.vendor == "sqlite" and not connection.in_atomic_block:
        sleep(WRITER_PAUSE)


@contextmanager
def named_lock(name: str) -> Iterator[None]:
    """Open a transaction that excludes all others of this name, on any machine.

    SQLite needs no lock for this: its transactions are IMMEDIATE, so there is one at a time.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("select pg_advisory_xact_lock(%s)", [_key(name)])
        yield


@contextmanager
def try_named_lock(name: str) -> Iterator[bool]:
    """Do as ``named_lock``, but yield False instead of waiting if the lock is taken."""
    with transaction.atomic():
        free = True
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("select pg_try_advisory_xact_lock(%s)", [_key(name)])
                (free,) = cursor.fetchone()
        yield free


@contextmanager
def session_lock(name: str) -> Iterator[None]:
    """Do as ``named_lock``, for code that has several transactions, such as migrations."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_lock(%s)", [_key(name)])
        try:
            yield
        finally:
            cursor.execute("select pg_advisory_unlock(%s)", [_key(name)])


def lock_trajectory(pk: int) -> None:
    """Hold a trajectory's row until the transaction ends."""
    Trajectory.objects.select_for_update(no_key=True).only("pk").get(pk=pk)


def lock_run(pk: int) -> None:
    """Hold a run's row until the transaction ends."""
    Run.objects.select_for_update(no_key=True).only("pk").get(pk=pk)


def lock_trajectories_of(run_id: int) -> None:
    """Lock the rows of all trajectories of a run until the transaction ends."""
    rows = Trajectory.objects.filter(run=run_id).select_for_update(no_key=True)
    list(rows.order_by("pk").values_list("pk", flat=True))


def _key(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
