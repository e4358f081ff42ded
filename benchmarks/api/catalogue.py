"""Systems, datasets, tasks and agents."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from benchmarks.access import VIEW, allow, fetch, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.requests import AgentRef, DatasetRef, Paged, PageOut, one_page
from benchmarks.core.registry import SYSTEMS, get_system
from benchmarks.datasets import selectors as datasets
from benchmarks.models import Agent, Dataset, Task
from benchmarks.validity.selectors import current_certificate


class RoleOut(Schema):
    """A role that somebody fills."""

    name: str
    title: str
    judges: bool
    seats: int = Field(description="How many fill it unless a run says otherwise.")
    scripts: list[str] = Field(description="Names of the scripted answerers that can fill it.")


class SettingOut(Schema):
    """A setting of a run."""

    name: str
    kind: str
    default: bool | int | float | str | None
    help: str
    choices: list[str]
    minimum: float | None
    maximum: float | None


class DimensionOut(Schema):
    """A dimension of a rubric."""

    key: str
    title: str
    definition: str


class SystemOut(Schema):
    """A benchmark system."""

    key: str
    title: str
    protocol_version: str
    roles: list[RoleOut]
    settings: list[SettingOut]
    dimensions: list[DimensionOut]


class DatasetOut(DatasetRef):
    """A dataset."""

    source: str
    licence: str
    notes: str
    is_demo: bool
    tasks: int
    profiles: int
    created_at: datetime


class LevelSizeOut(Schema):
    """A level of a dataset with the mean number of constraints of a profile, by kind."""

    level: str
    profiles: int
    constraints: dict[str, float]


class DatasetDetail(DatasetOut):
    """A dataset with its levels, from easy to hard."""

    levels: list[LevelSizeOut]
    validity: dict[str, Any] | None = Field(
        description="The certificate of validity: usable tasks, those left out with the reason, "
        "and what blind policies score; null where there is none."
    )


class TaskQuery(Paged):
    """The filters of tasks."""

    q: str = Field("", max_length=200, description="Words in the task's id or text.")
    category: str = Field("", max_length=80)


class TaskRow(Schema):
    """A task."""

    id: int
    external_id: str
    prompt: str
    category: str
    levels: int = Field(description="How many levels it has.")
    trajectories: int


class ConstraintOut(Schema):
    """A hidden constraint."""

    kind: str
    text: str
    about: str
    added: bool = Field(description="Whether the level before did not have it.")


class TaskLevelOut(Schema):
    """A level of a task."""

    level: str
    constraints: list[ConstraintOut]


class TaskDetail(Schema):
    """A task with what is hidden from the agent, level by level."""

    id: int
    external_id: str
    dataset: DatasetRef
    prompt: str
    category: str
    payload: dict[str, Any] = Field(description="What the dataset says of it besides.")
    levels: list[TaskLevelOut]


class AgentOut(AgentRef):
    """An agent that can be put into a run."""

    system: str = Field(description="The system it is made for; empty for all.")
    note: str


systems_router = Router(tags=["Systems"])


@systems_router.get("/systems", response={200: list[SystemOut], **refusals()})
def list_systems(request: HttpRequest) -> list[dict[str, Any]]:
    """List all systems with their roles, settings and dimensions."""
    allow(request, VIEW)
    return [_system(key) for key in SYSTEMS]


@systems_router.get("/systems/{key}", response={200: SystemOut, **refusals(404)})
def get_one_system(request: HttpRequest, key: str) -> dict[str, Any]:
    """Return one system."""
    allow(request, VIEW)
    if key not in SYSTEMS:
        raise Http404
    return _system(key)


def _system(key: str) -> dict[str, Any]:
    system = get_system(key)
    scripts = system.scripted.values()
    return {
        "key": system.key,
        "title": system.title,
        "protocol_version": system.protocol_version,
        "roles": [
            {
                "name": role.name,
                "title": role.title,
                "judges": role.judges,
                "seats": role.seats,
                "scripts": [p.name for p in scripts if p.role == role.name],
            }
            for role in system.roles
        ],
        "settings": [
            {
                "name": setting.name,
                "kind": setting.kind,
                "default": setting.default,
                "help": setting.help,
                "choices": list(setting.choices),
                "minimum": setting.minimum,
                "maximum": setting.maximum,
            }
            for setting in system.settings
        ],
        "dimensions": [
            {"key": d.key, "title": d.title, "definition": d.definition} for d in system.dimensions
        ],
    }


agents_router = Router(tags=["Agents"])


@agents_router.get("/agents", response={200: PageOut[AgentOut], **refusals()})
def list_agents(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """List all agents."""
    allow(request, VIEW)
    rows = visibility(request).of(Agent.objects.all())
    page_rows, following = one_page(request, rows, page.limit)
    return {"items": page_rows.rows, "next": following}


@agents_router.get("/agents/{int:agent_id}", response={200: AgentOut, **refusals(404)})
def get_agent(request: HttpRequest, agent_id: int) -> Agent:
    """Return one agent."""
    return fetch(request, Agent.objects.all(), pk=agent_id)


datasets_router = Router(tags=["Datasets"])


@datasets_router.get("/datasets", response={200: PageOut[DatasetOut], **refusals()})
def list_datasets(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """List datasets, the newest first."""
    allow(request, VIEW)
    rows = datasets.datasets(visibility(request))
    page_rows, following = one_page(request, rows, page.limit, newest=True)
    return {"items": [_dataset(row) for row in page_rows.rows], "next": following}


@datasets_router.get("/datasets/{int:dataset_id}", response={200: DatasetDetail, **refusals(404)})
def get_dataset(request: HttpRequest, dataset_id: int) -> dict[str, Any]:
    """Return one dataset with its levels."""
    seen = visibility(request)
    dataset = fetch(request, datasets.datasets(seen), pk=dataset_id)
    sizes = datasets.level_sizes(dataset)
    certificate = current_certificate(dataset)
    return {
        **_dataset(dataset),
        "levels": [
            {
                "level": row.level,
                "profiles": row.profiles,
                "constraints": dict(zip(sizes.kinds, row.means, strict=True)),
            }
            for row in sizes.rows
        ],
        "validity": certificate.summary(seen.tasks) if certificate is not None else None,
    }


@datasets_router.get(
    "/datasets/{int:dataset_id}/tasks", response={200: PageOut[TaskRow], **refusals(404)}
)
def list_tasks(request: HttpRequest, dataset_id: int, query: Query[TaskQuery]) -> dict[str, Any]:
    """List the tasks of a dataset."""
    dataset = fetch(request, Dataset.objects.all(), pk=dataset_id)
    rows = datasets.dataset_tasks(dataset, query.q, query.category, visibility(request))
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


@datasets_router.get("/tasks/{int:task_id}", response={200: TaskDetail, **refusals(404)})
def get_task(request: HttpRequest, task_id: int) -> dict[str, Any]:
    """Return one task with its hidden constraints."""
    task = fetch(request, Task.objects.select_related("dataset"), pk=task_id)
    return {
        "id": task.pk,
        "external_id": task.external_id,
        "dataset": task.dataset,
        "prompt": task.prompt,
        "category": task.category,
        "payload": task.payload,
        "levels": [
            {
                "level": level.level,
                "constraints": [
                    {"kind": kind, "text": c.text, "about": c.about, "added": c.added}
                    for kind, constraints in level.kinds
                    for c in constraints
                ],
            }
            for level in datasets.task_levels(task)
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
