"""Carry out deletions: mark the rows, so that no page shows them, then delete them in portions.

A job does the second part. Stopped anywhere, it continues with what is still there.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.db.models import Model, ProtectedError, Q, QuerySet
from django.dispatch import Signal
from django.utils import timezone

from benchmarks.core.errors import CoreError
from benchmarks.deletion.plans import DeletionPlan, held, plan_deletion
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import named_lock, pause_writing
from benchmarks.models import (
    Dataset,
    Experiment,
    Job,
    JudgeScore,
    Judging,
    Run,
    SharedData,
    Task,
    Trajectory,
)

KIND = "delete"
# So many trajectories are deleted in the first transaction: some hundred calls and a thousand
# scores. Short trajectories then go in larger portions, up to the most, which bounds the memory.
PORTION, MOST = 20, 320
# In seconds: transactions are to take about so long, because others wait for what they lock.
BRIEF, LONG = 0.25, 0.75
TASKS = 500

# Sent with ``ids`` in the transaction in which trajectories are deleted, for what refers to them
# without a foreign key.
trajectories_deleted = Signal()
Companions = Callable[[Job, Callable[[], None]], None]
_delete_companions: list[Companions] = []


class DeletionError(CoreError):
    """Raised if something cannot be deleted; the text says why."""


def companions_first(delete: Companions) -> Companions:
    """Register the function that deletes a job's companions before the runs that they use.

    It is also given a function that renews the job's lease, to be called after each portion.
    """
    if delete not in _delete_companions:
        _delete_companions.append(delete)
    return delete


def begin_deletion(
    plan: DeletionPlan,
    *,
    by: User | None,
    mark: Callable[[], Iterable[Model]] = tuple,
    archive: bool = False,
) -> Job:
    """Hide what a plan names, and have a worker delete it; returns the job.

    ``mark`` hides companions in the same transaction, and returns them; with ``archive`` the worker
    exports them first. Raises ``DeletionError`` if anything refuses.
    """
    refuse(plan)
    with locked_plan(plan) as fresh:
        now = timezone.now()
        runs, datasets = Run.objects.filter(pk__in=fresh.runs), _datasets(fresh.datasets)
        experiments = set(runs.exclude(experiment=None).values_list("experiment", flat=True))
        runs.update(removed_at=now)
        datasets.update(removed_at=now)
        _log([*mark(), *runs.order_by("pk"), *datasets.order_by("pk")], by)
        return enqueue_job(
            kind=KIND,
            title=f"Deleting {plan.title}"[:200],
            payload={
                "runs": list(fresh.runs),
                "datasets": list(fresh.datasets),
                "companions": list(fresh.companions),
                "experiments": sorted(experiments),
                "archive": archive,
            },
            total=fresh.counts.get("Trajectories", 0) + fresh.counts.get("Tasks", 0),
            created_by=by,
        )


@contextmanager
def locked_plan(plan: DeletionPlan) -> Iterator[DeletionPlan]:
    """Open a transaction in which nothing begins to use what a plan names; yield the plan as it is
    now.

    Raises ``DeletionError`` if anything refuses.
    """
    with named_lock("deletion"):
        list(Run.objects.select_for_update().filter(pk__in=plan.runs).order_by("pk"))
        list(Dataset.objects.select_for_update().filter(pk__in=plan.datasets).order_by("pk"))
        fresh = plan_deletion(
            plan.title, runs=plan.runs, datasets=plan.datasets, companions=plan.companions
        )
        refuse(fresh)
        yield fresh


def refuse(plan: DeletionPlan) -> None:
    """Raise ``DeletionError`` with all that refuses a plan, or if it names nothing."""
    if plan.refusals:
        raise DeletionError(" ".join(refusal.words for refusal in plan.refusals))
    if not (plan.runs or plan.datasets or plan.companions):
        raise DeletionError("there is nothing left to delete")


def _datasets(ids: Sequence[int]) -> QuerySet[Dataset]:
    return Dataset.objects.filter(pk__in=ids)


def _log(rows: Iterable[Model], by: User | None) -> None:
    """Note in the administration's log what a person deletes."""
    if by is None:
        return
    for row in rows:
        LogEntry.objects.create(
            user=by, content_type=ContentType.objects.get_for_model(type(row)),
            object_id=str(row.pk), object_repr=str(row)[:200], action_flag=DELETION,
            change_message="Deleted.",
        )  # fmt: skip


