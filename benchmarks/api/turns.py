"""Turns of trajectories, one narrow row each, in pages: for data frames."""

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Id, PageOut, one_page
from benchmarks.models import Trajectory, Turn


class TurnQuery(Schema):
    """The turns to list: of runs, of a trajectory, or both."""

    run: list[Id] = Field([], max_length=100, description="Runs; may be given several times.")
    trajectory: Id | None = None
    final: bool = Field(False, description="Only the last turn of each trajectory.")
    after: Id | None = Field(None, description="Begin behind this id; `next` holds it.")
    limit: int = Field(200, ge=1, le=1000, description="Rows in a page.")


class TurnRow(Schema):
    """A turn: what the agent wrote, the feedback to it, and how many constraints it broke."""

    id: int
    run: int
    trajectory: int
    turn: int
    is_final: bool
    task: str
    agent: str
    level: str
    condition: str
    attempt: int
    text: str
    feedback: str
    violations: int
    new_violations: int
    repeated_violations: int


router = Router(tags=["Trajectories"])
# Field of a row, and where it comes from.
COLUMNS = {
    "id": "pk",
    "run": "trajectory__run",
    "trajectory": "trajectory",
    "turn": "index",
    "is_final": "is_final",
    "task": "trajectory__task__external_id",
    "agent": "trajectory__run__agent__name",
    "level": "trajectory__run__level",
    "condition": "trajectory__run__condition",
    "attempt": "trajectory__attempt",
    "text": "text",
    "feedback": "feedback",
    "violations": "broken",
    "new_violations": "broken_new",
    "repeated_violations": "broken_again",
}


@router.get("/turns", response={200: PageOut[TurnRow], **refusals()})
def list_turns(request: HttpRequest, query: Query[TurnQuery]) -> dict[str, Any]:
    """List the turns of runs or of a trajectory."""
    allow(request, VIEW)
    if not query.run and query.trajectory is None:
        raise ApiError(422, "Name at least one run or a trajectory.", "run")
    visible = visibility(request).of(Trajectory.objects.all())
    if query.run:
        visible = visible.filter(run__in=query.run)
    if query.trajectory is not None:
        visible = visible.filter(pk=query.trajectory)
    rows = Turn.objects.filter(trajectory__in=visible.order_by().values("pk"))
    if query.final:
        rows = rows.filter(is_final=True)
    page, following = one_page(request, rows.only("pk"), query.limit)
    turns = Turn.objects.filter(pk__in=[row.pk for row in page.rows]).annotate(
        broken=Count("violations"),
        broken_new=Count("violations", filter=Q(violations__new=True)),
        broken_again=Count("violations", filter=Q(violations__repeated=True)),
    )
    values = turns.order_by("pk").values_list(*COLUMNS.values())
    return {
        "items": [dict(zip(COLUMNS, row, strict=True)) for row in values],
        "next": following,
    }
