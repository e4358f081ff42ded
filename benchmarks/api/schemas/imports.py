"""Imports of trajectories made elsewhere."""

from datetime import datetime
from typing import Literal

from ninja import Schema
from pydantic import Field


class ImportIn(Schema):
    """What a file is, beside the file itself."""

    format: str = Field("", max_length=40, description="Left empty, the format is recognised.")
    name: str = Field("", max_length=120, description="The dataset; the file's name if empty.")
    agent: str = Field("", max_length=120, description="Who it was, where the file does not say.")


class FormatOut(Schema):
    """A format that can be imported."""

    name: str
    title: str
    about: str


class ImportOut(Schema):
    """What a file became."""

    created: bool = Field(description="False where the same file was imported before.")
    dataset: int
    runs: list[int] = Field(description="One for each agent in the file.")
    trajectories: int
    turns: int


class FaultOut(Schema):
    """One fault of a file."""

    where: str
    expected: str
    found: str


class RefusalOut(Schema):
    """Why a file was not imported; the first faults of it."""

    message: str
    faults: list[FaultOut]
    total: int


class JobOut(Schema):
    """An import in the background."""

    id: int
    url: str
    title: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    message: str
    done: int
    total: int | None
    created_at: datetime
    finished_at: datetime | None
    result: ImportOut | None
    refused: RefusalOut | None
