"""Failure labels on trajectories in the HTTP API."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.remarks.selectors import set_title, standing_labels
from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.requests import Id, Paged, PageOut, one_page
from benchmarks.models import Trajectory


class LabelQuery(Paged):
    """Which labels are wanted."""

    trajectory: Id | None = None
    set: str = Field("", max_length=20, description="The key of a label set, such as `mast`.")
    label: str = Field("", max_length=60, description="The key of a label.")


class PutLabelOut(Schema):
    """A label that is on a trajectory, or on one of its turns."""

    id: int
    trajectory: int
    turn: int | None
    label: str
    title: str
    group: str = Field(description="Its set and heading, or the system that it belongs to.")
    who: str
    at: datetime
    note: str


router = Router(tags=["Labels"])


@router.get("/failure-labels", response={200: PageOut[PutLabelOut], **refusals()})
def list_failure_labels(request: HttpRequest, query: Query[LabelQuery]) -> dict[str, Any]:
    """List the failure labels on trajectories that you may see."""
    allow(request, VIEW)
    seen = visibility(request)
    rows = standing_labels().select_related("label__label_set", "label__parent", "by")
    if seen.closed:
        rows = rows.filter(trajectory__in=seen.of(Trajectory.objects.all()))
    for name, value in (
        ("trajectory", query.trajectory),
        ("label__label_set__key", query.set),
        ("label__key", query.label),
    ):
        if value:
            rows = rows.filter(**{name: value})
    page, following = one_page(request, rows, query.limit)
    items = [
        {
            "id": put.pk,
            "trajectory": put.trajectory_id,
            "turn": put.turn,
            "label": put.label.key,
            "title": put.label.title,
            "group": set_title(put.label),
            "who": put.by.get_username(),
            "at": put.at,
            "note": put.note,
        }
        for put in page.rows
    ]
    return {"items": items, "next": following}
