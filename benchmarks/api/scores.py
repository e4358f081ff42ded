"""Judges' scores, one narrow row each, in pages or as one CSV file."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router

from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import one_page
from benchmarks.api.schemas.common import PageOut
from benchmarks.api.schemas.scores import ScoreOut, ScorePageQuery, ScoreQuery
from benchmarks.models import JudgeScore
from benchmarks.tables import csv_lines
from benchmarks.trajectories.scores import score_rows, score_table, score_values

router = Router(tags=["Scores"])
CSV = {"responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}}


@router.get("/scores", response={200: PageOut[ScoreOut], **refusals()})
def list_scores(request: HttpRequest, query: Query[ScorePageQuery]) -> dict[str, Any]:
    """The scores of runs or of a trajectory."""
    page, following = one_page(request, _rows(request, query).only("pk"), query.limit)
    found = JudgeScore.objects.filter(pk__in=[row.pk for row in page.rows]).order_by("pk")
    return {"items": score_values(found), "next": following}


@router.get("/scores.csv", response=refusals(), openapi_extra=CSV)
def list_scores_as_csv(request: HttpRequest, query: Query[ScoreQuery]) -> StreamingHttpResponse:
    """The same as CSV, all at once."""
    lines = csv_lines(score_table(_rows(request, query)))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="scores.csv"'
    return response


def _rows(request: HttpRequest, query: ScoreQuery) -> QuerySet[JudgeScore]:
    allow(request, VIEW)
    if not query.run and query.trajectory is None:
        raise ApiError(422, "Name at least one run or a trajectory.", "run")
    rows = score_rows(
        runs=query.run,
        trajectory=query.trajectory,
        dimension=query.dimension,
        final=query.final,
        every_judging=query.every_judging,
    )
    return visibility(request).of(rows)
