"""Judges' scores, one narrow row each, in pages or as one CSV file."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from benchmarks.access import VIEW, allow, visibility
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Id, PageOut, one_page
from benchmarks.models import JudgeScore
from benchmarks.tables import csv_lines


class ScoreQuery(Schema):
    """The scores to list: of runs, of a trajectory, or both."""

    run: list[Id] = Field([], max_length=100, description="Runs; may be given several times.")
    trajectory: Id | None = None
    dimension: str = Field("", max_length=40)
    final: bool = Field(False, description="Only the last turn of each trajectory.")
    every_judging: bool = Field(False, description="Also of judgings that are not the run's own.")


class ScorePageQuery(ScoreQuery):
    """The same in pages."""

    after: Id | None = Field(None, description="Begin behind this id; `next` holds it.")
    limit: int = Field(200, ge=1, le=1000, description="Rows in a page.")


class ScoreOut(Schema):
    """A judge's score of a turn on a dimension; null with the reason why there is none."""

    id: int
    run: int
    trajectory: int
    turn: int
    is_final: bool
    task: str
    agent: str
    level: str
    condition: str
    judging: str
    judge: str
    judge_version: str
    seat: str
    replicate: int
    dimension: str
    value: float | None
    reason: str


router = Router(tags=["Scores"])
CSV = {"responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}}


@router.get("/scores", response={200: PageOut[ScoreOut], **refusals()})
def list_scores(request: HttpRequest, query: Query[ScorePageQuery]) -> dict[str, Any]:
    """List the scores of runs or of a trajectory."""
    page, following = one_page(request, _rows(request, query).only("pk"), query.limit)
    scores = JudgeScore.objects.filter(pk__in=[row.pk for row in page.rows]).order_by("pk")
    return {"items": score_values(scores), "next": following}


@router.get("/scores.csv", response=refusals(), openapi_extra=CSV)
def list_scores_as_csv(request: HttpRequest, query: Query[ScoreQuery]) -> StreamingHttpResponse:
    """Send the same as CSV, all at once."""
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


# Column of a table, and the field that it comes from.
COLUMNS = {
    "id": "pk",
    "run": "run",
    "trajectory": "trajectory",
    "turn": "turn_index",
    "is_final": "is_final",
    "task": "trajectory__task__external_id",
    "agent": "agent__name",
    "level": "level",
    "condition": "condition",
    "judging": "judging__name",
    "judge": "judge__name",
    "judge_version": "judge__version",
    "seat": "seat",
    "replicate": "replicate",
    "dimension": "dimension",
    "value": "value",
    "reason": "reason",
}


def score_rows(
    *,
    runs: Sequence[int] = (),
    trajectory: int | None = None,
    dimension: str = "",
    final: bool = False,
    every_judging: bool = False,
) -> QuerySet[JudgeScore]:
    """Return the scores of runs or of a trajectory, by default of the judging that a run calls
    its own.

    Runs are found by their judgings, because that is what the scores' index begins with.
    """
    rows = JudgeScore.objects.all()
    if runs:
        rows = rows.filter(judging__run__in=runs)
    if trajectory is not None:
        rows = rows.filter(trajectory=trajectory)
    if not every_judging:
        rows = rows.filter(judging=F("run__primary_judging"))
    if final:
        rows = rows.filter(is_final=True)
    return rows.filter(dimension=dimension) if dimension else rows


def score_values(rows: QuerySet[JudgeScore]) -> list[dict[str, Any]]:
    """Return these rows by column."""
    values = rows.values_list(*COLUMNS.values())
    return [dict(zip(COLUMNS, row, strict=True)) for row in values]


def score_table(rows: QuerySet[JudgeScore]) -> Iterator[Sequence[Any]]:
    """Yield a heading, then the rows in their order, a few at a time."""
    yield list(COLUMNS)
    yield from rows.order_by("pk").values_list(*COLUMNS.values()).iterator(chunk_size=2000)
