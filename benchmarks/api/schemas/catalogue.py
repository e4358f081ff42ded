"""Systems, datasets, tasks and agents."""

from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from benchmarks.api.requests import Paged
from benchmarks.api.schemas.common import AgentRef, DatasetRef


class RoleOut(Schema):
    """A role that somebody fills."""

    name: str
    title: str
    judges: bool
    seats: int = Field(description="How many fill it unless a run says otherwise.")
    scripts: list[str] = Field(description="Names of the scripted answerers that can fill it.")


class SettingOut(Schema):
    """A setting of a run."""

    name: str
    kind: str
    default: bool | int | float | str | None
    help: str
    choices: list[str]
    minimum: float | None
    maximum: float | None


class DimensionOut(Schema):
    """A dimension of a rubric."""

    key: str
    title: str
    definition: str


class SystemOut(Schema):
    """A benchmark system."""

    key: str
    title: str
    protocol_version: str
    roles: list[RoleOut]
    settings: list[SettingOut]
    dimensions: list[DimensionOut]


class DatasetOut(DatasetRef):
    """A dataset."""

    source: str
    licence: str
    notes: str
    is_demo: bool
    tasks: int
    profiles: int
    created_at: datetime


class LevelSizeOut(Schema):
    """A level of a dataset with the mean number of constraints of a profile, by kind."""

    level: str
    profiles: int
    constraints: dict[str, float]


class DatasetDetail(DatasetOut):
    """A dataset with its levels, from easy to hard."""

    levels: list[LevelSizeOut]


class TaskQuery(Paged):
    """What tasks can be narrowed to."""

    q: str = Field("", max_length=200, description="Words in the task's id or text.")
    category: str = Field("", max_length=80)


class TaskRow(Schema):
    """A task."""

    id: int
    external_id: str
    prompt: str
    category: str
    levels: int = Field(description="How many levels it has.")
    trajectories: int


class ConstraintOut(Schema):
    """A hidden constraint."""

    kind: str
    text: str
    about: str
    added: bool = Field(description="Whether the level before did not have it.")


class TaskLevelOut(Schema):
    """A level of a task."""

    level: str
    constraints: list[ConstraintOut]


class TaskDetail(Schema):
    """A task with what is hidden from the agent, level by level."""

    id: int
    external_id: str
    dataset: DatasetRef
    prompt: str
    category: str
    payload: dict[str, Any] = Field(description="What the dataset says of it besides.")
    levels: list[TaskLevelOut]


class AgentOut(AgentRef):
    """Somebody who can be put into a run as its agent."""

    system: str = Field(description="The system it is made for; empty for all.")
    note: str
