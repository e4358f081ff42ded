"""Studies in the HTTP API: their list, and their ratings for people who may export them."""

from datetime import datetime
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.access import fetch_read_study, fetch_study, person
from annotation.exports.scope import scope_of
from annotation.exports.services import ExportRequest
from annotation.exports.views import file_of
from annotation.models import Membership, Study
from benchmarks.api.errors import refusals
from benchmarks.api.requests import Paged, PageOut, one_page

router = Router(tags=["Studies"])
JSON = {"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}}
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


class ExportOptions(Schema):
    """What a file is to hold."""

    names: bool = Field(False, description="Names of accounts beside pseudonyms; for managers.")
    withdrawn: bool = Field(False, description="With those who withdrew.")


class DocumentOptions(ExportOptions):
    """What the whole study is to hold."""

    events: bool = Field(False, description="With the record of what was done.")


@router.get("/{int:study_id}/ratings.csv", response=refusals(404), openapi_extra=CSV)
def list_ratings_as_csv(
    request: HttpRequest, study_id: int, wish: Query[ExportOptions]
) -> StreamingHttpResponse:
    """What was said, one row for each rater, item, turn and question.

    For the study's managers and researchers, under pseudonyms. While you have open items in it
    yourself and it is blinded: your own answers alone, without what tells who made an item.
    """
    return _file(request, study_id, "csv", wish)


@router.get("/{int:study_id}/history.csv", response=refusals(404), openapi_extra=CSV)
def list_rating_edits_as_csv(
    request: HttpRequest, study_id: int, wish: Query[ExportOptions]
) -> StreamingHttpResponse:
    """Every edit of every answer, under the same rules."""
    return _file(request, study_id, "history", wish)


@router.get("/{int:study_id}/study.json", response=refusals(404), openapi_extra=JSON)
def export_study(
    request: HttpRequest, study_id: int, wish: Query[DocumentOptions]
) -> StreamingHttpResponse:
    """The whole study, under the same rules: design, questionnaires, items, people, edits, rows.

    Another installation with the same trajectories can import it.
    """
    return _file(request, study_id, "json", wish, events=wish.events)


def _file(
    request: HttpRequest, study_id: int, format: str, said: ExportOptions, events: bool = False
) -> StreamingHttpResponse:
    access = fetch_read_study(request, study_id)
    if said.names and not access.manages:
        raise PermissionDenied("Names of accounts are for the study's managers.")
    scope = scope_of(access, names=said.names, withdrawn=said.withdrawn)
    return file_of(ExportRequest(scope, events=events), format, access)
