"""Studies in the HTTP API: which there are, and the answers for those who may export them."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.access import StudyAccess, fetch_read_study, fetch_study, person
from annotation.models import Membership, Study
from annotation.selectors.export import Cell, edit_rows, only_own, rating_rows
from benchmarks.api.errors import refusals
from benchmarks.api.requests import Paged, one_page
from benchmarks.api.schemas.common import PageOut
from benchmarks.tables import csv_lines

router = Router(tags=["Studies"])
CSV = {"responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}}


class StudyOut(Schema):
    """A study."""

    id: int
    name: str
    kind: str
    questionnaire: str
    status: str
    blinded: bool
    is_demo: bool
    roles: list[str] = Field(description="Yours; empty for administrators who take no part.")
    created_at: datetime


@router.get("", response={200: PageOut[StudyOut], **refusals()})
def list_studies(request: HttpRequest, page: Query[Paged]) -> dict[str, Any]:
    """The studies that you take part in, the newest first; all for administrators."""
    user = person(request)
    mine = Membership.objects.filter(user=user)
    rows = Study.objects.all()
    if not user.is_superuser:
        rows = rows.filter(pk__in=mine.order_by().values("study"))
    found, following = one_page(request, rows, page.limit, newest=True)
    roles: dict[int, list[str]] = {}
    for study, role in mine.filter(study__in=found.rows).values_list("study", "role"):
        roles.setdefault(study, []).append(role)
    return {
        "items": [_study(row, roles.get(row.pk, [])) for row in found.rows],
        "next": following,
    }


@router.get("/{int:study_id}", response={200: StudyOut, **refusals(404)})
def get_study(request: HttpRequest, study_id: int) -> dict[str, Any]:
    """One study that you take part in."""
    access = fetch_study(request, study_id)
    return _study(access.study, sorted(access.roles))


def _study(row: Study, roles: list[str]) -> dict[str, Any]:
    names = ("name", "kind", "questionnaire", "status", "blinded", "is_demo", "created_at")
    return {"id": row.pk, "roles": roles, **{name: getattr(row, name) for name in names}}


@router.get("/{int:study_id}/ratings.csv", response=refusals(404), openapi_extra=CSV)
def list_ratings_as_csv(request: HttpRequest, study_id: int) -> StreamingHttpResponse:
    """Everybody's current answers, for the study's managers and researchers.

    While you have open items in it yourself and it is blinded: your own answers alone, without
    the agents' names.
    """
    access = fetch_read_study(request, study_id)
    return _csv(access, "ratings", rating_rows(access.study, only=only_own(access)))


@router.get("/{int:study_id}/history.csv", response=refusals(404), openapi_extra=CSV)
def list_rating_edits_as_csv(request: HttpRequest, study_id: int) -> StreamingHttpResponse:
    """Every edit of every answer, under the same rules."""
    access = fetch_read_study(request, study_id)
    return _csv(access, "history", edit_rows(access.study, only=only_own(access)))


def _csv(access: StudyAccess, what: str, rows: Iterable[list[Cell]]) -> StreamingHttpResponse:
    lines: Iterator[str] = csv_lines(rows)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = f"study-{access.study.pk}-{what}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
