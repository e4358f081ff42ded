"""Judges' scores as rows, one for each judge, turn and dimension."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import F, QuerySet

from benchmarks.models import JudgeScore

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
    """The scores of runs or of a trajectory, by default of the judging that a run calls its own.

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
    """These rows by column."""
    found = rows.values_list(*COLUMNS.values())
    return [dict(zip(COLUMNS, row, strict=True)) for row in found]


def score_table(rows: QuerySet[JudgeScore]) -> Iterator[Sequence[Any]]:
    """A heading, then the rows in their order, a few at a time."""
    yield list(COLUMNS)
    yield from rows.order_by("pk").values_list(*COLUMNS.values()).iterator(chunk_size=2000)
