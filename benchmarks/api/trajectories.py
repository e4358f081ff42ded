"""Trajectories: the list, one with its turns, and what was asked and answered."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Query, Router

from benchmarks.access import VIEW, allow, fetch, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.requests import filled, one_page
from benchmarks.api.schemas.common import PageOut
from benchmarks.api.schemas.trajectories import (
    ExchangeOut,
    ExchangeQuery,
    TrajectoryDetail,
    TrajectoryQuery,
    TrajectoryRow,
)
from benchmarks.asks.played import played
from benchmarks.models import Trajectory
from benchmarks.trajectories import selectors as trajectories
from benchmarks.trajectories.exchanges import (
    ExchangeView,
    exchange_rows,
    exchange_views,
    turn_steps,
)
from benchmarks.trajectories.turns import TurnView, hidden_constraints, turn_views

router = Router(tags=["Trajectories"])
OLDEST = "oldest"


def _whole() -> QuerySet[Trajectory]:
    return Trajectory.objects.select_related(
        "run__dataset", "run__agent", "run__primary_judging", "task", "profile"
    )


@router.get("/trajectories", response={200: PageOut[TrajectoryRow], **refusals()})
def list_trajectories(request: HttpRequest, query: Query[TrajectoryQuery]) -> dict[str, Any]:
    """Trajectories. Without a choice of endings, those that have not begun are left out."""
    chosen = filled(query, "order")
    allow(request, VIEW)
    rows = visibility(request).of(trajectories.trajectory_list(chosen))
    page, following = one_page(
        request, trajectories.with_parts(rows), query.limit, newest=query.order != OLDEST
    )
    known = trajectories.measured(page.rows)
    return {
        "items": [
            _row(row, known[row.trajectory.pk]) for row in trajectories.trajectory_rows(page.rows)
        ],
        "next": following,
    }


@router.get("/trajectories/{int:trajectory_id}", response={200: TrajectoryDetail, **refusals(404)})
def get_trajectory(request: HttpRequest, trajectory_id: int) -> dict[str, Any]:
    """One trajectory with turns, violations, scores and metrics."""
    found = fetch(request, _whole(), pk=trajectory_id)
    turns = turn_views([found])[found.pk]
    (row,) = trajectories.trajectory_rows([found])
    known = trajectories.measured([found])[found.pk]
    return {
        **_row(row, known),
        "seed": found.seed,
        "problem": found.problem,
        "metrics": known.metrics,
        "undefined": known.undefined,
        "hidden": {
            kind.title: [hidden.text for hidden in (*kind.met, *kind.untouched)]
            for kind in hidden_constraints(found, turns)
        },
        "turn_list": [_turn(turn) for turn in turns],
        "played": played(found),
    }


@router.get(
    "/trajectories/{int:trajectory_id}/exchanges",
    response={200: PageOut[ExchangeOut], **refusals(404)},
)
def list_exchanges(
    request: HttpRequest, trajectory_id: int, query: Query[ExchangeQuery]
) -> dict[str, Any]:
    """The log: who was told what, and what came back. Imported trajectories have none."""
    found = fetch(request, Trajectory.objects.select_related("run__dataset"), pk=trajectory_id)
    rows = exchange_rows(found)
    if query.turn is not None:
        steps = next((part for part in turn_steps(found) if part.turn == query.turn), None)
        rows = exchange_rows(found, steps) if steps else rows.none()
    page, following = one_page(request, rows, query.limit)
    return {
        "items": [_exchange(view) for view in exchange_views(found, page.rows)],
        "next": following,
    }


def _row(row: trajectories.TrajectoryRow, known: trajectories.Measured) -> dict[str, Any]:
    found = row.trajectory
    return {
        "id": found.pk,
        "run": found.run_id,
        "dataset": found.run.dataset,
        "agent": found.run.agent,
        "task": found.task,
        "level": found.run.level,
        "condition": found.run.condition,
        "attempt": found.attempt,
        "status": found.status,
        "termination": found.termination,
        "end": {"title": row.end.title, "text": row.end.sentence},
        "turns": found.turn_count,
        "valid": trajectories.verdict(found, "valid", known),
        "accurate": trajectories.verdict(found, "accurate", known),
        "mean_score": row.scores.mean,
        "missing_scores": row.scores.missing,
        "started_at": found.started_at,
        "finished_at": found.finished_at,
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
