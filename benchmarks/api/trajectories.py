"""Trajectories: the list, one with its turns, and what was asked and answered."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from benchmarks.access import VIEW, allow, fetch, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.requests import (
    AgentRef,
    DatasetRef,
    Id,
    Paged,
    PageOut,
    Verdict,
    filled,
    one_page,
)
from benchmarks.asks.participation import people_part
from benchmarks.models import Trajectory
from benchmarks.trajectories import selectors as trajectories
from benchmarks.trajectories.exchanges import (
    ExchangeView,
    exchange_rows,
    exchange_views,
    turn_steps,
)
from benchmarks.trajectories.turns import TurnView, hidden_constraints, turn_views

YesNo = Literal["yes", "no"]
YesNoUndefined = Literal["yes", "no", "undefined"]


class TrajectoryQuery(Paged):
    """The filters of the list, which are those of the page of trajectories."""

    q: str = Field(
        "",
        max_length=200,
        description="Words in plans, feedback, calls of tools and tasks, as on the page: "
        '`"a phrase"`, `begin*`, `-without`, and operators such as `agent:` or `score:<3` '
        "work.",
    )
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
    """The end of a trajectory, or its status, in words."""

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
    result: EndOut = Field(description="Right, wrong, or another verdict; `end` says how it ended.")
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
    """The answerer of a role (at a `seat`), from turn `first` to turn `last`; people are
    numbered.
    """

    role: str
    seat: str
    kind: str
    by: str
    version: str
    first: int
    last: int


class SuggestedOut(Schema):
    """A suggestion of a script or model to a person, which decides nothing."""

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
    """The filters of the log."""

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
    withdrawn_at: datetime | None = Field(
        description="When it was taken back; the trajectory went on without it."
    )


router = Router(tags=["Trajectories"])
OLDEST = "oldest"


def _whole() -> QuerySet[Trajectory]:
    return Trajectory.objects.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task", "profile"
    )


@router.get("/trajectories", response={200: PageOut[TrajectoryRow], **refusals()})
def list_trajectories(request: HttpRequest, query: Query[TrajectoryQuery]) -> dict[str, Any]:
    """List trajectories that you may see, filtered as on the page. Without a choice of endings,
    those that have not begun are left out.
    """
    chosen = filled(query, "order")
    allow(request, VIEW)
    seen = visibility(request)
    rows = seen.of(trajectories.trajectory_list(chosen, seen))
    page, following = one_page(
        request, trajectories.with_row_relations(rows), query.limit, newest=query.order != OLDEST
    )
    known = trajectories.counted_metrics(page.rows)
    return {
        "items": [
            _row(row, known[row.trajectory.pk]) for row in trajectories.trajectory_rows(page.rows)
        ],
        "next": following,
    }


@router.get("/trajectories/{int:trajectory_id}", response={200: TrajectoryDetail, **refusals(404)})
def get_trajectory(request: HttpRequest, trajectory_id: int) -> dict[str, Any]:
    """Return one trajectory with turns, violations, scores and metrics."""
    trajectory = fetch(request, _whole(), pk=trajectory_id)
    turns = turn_views([trajectory])[trajectory.pk]
    (row,) = trajectories.trajectory_rows([trajectory])
    known = trajectories.counted_metrics([trajectory])[trajectory.pk]
    return {
        **_row(row, known),
        "seed": trajectory.seed,
        "problem": trajectory.problem,
        "metrics": known.metrics,
        "undefined": known.undefined,
        "hidden": {
            kind.title: [hidden.text for hidden in (*kind.met, *kind.untouched)]
            for kind in hidden_constraints(trajectory, turns)
        },
        "turn_list": [_turn(turn) for turn in turns],
        "played": people_part(trajectory),
    }


@router.get(
    "/trajectories/{int:trajectory_id}/exchanges",
    response={200: PageOut[ExchangeOut], **refusals(404)},
)
def list_exchanges(
    request: HttpRequest, trajectory_id: int, query: Query[ExchangeQuery]
) -> dict[str, Any]:
    """List the exchanges of the log: each prompt and the reply to it. Imported trajectories have
    none.
    """
    trajectory = fetch(request, Trajectory.objects.select_related("run__dataset"), pk=trajectory_id)
    rows = exchange_rows(trajectory)
    if query.turn is not None:
        steps = next((part for part in turn_steps(trajectory) if part.turn == query.turn), None)
        rows = exchange_rows(trajectory, steps) if steps else rows.none()
    page, following = one_page(request, rows, query.limit)
    return {
        "items": [_exchange(view) for view in exchange_views(trajectory, page.rows)],
        "next": following,
    }


def _row(row: trajectories.TrajectoryLine, known: trajectories.CountedMetrics) -> dict[str, Any]:
    trajectory = row.trajectory
    return {
        "id": trajectory.pk,
        "run": trajectory.run_id,
        "dataset": trajectory.run.dataset,
        "agent": trajectory.run.agent,
        "task": trajectory.task,
        "level": trajectory.run.level,
        "condition": trajectory.run.condition,
        "attempt": trajectory.attempt,
        "status": trajectory.status,
        "termination": trajectory.termination,
        "end": {"title": row.end.title, "text": row.end.sentence},
        "result": {"title": row.result.title, "text": row.result.detail},
        "turns": trajectory.turn_count,
        "valid": trajectories.verdict(trajectory, "valid", known),
        "accurate": trajectories.verdict(trajectory, "accurate", known),
        "mean_score": row.scores.mean,
        "missing_scores": row.scores.missing,
        "started_at": trajectory.started_at,
        "finished_at": trajectory.finished_at,
    }


def _turn(turn: TurnView) -> dict[str, Any]:
    return {
        "index": turn.row.index,
        "is_final": turn.row.is_final,
        "text": turn.row.text,
        "feedback": turn.row.feedback,
        "payload": turn.row.payload,
        "violations": turn.findings,
        "dimensions": [
            {"dimension": d.key, "title": d.title, "mean": d.mean, "scores": d.given}
            for d in turn.dimensions
        ],
    }


def _exchange(view: ExchangeView) -> dict[str, Any]:
    row = view.row
    names = (
        "step", "slot", "attempt", "role", "seat", "state", "text", "value", "reason",
        "model_reported", "tokens_in", "tokens_out", "cost", "latency", "sent_at", "settled_at",
        "withdrawn_at",
    )  # fmt: skip
    return {
        "id": row.pk,
        "answerer": view.answerer,
        "messages": [
            {
                "speaker": message.speaker,
                "text": message.text,
                "tool_calls": list(message.tool_calls),
                "tool_call_id": message.tool_call_id,
            }
            for message in view.messages
        ],
        **{name: getattr(row, name) for name in names},
    }