@job_kind(KIND)
def delete_marked(job: Job, progress: Progress) -> None:
    """Delete what was marked, as far as it is still there."""
    runs, datasets = job.payload["runs"], job.payload["datasets"]
    for delete in _delete_companions if job.payload["companions"] else ():
        delete(job, progress.report)
    if not job.done and (refusals := held(runs, datasets, ())):
        # Somebody began to use it at the very moment in which it was marked; all is still there.
        Run.objects.filter(pk__in=runs).update(removed_at=None)
        _datasets(datasets).update(removed_at=None)
        raise DeletionError(" ".join(refusal.words for refusal in refusals))
    _delete_runs(runs, progress)
    _delete_datasets(datasets, progress)
    for pk in job.payload["experiments"]:
        _delete_if_empty(Experiment.objects.filter(pk=pk, runs=None))


def _delete_runs(runs: Sequence[int], progress: Progress) -> None:
    marked = Run.objects.filter(pk__in=runs, removed_at__isnull=False)
    done = progress.job.done
    for count in delete_trajectories(marked):
        done += count
        progress.report(done=done)
    with transaction.atomic():
        marked.update(primary_judging=None)
        Judging.objects.filter(Q(made_by__in=marked) | Q(run__in=marked)).delete()
        marked.delete()


def delete_trajectories(runs: QuerySet[Run]) -> Iterator[int]:
    """Delete the trajectories of runs in portions; yield how many each portion had."""
    rows = Trajectory.objects.filter(run__in=runs.values("pk")).order_by("pk")
    portion, last = PORTION, 0
    # From where the last portion ended, because those before are gone and would be passed over.
    while ids := list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:portion]):
        began, last = time.monotonic(), ids[-1]
        with transaction.atomic():
            every = _with_followers(ids)
            # Scores are protected by the replies that they were read from, so they go first.
            JudgeScore.objects.filter(exchange__trajectory__in=every).delete()
            JudgeScore.objects.filter(trajectory__in=every).delete()
            Trajectory.objects.filter(pk__in=every).delete()
            trajectories_deleted.send(Trajectory, ids=every)
        took = time.monotonic() - began
        yield len(every)
        portion = min(MOST, 2 * portion) if took < BRIEF else portion
        portion = max(1, portion // 2) if took > LONG else portion
        pause_writing()


def _with_followers(ids: Sequence[int]) -> list[int]:
    """Return trajectories with their re-judgings, and with the branches that share their log."""
    every: set[int] = set()
    more = set(ids)
    while more:
        every |= more
        rows = Trajectory.objects.filter(Q(judged__in=more) | Q(branch__parent__in=more))
        more = set(rows.order_by().values_list("pk", flat=True)) - every
    return sorted(every)


def _delete_datasets(datasets: Sequence[int], progress: Progress) -> None:
    marked = Dataset.objects.filter(pk__in=datasets, removed_at__isnull=False)
    rows = Task.objects.filter(dataset__in=marked.values("pk")).order_by("pk")
    while ids := list(rows.values_list("pk", flat=True)[:TASKS]):
        Task.objects.filter(pk__in=ids).delete()
        progress.report()
        pause_writing()
    shared = set(marked.exclude(shared=None).values_list("shared", flat=True))
    marked.delete()
    for digest in shared:
        _delete_if_empty(SharedData.objects.filter(pk=digest, dataset=None))


def _delete_if_empty(rows: QuerySet[Any]) -> None:
    """Delete rows that nothing refers to any more."""
    with suppress(ProtectedError), transaction.atomic():
        rows.delete()
