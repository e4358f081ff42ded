"""Parts that several resources share."""

from typing import Generic, TypeVar

from ninja import Schema
from pydantic import Field

T = TypeVar("T")


class PageOut(Schema, Generic[T]):
    """A page of a list."""

    items: list[T]
    next: str | None = Field(description="The address of the next page; null on the last.")


class DatasetRef(Schema):
    """A dataset by its name."""

    id: int
    system: str
    name: str
    version: str


class AgentRef(Schema):
    """An agent by its name."""

    id: int
    name: str
    title: str
    kind: str


class Verdict(Schema):
    """A yes-or-no result; null is undefined, and `reason` says why."""

    value: bool | None
    reason: str
