"""Ratings in the API: everybody's, in pages, for those who may export them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field, create_model

from annotation.access import fetch_read_study
from annotation.api.studies import ExportOptions
from annotation.exports.assignments import CLIENTS, assignments_in, read_assignments
from annotation.exports.columns import HISTORY_COLUMNS, RATING_COLUMNS, ExportColumn, Kind
from annotation.exports.scope import scope_of
from annotation.exports.services import ExportRequest, record_export
from annotation.exports.table import AssignmentTables
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Id, PageOut, one_page


class SpanOut(Schema):
    """A place in a trajectory that a rater marked."""

    turn: int
    where: str
    start: int
    end: int
    quote: str


_TYPES: dict[Kind, Any] = {
    "text": str | None,
    "whole": int | None,
    "share": float | None,
    "truth": bool | None,
    "time": datetime | None,
    "texts": list[str] | None,
    "spans": list[SpanOut] | None,
}


def _row(name: str, columns: Sequence[ExportColumn]) -> Any:
    """Return the schema of a table's row; columns that a reader does not get are left out of
    rows.
    """
    fields: Any = {
        column.name: (_TYPES[column.kind], Field(None, description=column.says))
        for column in columns
    }
    return create_model(name, __base__=Schema, **fields)


class RatingOut(_row("_Rating", RATING_COLUMNS)):  # type: ignore[misc]
    """A rater's current answer to one question; the columns of docs/study-export.md."""


class EditOut(_row("_Edit", HISTORY_COLUMNS)):  # type: ignore[misc]
    """One edit of an answer; edits are added and never changed."""


class RatingQuery(ExportOptions):
    """The start of a page, and the number of items whose ratings it holds."""

    after: Id | None = Field(None, description="Begin behind this assignment; `next` holds it.")
    limit: int = Field(50, ge=1, le=100, description="Assignments in a page.")


router = Router(tags=["Ratings"])


@router.get(
    "/{int:study_id}/ratings",
    response={200: PageOut[RatingOut], **refusals(404)},
    exclude_unset=True,
)
def list_ratings(request: HttpRequest, study_id: int, query: Query[RatingQuery]) -> dict[str, Any]:
    """List the current ratings, assignment by assignment; the rules of `ratings.csv` say who may
    read them.
    """
    return _page(request, study_id, query, edits=False)


@router.get(
    "/{int:study_id}/edits",
    response={200: PageOut[EditOut], **refusals(404)},
    exclude_unset=True,
)
def list_rating_edits(
    request: HttpRequest, study_id: int, query: Query[RatingQuery]
) -> dict[str, Any]:
    """List every edit of every answer, in the order in which they were made, under the same
    rules.
    """
    return _page(request, study_id, query, edits=True)


def _page(
    request: HttpRequest, study_id: int, query: RatingQuery, *, edits: bool
) -> dict[str, Any]:
    access = fetch_read_study(request, study_id)
    if query.names and not access.manages:
        raise ApiError(403, "Names of accounts are for the study's managers.", "names")
    scope = scope_of(access, names=query.names, withdrawn=query.withdrawn)
    page, following = one_page(request, assignments_in(scope), query.limit)
    if query.after is None:  # one reading of all pages is one export
        record_export(ExportRequest(scope), ["edits" if edits else "ratings"], access.user)
    tables = AssignmentTables(scope)
    write = tables.history if edits else tables.ratings
    rows = read_assignments(scope, [row.pk for row in page.rows], clients=CLIENTS if edits else ())
    return {
        "items": [
            front | asked | answer
            for assignment in rows
            for front, asked, answer in write(assignment)
        ],
        "next": following,
    }
