"""Rows of the log of a trajectory: from the core's values to the models and back."""

from collections import defaultdict
from datetime import datetime
from typing import Any

from benchmarks.core import types
from benchmarks.core.log import Call, Verdict
from benchmarks.mappers import core_violations
from benchmarks.models import Exchange, JudgeScore, OpenAsk, Trajectory, Turn, Violation
from benchmarks.prepared import Prepared


def _asked(trajectory: Trajectory, call: Call) -> dict[str, Any]:
    """What a row says of an ask, whoever answers it."""
    return {
        "trajectory": trajectory,
        "step": call.step,
        "slot": call.slot,
        "role": call.ask.role,
        "seat": call.ask.seat,
        "ask_digest": call.ask.digest,
        "messages": [message.digest for message in call.ask.messages],
        "expect": {"kind": call.ask.expect.kind, "params": dict(call.ask.expect.params)},
        "tools": [dict(tool) for tool in call.ask.tools],
        "seed": call.seed,
    }


def call_row(trajectory: Trajectory, call: Call, answerer: int, **changes: Any) -> Exchange:
    """The row of a call, as it is stored at first; ``answerer`` is the id of who answers."""
    return Exchange(
        **_asked(trajectory, call),
        attempt=call.attempt,
        answerer_id=answerer,
        most=call.most,
        repeats=call.repeats,
        **changes,
    )


def ask_row(trajectory: Trajectory, call: Call, now: datetime) -> OpenAsk:
    """The row of an ask that waits for a person from ``now`` on."""
    context = dict(call.ask.context)
    return OpenAsk(**_asked(trajectory, call), context=context, opened_at=now)


def settled_fields(verdict: Verdict, now: datetime) -> dict[str, Any]:
    """What a row says of how its call ended."""
    answer = verdict.answer
    return {
        "state": verdict.state,
        "text": answer.text,
        "value": verdict.value,
        "reason": verdict.reason,
        "reasoning": answer.reasoning,
        "model_reported": answer.model_reported[:120],
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
        "cost": answer.cost,
        "latency": answer.latency,
        "finish": answer.finish[:40],
        "tries": answer.tries,
        "settled_at": now,
    }


_TURNS = Prepared(
    lambda trajectory: Turn.objects.filter(trajectory=trajectory).order_by("index"), trajectory=int
)
_VIOLATIONS = Prepared(
    lambda trajectory: Violation.objects.filter(turn__trajectory=trajectory).order_by("pk"),
    trajectory=int,
)
_SCORES = Prepared(
    lambda trajectory, judging: (
        JudgeScore.objects.filter(trajectory=trajectory, judging=judging)
        .order_by("pk")
        .values_list("turn_index", "seat", "dimension", "value", "reason", "replicate")
    ),
    trajectory=int,
    judging=int,
)


def turns_with_scores(trajectory: int, *, scored: int, judging: int) -> dict[int, types.Turn]:
    """The stored turns by index, with their violations, as the core's values.

    Their scores are those of a ``judging`` of the trajectory ``scored``. All of them are ids.
    """
    given: dict[int, list[types.Score]] = defaultdict(list)
    for index, seat, dimension, value, reason, replicate in _SCORES.all(
        trajectory=scored, judging=judging
    ):
        score = types.Score(seat, dimension, value, reason, replicate=replicate)
        given[index].append(score)
    violated: dict[int, list[Violation]] = defaultdict(list)
    for violation in _VIOLATIONS.all(trajectory=trajectory):
        violated[violation.turn_id].append(violation)
    return {
        row.index: types.Turn(
            row.index,
            row.text,
            row.feedback,
            row.payload,
            core_violations(violated[row.pk]),
            tuple(given[row.index]),
        )
        for row in _TURNS.all(trajectory=trajectory)
    }
