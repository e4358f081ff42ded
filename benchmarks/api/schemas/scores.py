"""Judges' scores."""

from ninja import Schema
from pydantic import Field

from benchmarks.api.requests import Id


class ScoreQuery(Schema):
    """Whose scores: of runs, of a trajectory, or both."""

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
