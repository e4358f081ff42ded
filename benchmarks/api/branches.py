"""Branches: starting them, and those that a trajectory has."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from benchmarks.access import START, fetch, visibility
from benchmarks.api.auth import user_of
from benchmarks.api.errors import refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.runs import check_named_endpoints
from benchmarks.branches.requests import BranchRequest, start_branches
from benchmarks.models import Branch, Trajectory
from benchmarks.trajectories.selectors import with_page_relations


class BranchOut(Schema):
    """A trajectory that shares the log of another one before `turn`."""

    trajectory: int
    run: int
    parent: int
    turn: int
    arm: str = Field(description="`edited`, `kept` (the same answer) or `again` (asked again).")
    status: str
    termination: str


class BranchesOut(Schema):
    """The branches that a request started, all in one run."""

    run: int
    branches: list[BranchOut]


router = Router(tags=["Branches"])


@router.post(
    "/trajectories/{int:trajectory_id}/branches",
    response={201: BranchesOut, **refusals(400, 404, 409, 413)},
    openapi_extra=DESCRIPTION,
)
def start_trajectory_branches(
    request: HttpRequest, trajectory_id: int, wanted: BranchRequest
) -> Status[Any]:
    """Say something else at a turn and play on; without a turn, ask every turn again.

    The branches share the log before the turn, and the trajectory stays as it is.
    """
    trajectory = fetch(request, with_page_relations(), START, pk=trajectory_id)

    def act() -> Answer:
        check_named_endpoints(request, wanted.roles)
        run = start_branches(wanted, trajectory=trajectory, by=user_of(request))
        rows = Branch.objects.filter(trajectory__run=run).select_related("trajectory")
        return 201, {"run": run.pk, "branches": [_row(row) for row in rows.order_by("pk")]}

    return once(request, act, content=wanted.model_dump_json())


@router.get(
    "/trajectories/{int:trajectory_id}/branches",
    response={200: list[BranchOut], **refusals(404)},
)
def list_trajectory_branches(request: HttpRequest, trajectory_id: int) -> list[dict[str, Any]]:
    """List the branches that leave a trajectory, oldest first."""
    trajectory = fetch(request, Trajectory.objects.all(), pk=trajectory_id)
    readable = visibility(request).of(Trajectory.objects.filter(branch__parent=trajectory))
    rows = Branch.objects.filter(trajectory__in=readable).select_related("trajectory")
    return [_row(row) for row in rows.order_by("pk")]


def _row(branch: Branch) -> dict[str, Any]:
    row = branch.trajectory
    return {
        "trajectory": row.pk,
        "run": row.run_id,
        "parent": branch.parent_id,
        "turn": branch.turn,
        "arm": branch.arm,
        "status": row.status,
        "termination": row.termination,
    }
