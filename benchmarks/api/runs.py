"""Runs: lists, progress, starting, pausing, resuming, cancelling, metrics."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema, Status
from pydantic import Field

from benchmarks.access import START, VIEW, allow, fetch, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.requests import (
    AgentRef,
    DatasetRef,
    Id,
    Paged,
    PageOut,
    Strict,
    filled,
    one_page,
)
from benchmarks.comparability.certificates import run_certificates
from benchmarks.core.errors import UnknownName
from benchmarks.core.registry import EXTERNAL, SYSTEMS
from benchmarks.models import Agent, Dataset, Endpoint, Run, Trajectory
from benchmarks.roles.selectors import agents_for
from benchmarks.roles.services import AT, ensure_scripted_agents
from benchmarks.runs import selectors as runs
from benchmarks.runs.requests import RunRequest, start_requested
from benchmarks.runs.services import cancel_run, pause_run, resume_run
from benchmarks.verification.selectors import latest_verification

RunKind = Literal["made", "imported", "practice", "judging", "construct", "branch"]
RunStatus = Literal["queued", "running", "paused", "waiting", "attention", "done", "cancelled"]


class RunQuery(Paged):
    """The filters of the list of runs."""

    dataset: Id | None = None
    agent: Id | None = None
    level: str = Field("", max_length=20)
    status: RunStatus | None = None
    kind: RunKind | None = None
    condition: str = Field("", max_length=1000)
    experiment: Id | None = Field(None, description="Runs that were started together.")


class ProgressOut(Schema):
    """The progress of a run, in trajectories."""

    total: int
    done: int
    failed: int
    waiting: int
    running: int
    cancelled: int
    rate: float | None = Field(description="A minute; null while unknown.")
    left: float | None = Field(description="Seconds that it will still take; null while unknown.")


class RunOut(Schema):
    """A run."""

    id: int
    experiment: int | None
    kind: RunKind = Field(
        description="Runs of the first two kinds try an agent; in `judging`, judges look once more "
        "at stored trajectories."
    )
    dataset: DatasetRef
    agent: AgentRef
    level: str
    condition: str
    seed: int
    status: RunStatus
    is_demo: bool
    source: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: ProgressOut


class AspectOut(Schema):
    """How runs compare with the setting of published figures in one aspect."""

    aspect: str
    title: str
    verdict: Literal["same", "different", "unknown"]
    published: str = Field(description="What the paper had.")
    here: str = Field(description="What the runs have.")


class CertificateOut(Schema):
    """A certificate of comparability: how runs compare with the setting of published figures."""

    paper: str
    sources: list[str] = Field(description="Tables and sections of the paper with these figures.")
    summary: dict[str, int] = Field(description="The number of aspects by verdict.")
    aspects: list[AspectOut]


class RunDetail(RunOut):
    """A run with all that made it what it is."""

    settings: dict[str, Any]
    roles: dict[str, Any] = Field(description="Who fills every role.")
    pins: dict[str, Any] = Field(description="The versions that it was made with.")
    problem: str = Field(description="Why it was paused without anybody asking.")
    cost: float | None = Field(description="What its calls cost so far; null without prices.")
    cost_cap: float | None
    currency: str
    seal: str = Field(
        description="Digest of all that is stored of the run, by its newest verification; empty "
        "if it was not verified since it last changed."
    )
    comparability: list[CertificateOut] = Field(
        description="How the run compares with each setting of published figures."
    )


class RunsOut(Schema):
    """The runs that a request started, one for each agent and level."""

    experiment: int
    runs: list[int]
    trajectories: int


class NewRuns(RunRequest):
    """The runs to start."""

    dataset: Id


class MetricOut(Schema):
    """A figure of a run: null is undefined; what is outside it is counted by reason."""

    value: float | None
    n: int
    excluded: dict[str, int]


class UsableOut(Schema):
    """How many tasks their own reference solves, of those that were checked."""

    usable: int
    checked: int


class MetricsOut(Schema):
    """The metrics of a run as its system has them, over the trajectories that ended."""

    run: int
    system: str
    judging: str | None
    trajectories: int
    status: dict[str, int] = Field(description="Trajectories by status.")
    terminations: dict[str, int] = Field(description="Trajectories by ending.")
    metrics: dict[str, MetricOut]
    left_out: int = Field(
        description="Ended trajectories that nothing here counts, because the reference of their "
        "task does not solve it."
    )
    usable: UsableOut | None = Field(
        description="Tasks of the run's level that their reference solves; null without a "
        "certificate of validity."
    )
    details: dict[str, Any] = Field(description="What only this system computes.")


def run_row(run: Run, progress: Any) -> dict[str, Any]:
    """Return a run as the list shows it."""
    return {
        "id": run.pk,
        "experiment": run.experiment_id,
        "kind": run.kind,
        "dataset": run.dataset,
        "agent": run.agent,
        "level": run.level,
        "condition": run.condition,
        "seed": run.seed,
        "status": run.status,
        "is_demo": run.is_demo,
        "source": run.source,
        "created_at": run.created_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "progress": progress,
    }


router = Router(tags=["Runs"])
# What the metrics of all systems have; the run itself can be looked up.
REMEDY = (
    "Choose a language model as judge under roles, such as endpoint:NAME, or send "
    "accept_undefined: true to start anyway."
)
_SHARED = frozenset(
    {*MetricsOut.model_fields, "dataset", "agent", "level", "condition", "seed"} - {"details"}
)


def _rows() -> QuerySet[Run]:
    return Run.objects.select_related("dataset", "agent", "primary_judging")


def fetch_run(request: HttpRequest, run_id: int, permission: str = VIEW) -> Run:
    """Return a run that this user may see."""
    return fetch(request, _rows(), permission, pk=run_id)


@router.get("/runs", response={200: PageOut[RunOut], **refusals()})
def list_runs(request: HttpRequest, query: Query[RunQuery]) -> dict[str, Any]:
    """List runs, the newest first, with how far they are."""
    allow(request, VIEW)
    rows = visibility(request).of(runs.run_list(filled(query)))
    page, following = one_page(request, rows, query.limit, newest=True)
    progress = runs.runs_progress(list(page.rows))
    return {
        "items": [run_row(run, progress[run.pk]) for run in page.rows],
        "next": following,
    }


@router.get("/runs/{int:run_id}", response={200: RunDetail, **refusals(404)})
def get_run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """Return one run with its progress, settings, roles and versions."""
    return _detail(fetch_run(request, run_id))


@router.post("/runs", response={201: RunsOut, **refusals(400, 409, 413)}, openapi_extra=DESCRIPTION)
def start_new_runs(request: HttpRequest, wanted: NewRuns) -> Status[Any]:
    """Start runs: one for each agent and level, all of them or none."""
    allow(request, START)

    def act() -> Answer:
        dataset = _dataset(request, wanted.dataset)
        check_named_endpoints(request, wanted.roles)
        started = start_requested(
            wanted,
            dataset=dataset,
            agents=_agents(request, dataset, wanted.agents),
            remedy=REMEDY,
            created_by=user_of(request),
        )
        return 201, {
            "experiment": started[0].experiment_id,
            "runs": [run.pk for run in started],
            "trajectories": Trajectory.objects.filter(run__in=started).count(),
        }

    return once(request, act, content=wanted.model_dump_json())


def _dataset(request: HttpRequest, pk: int) -> Dataset:
    dataset = visibility(request).of(Dataset.objects.filter(pk=pk)).first()
    if dataset is None:
        raise ApiError(422, f"There is no dataset {pk}.", "dataset")
    if dataset.system not in SYSTEMS:
        raise ApiError(422, f"{dataset} was made elsewhere; nothing can be run on it.", "dataset")
    return dataset


def _agents(request: HttpRequest, dataset: Dataset, names: list[str]) -> list[Agent]:
    """Return the agents by name, as the form offers them. The error lists none: names may be
    closed.
    """
    ensure_scripted_agents()
    known = {agent.name: agent for agent in agents_for(dataset.system, visibility(request))}
    for name in names:
        if name not in known:
            raise ApiError(
                422, f"No agent {name!r} can be run on {dataset.system}; see /agents.", "agents"
            )
    return [known[name] for name in dict.fromkeys(names)]


def check_named_endpoints(request: HttpRequest, roles: Mapping[str, list[str]]) -> None:
    """Check the endpoints that roles name; one that is closed is not known to its asker."""
    named = {
        assignment.removeprefix(AT)
        for assignments in roles.values()
        for assignment in assignments
        if assignment.startswith(AT)
    }
    if named:
        rows = visibility(request).of(Endpoint.objects.filter(name__in=named))
        for name in sorted(named - set(rows.values_list("name", flat=True))):
            raise UnknownName("endpoint", name, [])


def _change(request: HttpRequest, run_id: int, act: Callable[..., None]) -> dict[str, Any]:
    run = fetch_run(request, run_id, START)
    act(run=run)
    return _detail(get_object_or_404(_rows(), pk=run_id))


@router.post("/runs/{int:run_id}/pause", response={200: RunDetail, **refusals(404)})
def pause_one_run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """Begin nothing further; what is under way is still stored."""
    return _change(request, run_id, pause_run)


class ResumeRequest(Strict):
    """The changes with which a paused run goes on."""

    cost_cap: float | None = Field(
        None, description="A new cost cap, such as a higher one where the run stopped at its cap."
    )


@router.post("/runs/{int:run_id}/resume", response={200: RunDetail, **refusals(400, 404, 413)})
def resume_one_run(
    request: HttpRequest, run_id: int, changes: ResumeRequest | None = None
) -> dict[str, Any]:
    """Go on where a paused run was left; a body is needed for a new cost cap alone."""
    cap = changes.cost_cap if changes else None
    return _change(request, run_id, partial(resume_run, cap=cap))


@router.post("/runs/{int:run_id}/cancel", response={200: RunDetail, **refusals(404)})
def cancel_one_run(request: HttpRequest, run_id: int) -> dict[str, Any]:
    """End a run for good; what has ended before is kept."""
    return _change(request, run_id, cancel_run)


@router.get("/runs/{int:run_id}/metrics", response={200: MetricsOut, **refusals(404)})
def get_run_metrics(request: HttpRequest, run_id: int, every_task: bool = False) -> dict[str, Any]:
    """Return the metrics of a run, with what is left out of each and why.

    With `every_task`, tasks count that their own reference does not solve.
    """
    run = fetch_run(request, run_id)
    if run.dataset.system not in (*SYSTEMS, EXTERNAL):
        raise ApiError(422, f"The system {run.dataset.system} is not known here any more.")
    found_metrics = runs.run_metrics(run, every_task=every_task)
    details = {name: value for name, value in found_metrics.items() if name not in _SHARED}
    return {**found_metrics, "details": details}


def _detail(run: Run) -> dict[str, Any]:
    verification = latest_verification(run)
    return {
        **run_row(run, runs.run_progress(run)),
        "settings": run.settings,
        "roles": run.roles,
        "pins": run.pins,
        "problem": run.problem,
        "cost": max(0.0, round(run.committed, 12)) if run.currency else None,
        "cost_cap": run.cost_cap,
        "currency": run.currency,
        "seal": verification.seal if verification is not None else "",
        "comparability": [one.as_json() for one in run_certificates(run)],
    }
