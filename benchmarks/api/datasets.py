"""Datasets and their tasks."""

from typing import Any

from django.http import HttpRequest
from ninja import Query, Router

from benchmarks.access import VIEW, allow, fetch, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.requests import Paged, one_page
from benchmarks.api.schemas.catalogue import (
    DatasetDetail,
    DatasetOut,
    TaskDetail,
    TaskQuery,
    TaskRow,
)
from benchmarks.api.schemas.common import PageOut
from benchmarks.datasets import selectors as datasets
from benchmarks.models import Dataset, Task

router = Router(tags=["Datasets"])


@router.get("/datasets", response={200: PageOut[DatasetOut], **refusals()})
def list_datasets(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """Datasets, the newest first."""
    allow(request, VIEW)
    rows = datasets.datasets(visibility(request))
    found, following = one_page(request, rows, page.limit, newest=True)
    return {"items": [_dataset(row) for row in found.rows], "next": following}


@router.get("/datasets/{int:dataset_id}", response={200: DatasetDetail, **refusals(404)})
def get_dataset(request: HttpRequest, dataset_id: int) -> dict[str, Any]:
    """One dataset with its levels."""
    found = fetch(request, datasets.datasets(visibility(request)), pk=dataset_id)
    sizes = datasets.level_sizes(found)
    return {
        **_dataset(found),
        "levels": [
            {
                "level": row.level,
                "profiles": row.profiles,
                "constraints": dict(zip(sizes.kinds, row.means, strict=True)),
            }
            for row in sizes.rows
        ],
    }


@router.get("/datasets/{int:dataset_id}/tasks", response={200: PageOut[TaskRow], **refusals(404)})
def list_tasks(request: HttpRequest, dataset_id: int, query: Query[TaskQuery]) -> dict[str, Any]:
    """The tasks of a dataset."""
    found = fetch(request, Dataset.objects.all(), pk=dataset_id)
    rows = datasets.dataset_tasks(found, query.q, query.category, visibility(request))
    page, following = one_page(request, rows, query.limit)
    return {
        "items": [
            {
                "id": row.pk,
                "external_id": row.external_id,
                "prompt": row.prompt,
                "category": row.category,
                "levels": row.levels,  # type: ignore[attr-defined]  # annotated
                "trajectories": row.plays,  # type: ignore[attr-defined]
            }
            for row in page.rows
        ],
        "next": following,
    }


@router.get("/tasks/{int:task_id}", response={200: TaskDetail, **refusals(404)})
def get_task(request: HttpRequest, task_id: int) -> dict[str, Any]:
    """One task with its hidden constraints."""
    found = fetch(request, Task.objects.select_related("dataset"), pk=task_id)
    return {
        "id": found.pk,
        "external_id": found.external_id,
        "dataset": found.dataset,
        "prompt": found.prompt,
        "category": found.category,
        "payload": found.payload,
        "levels": [
            {
                "level": level.level,
                "constraints": [
                    {"kind": kind, "text": c.text, "about": c.about, "added": c.added}
                    for kind, constraints in level.kinds
                    for c in constraints
                ],
            }
            for level in datasets.task_levels(found)
        ],
    }


def _dataset(row: Dataset) -> dict[str, Any]:
    counts: Any = row  # annotated by the selector
    return {
        "id": row.pk,
        "system": row.system,
        "name": row.name,
        "version": row.version,
        "source": row.source,
        "licence": row.licence,
        "notes": row.notes,
        "is_demo": row.is_demo,
        "tasks": counts.task_count,
        "profiles": counts.profile_count,
        "created_at": row.created_at,
    }
