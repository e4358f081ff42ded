"""Re-judging: what it would take, starting it, and which judging of a run counts."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from benchmarks.access import START, allow, fetch, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.requests import Id, Strict
from benchmarks.api.runs import RunStatus, check_named_endpoints, fetch_run
from benchmarks.judging.plans import plan_judging
from benchmarks.judging.requests import JudgingRequest
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import choose_judging, start_judging
from benchmarks.models import Judging, Run


class JudgingPlanOut(Schema):
    """The calls and cost that a re-judging would take; null where nobody can tell."""

    runs: int
    trajectories: int
    left_out: int = Field(description="Chosen trajectories that cannot be re-judged.")
    turns: int
    calls: dict[str, int] = Field(description="The most calls by role, if all are readable.")
    likely_cost: float | None
    most_cost: float | None
    currency: str


class JudgingOut(Schema):
    """One pass of judges over the turns of a run."""

    id: int
    name: str
    run: int = Field(description="The run whose turns were judged.")
    made_by: int | None = Field(description="The run that carries it; null if judged live.")
    status: RunStatus
    primary: bool = Field(description="Its scores and metrics count for the run.")


class JudgingsOut(Schema):
    """The judgings that a request started, one for each run."""

    judgings: list[JudgingOut]
    trajectories: int


class PrimaryIn(Strict):
    """The judging that is to count; null for none, where none was made live."""

    judging: Id | None


router = Router(tags=["Judgings"])


@router.post("/judgings/plan", response={200: JudgingPlanOut, **refusals(400, 413)})
def preview_judging(request: HttpRequest, wanted: JudgingRequest) -> dict[str, Any]:
    """Count what a re-judging would take. Nothing is started."""
    allow(request, START)
    check_named_endpoints(request, wanted.roles)
    plan = plan_judging(
        chosen=_chosen(request, wanted), roles=wanted.roles, settings=wanted.settings
    )
    return plan.as_json()


@router.post(
    "/judgings", response={201: JudgingsOut, **refusals(400, 409, 413)}, openapi_extra=DESCRIPTION
)
def start_new_judging(request: HttpRequest, wanted: JudgingRequest) -> Status[Any]:
    """Have judges look at stored trajectories again: one judging for each run, all or none.

    What was said before stays; the new scores count when you make the judging the primary one.
    """
    allow(request, START)

    def act() -> Answer:
        check_named_endpoints(request, wanted.roles)
        runs = start_judging(
            chosen=_chosen(request, wanted),
            **wanted.model_dump(exclude={"runs", "trajectories"}),
            created_by=user_of(request),
        )
        rows = Judging.objects.filter(made_by__in=runs).select_related("run", "made_by")
        return 201, {
            "judgings": [_row(row) for row in rows.order_by("pk")],
            "trajectories": sum(run.trajectories.count() for run in runs),
        }

    return once(request, act, content=wanted.model_dump_json())


@router.get("/runs/{int:run_id}/judgings", response={200: list[JudgingOut], **refusals(404)})
def list_judgings(request: HttpRequest, run_id: int) -> list[dict[str, Any]]:
    """List the judgings of a run, oldest first."""
    run = fetch_run(request, run_id)
    rows = run.judgings.select_related("run", "made_by").order_by("pk")
    return [_row(row) for row in rows]


@router.post("/runs/{int:run_id}/judging", response={200: list[JudgingOut], **refusals(404)})
def choose_primary_judging(
    request: HttpRequest, run_id: int, wanted: PrimaryIn
) -> list[dict[str, Any]]:
    """Make one of a run's judgings the primary one; it must cover every ended trajectory."""
    run = fetch(request, Run.objects.all(), START, pk=run_id)
    judging = None
    if wanted.judging is not None:
        judging = run.judgings.filter(pk=wanted.judging).first()
        if judging is None:
            raise ApiError(422, f"Run {run_id} has no judging {wanted.judging}.", "judging")
    choose_judging(run=run, judging=judging, by=user_of(request))
    return list_judgings(request, run_id)


def _chosen(request: HttpRequest, wanted: JudgingRequest) -> TrajectoryChoice:
    if not wanted.runs and not wanted.trajectories:
        raise ApiError(422, "Name runs or trajectories.", "runs")
    there = visibility(request).of(Run.objects.filter(pk__in=wanted.runs))
    if missing := set(wanted.runs) - set(there.values_list("pk", flat=True)):
        raise ApiError(422, f"There is no run {min(missing)}.", "runs")
    ids = tuple(wanted.trajectories) or None
    return TrajectoryChoice(tuple(wanted.runs), ids, seen=visibility(request))


def _row(judging: Judging) -> dict[str, Any]:
    carrier = judging.made_by or judging.run
    return {
        "id": judging.pk,
        "name": judging.name,
        "run": judging.run_id,
        "made_by": judging.made_by_id,
        "status": carrier.status,
        "primary": judging.run.primary_judging_id == judging.pk,
    }
