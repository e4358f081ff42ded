"""Worker processes: which are lost, and which of these were replaced."""

from datetime import timedelta

import pytest
from django.utils import timezone

from benchmarks.jobs.selectors import worker_states
from benchmarks.models import WorkerProcess

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def worker(name: str, *, started: int, seen: int) -> None:
    """Store a worker that was started and seen so many minutes ago."""
    now = timezone.now()
    WorkerProcess.objects.create(
        name=name, version="1", threads=4, endpoint_threads=8,
        started_at=now - timedelta(minutes=started), seen_at=now - timedelta(minutes=seen),
    )  # fmt: skip


def states() -> dict[str, bool]:
    return {state.row.name: state.lost for state in worker_states()}


def test_a_lost_worker_counts_until_another_is_started_in_its_place() -> None:
    worker("old:1", started=90, seen=30)
    worker("old:2", started=90, seen=30)
    worker("other:1", started=80, seen=0)  # it was there before
    assert states() == {"old:1": True, "old:2": True, "other:1": False}
    worker("new:1", started=10, seen=0)
    assert sum(states().values()) == 1
    worker("new:2", started=5, seen=0)
    assert states() == {"other:1": False, "new:1": False, "new:2": False}


def test_a_worker_that_was_started_before_the_loss_replaces_nobody() -> None:
    worker("old:1", started=90, seen=5)
    worker("new:1", started=10, seen=0)
    assert states() == {"old:1": True, "new:1": False}
