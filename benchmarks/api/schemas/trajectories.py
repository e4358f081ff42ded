"""Trajectories: rows of lists, one with its turns, and the log of what was asked."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from benchmarks.api.requests import Id, Paged
from benchmarks.api.schemas.common import AgentRef, DatasetRef, Verdict

YesNo = Literal["yes", "no"]
YesNoUndefined = Literal["yes", "no", "undefined"]


class TrajectoryQuery(Paged):
    """What the list can be narrowed to: the filters of the page of trajectories."""

    q: str = Field("", max_length=200, description="Words in the task.")
    dataset: Id | None = None
    agent: Id | None = None
    level: str = Field("", max_length=20)
    condition: str = Field("", max_length=1000)
    end: list[Annotated[str, Field(max_length=40)]] = Field(
        [], max_length=20, description="Endings such as `valid_plan`, or states such as `failed`."
    )
    valid: YesNoUndefined | None = None
    accurate: YesNoUndefined | None = None
    reward: Literal["full", "part", "zero", "undefined"] | None = Field(
        None, description="The reward that an imported file states."
    )
    repeated: YesNo | None = Field(None, description="With repeated violations.")
    unscored: YesNo | None = Field(None, description="A score is missing.")
    min_turns: int | None = Field(None, ge=0, le=1000)
    max_turns: int | None = Field(None, ge=0, le=1000)
    order: Literal["newest", "oldest"] = "newest"
    run: Id | None = None
    task: Id | None = None
    failure: str = Field("", max_length=60, description="A failure category of the system.")


class TaskRef(Schema):
    """A task by its name."""

    id: int
    external_id: str


class EndOut(Schema):
    """How it ended, or where it stands, in words."""

    title: str
    text: str


class TrajectoryRow(Schema):
    """A trajectory in a list."""

    id: int
    run: int
    dataset: DatasetRef
    agent: AgentRef
    task: TaskRef
    level: str
    condition: str
    attempt: int
    status: str
    termination: str
    end: EndOut
    turns: int
    valid: Verdict
    accurate: Verdict
    mean_score: float | None = Field(description="Mean over the last turn's scores.")
    missing_scores: int
    started_at: datetime | None
    finished_at: datetime | None


class ViolationOut(Schema):
    """A violated constraint. `mark`: new, repeated, or withheld from the agent."""

    key: str
    kind: str
    text: str
    mark: str
    revealed: bool
    reasons: list[str]


class GivenScoreOut(Schema):
    """A judge's score; null with the reason why there is none."""

    judge: str
    value: float | None
    reason: str


class DimensionScoresOut(Schema):
    """A dimension with all judges' scores."""

    dimension: str
    title: str
    mean: float | None
    scores: list[GivenScoreOut]


class TurnOut(Schema):
    """A turn with what was found about it."""

    index: int
    is_final: bool
    text: str
    feedback: str
    payload: dict[str, Any] = Field(description="The system's own record of the turn.")
    violations: list[ViolationOut]
    dimensions: list[DimensionScoresOut]


class AnsweredOut(Schema):
    """Who answered at a seat, from turn `first` to turn `last`; people are numbered."""

    role: str
    seat: str
    kind: str
    by: str
    version: str
    first: int
    last: int


class SuggestedOut(Schema):
    """What a script or model suggested to a person, which decides nothing."""

    turn: int
    role: str
    seat: str
    kind: str
    by: str
    version: str
    value: Any = Field(description="The parsed suggestion; null where there is none.")
    given: Any = Field(description="What the person answered.")
    reason: str = Field(description="Why there is none.")


class PlayedOut(Schema):
    """The part that people had in a trajectory."""

    answered: list[AnsweredOut]
    suggested: list[SuggestedOut]


class TrajectoryDetail(TrajectoryRow):
    """A trajectory with all its turns."""

    seed: int
    problem: str = Field(description="What keeps it from going on.")
    metrics: dict[str, float | None]
    undefined: dict[str, str] = Field(description="Why a metric has no value.")
    hidden: dict[str, list[str]] = Field(description="Hidden constraints by kind.")
    turn_list: list[TurnOut]
    played: PlayedOut | None = Field(description="Null where people took no part.")


class ExchangeQuery(Paged):
    """Which part of the log."""

    turn: int | None = Field(None, ge=1, le=32_767, description="Only this turn.")


class MessageOut(Schema):
    """A message that somebody was told."""

    speaker: str
    text: str
    tool_calls: list[Any]
    tool_call_id: str


class ExchangeOut(Schema):
    """One attempt at one ask."""

    id: int
    step: int
    slot: int
    attempt: int
    role: str
    seat: str
    answerer: str
    state: str
    messages: list[MessageOut]
    text: str = Field(description="The reply as received.")
    value: Any = Field(description="The parsed reply.")
    reason: str = Field(description="Why there is none.")
    model_reported: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    latency: float | None
    sent_at: datetime
    settled_at: datetime | None
