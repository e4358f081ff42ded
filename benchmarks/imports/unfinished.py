"""Imports under way: their runs are hidden until the whole file is stored.

A large file takes minutes to store, and SQLite lets one transaction write at a time. So each chunk
is stored in transactions of its own, between which others write. An import that fails deletes what
it has stored; what a killed process left behind, the next import deletes.
"""

import time
from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from benchmarks.core.errors import CoreError
from benchmarks.locks import named_lock, pause_writing
from benchmarks.models import Agent, Dataset, Run, Task, Trajectory

LOCK = "import"
# An import renews the mark of its runs with each chunk; after this time it counts as killed.
SILENT = timedelta(minutes=5)
PORTION = 200
_LOOK_AGAIN = 0.2


def unfinished_runs() -> QuerySet[Run]:
    """Return the runs of imports that are under way or were killed."""
    return Run.objects.filter(
        kind=Run.Kind.IMPORTED, finished_at=None, removed_at__isnull=False, archive__isnull=True
    )


def others_under_way(checksum: str, dataset: str) -> QuerySet[Run]:
    """Return the unfinished runs of the same file, or of others in the dataset of this name."""
    return unfinished_runs().filter(Q(checksum=checksum) | Q(dataset__name=dataset))


class ImportUnderWay(CoreError):
    """Raised where another import of the same file or into the same dataset is not waited for."""


def wait_for_others(checksum: str, dataset: str, wait: bool = True) -> None:
    """Wait until no other process imports the same file, or another one into the same dataset.

    What killed imports left is deleted, which may take minutes. Without ``wait`` nothing is
    deleted, and ``ImportUnderWay`` is raised instead.
    """
    while True:
        if wait:
            delete_imports(unfinished_runs().filter(removed_at__lt=timezone.now() - SILENT))
        if not others_under_way(checksum, dataset).exists():
            return
        if not wait:
            raise ImportUnderWay(
                f"another import of this file or into the dataset {dataset!r} is under way; "
                "try again later"
            )
        time.sleep(_LOOK_AGAIN)


def last_rows() -> Mapping[str, int]:
    """Return the last ids of tasks and agents: an import may delete only what comes after them."""
    tasks, agents = Task.objects.aggregate(last=Max("pk")), Agent.objects.aggregate(last=Max("pk"))
    return {"last_task": tasks["last"] or 0, "last_agent": agents["last"] or 0}


def delete_imports(runs: QuerySet[Run]) -> None:
    """Delete unfinished runs, and the tasks, agents and datasets that only they use."""
    for run in runs:
        before = {"last_task": 0, "last_agent": 0} | run.settings
        rows = Trajectory.objects.filter(run=run).order_by("pk")
        while ids := list(rows.values_list("pk", flat=True)[:PORTION]):
            with named_lock(LOCK):
                tasks = set(rows.filter(pk__in=ids).values_list("task", flat=True))
                Trajectory.objects.filter(pk__in=ids).delete()
                new = Task.objects.filter(pk__in=tasks, pk__gt=before["last_task"])
                new.filter(trajectories=None).delete()
            pause_writing()
        with named_lock(LOCK):
            Run.objects.filter(pk=run.pk).delete()
            Agent.objects.filter(
                pk=run.agent_id, pk__gt=before["last_agent"], runs=None, kind=Agent.Kind.IMPORTED
            ).delete()
            Dataset.objects.filter(pk=run.dataset_id, removed_at__isnull=False, runs=None).delete()
