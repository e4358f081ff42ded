"""Deletions: a dry run that counts, and the deletion itself, which a worker carries out."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from benchmarks.access import START, fetch
from benchmarks.api.auth import user_of
from benchmarks.api.catalogue import datasets_router
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.imports import router as imports_router
from benchmarks.api.requests import Strict
from benchmarks.api.runs import router as runs_router
from benchmarks.deletion.plans import (
    DeletionPlan,
    may_delete,
    plan_dataset,
    plan_experiment,
    plan_import,
    plan_run,
)
from benchmarks.deletion.services import begin_deletion
from benchmarks.imports.selectors import import_jobs
from benchmarks.models import Dataset, Experiment, Run

# Each operation belongs to the router that has its path, which answers other methods with 405.
router = Router(tags=["Experiments"])


class DeletionQuery(Strict):
    """Whether to delete, or only to count."""

    dry_run: bool = Field(False, description="Count what goes and what refuses; delete nothing.")


class DeletionOut(Schema):
    """What a deletion takes."""

    title: str
    counts: dict[str, int] = Field(description="Rows that go, by kind.")
    refusals: list[str] = Field(description="What keeps it from being deleted.")
    job: int | None = Field(description="The job that deletes the rows; null for a dry run.")


ANSWERS: Any = {200: DeletionOut, 202: DeletionOut, **refusals(404, 409)}


def deletion_row(plan: DeletionPlan, job: int | None = None) -> dict[str, Any]:
    """Return a plan as the API shows it."""
    words = [refusal.words for refusal in plan.refusals]
    return {"title": plan.title, "counts": dict(plan.counts), "refusals": words, "job": job}


def answer_deletion(
    plan: DeletionPlan, query: DeletionQuery, begin: Callable[[], int]
) -> Status[Any]:
    """Return the dry run, or begin the deletion if nothing refuses it; ``begin`` returns the
    job.
    """
    if query.dry_run:
        return Status(200, deletion_row(plan))
    if plan.refusals:
        raise ApiError(409, " ".join(refusal.words for refusal in plan.refusals))
    return Status(202, deletion_row(plan, begin()))


def _delete(
    request: HttpRequest,
    rows: QuerySet[Any],
    pk: int,
    planned: Callable[[Any], DeletionPlan],
    query: DeletionQuery,
) -> Status[Any]:
    row, user = fetch(request, rows, START, pk=pk), user_of(request)
    plan = planned(row)
    if not may_delete(user, row, plan):
        raise ApiError(403, "Only administrators and those who started or imported it delete it.")
    return answer_deletion(plan, query, lambda: begin_deletion(plan, by=user).pk)


@runs_router.delete("/runs/{int:run_id}", response=ANSWERS)
def delete_run(request: HttpRequest, run_id: int, query: Query[DeletionQuery]) -> Status[Any]:
    """Delete an ended run with its trajectories; 409 if a study needs them."""
    return _delete(request, Run.objects.all(), run_id, plan_run, query)


@router.delete("/experiments/{int:experiment_id}", response=ANSWERS)
def delete_experiment(
    request: HttpRequest, experiment_id: int, query: Query[DeletionQuery]
) -> Status[Any]:
    """Delete an experiment with all its runs."""
    return _delete(request, Experiment.objects.all(), experiment_id, plan_experiment, query)


@datasets_router.delete("/datasets/{int:dataset_id}", response=ANSWERS)
def delete_dataset(
    request: HttpRequest, dataset_id: int, query: Query[DeletionQuery]
) -> Status[Any]:
    """Delete a dataset that no run uses."""
    return _delete(request, Dataset.objects.all(), dataset_id, plan_dataset, query)


@imports_router.delete("/imports/{int:job_id}", response=ANSWERS)
def delete_import(request: HttpRequest, job_id: int, query: Query[DeletionQuery]) -> Status[Any]:
    """Delete what an import stored: its runs, and its dataset if it made one."""
    return _delete(request, import_jobs(), job_id, plan_import, query)
