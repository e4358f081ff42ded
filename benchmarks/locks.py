"""Locks by name, for what looks first and writes then where a second one would do the same.

Rows have the locks of the database: those of trajectories are taken before those of their run,
so that nobody waits in a circle.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b

from django.db import connection, transaction

from benchmarks.models import Run, Trajectory


@contextmanager
def only_one(name: str) -> Iterator[None]:
    """A transaction in which nobody else, on whatever machine, is in one of this name.

    SQLite needs no lock for that: its transactions are IMMEDIATE, so there is one at a time.
    """
    with transaction.atomic():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("select pg_advisory_xact_lock(%s)", [_key(name)])
        yield


@contextmanager
def if_free(name: str) -> Iterator[bool]:
    """As ``only_one``, but where somebody is in it already, False instead of waiting."""
    with transaction.atomic():
        free = True
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("select pg_try_advisory_xact_lock(%s)", [_key(name)])
                (free,) = cursor.fetchone()
        yield free


@contextmanager
def one_after_the_other(name: str) -> Iterator[None]:
    """As ``only_one``, for what has several transactions of its own, such as migrations."""
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
    """Hold the rows of all trajectories of a run until the transaction ends."""
    rows = Trajectory.objects.filter(run=run_id).select_for_update(no_key=True)
    list(rows.order_by("pk").values_list("pk", flat=True))


def _key(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)
