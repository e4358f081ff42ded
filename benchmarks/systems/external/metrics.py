"""Metrics of trajectories made elsewhere: what their files state, and what can be counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from benchmarks.core.types import Outcome
from benchmarks.formats.trajectory import ImportedTrajectory
from benchmarks.systems.external.labels import MEASURES

NOT_STATED = "the file does not state it"


def trajectory_metrics(
    trajectory: ImportedTrajectory, turns: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    """What the file states as scores, and what the messages show; why something is undefined."""
    agents = [m for m in trajectory.messages if m.speaker == "assistant"]
    written = [m.tokens_out for m in agents if m.tokens_out is not None]
    costs = [m.cost for m in agents if m.cost is not None]
    reward = trajectory.scores.get("reward")
    counted: dict[str, float | None] = {
        "full_reward": None if reward is None else float(reward >= 1),
        "turns": float(turns),
        "tool_calls": float(sum(call.by == "agent" for m in agents for call in m.calls)),
        "cost": _sum(costs),
        "tokens": _sum(written),
    }
    stated = {name: value for name, value in trajectory.scores.items() if value is not None}
    metrics = {**dict.fromkeys(trajectory.scores), **counted, **stated}
    undefined = {
        name: trajectory.undefined.get(name, NOT_STATED)
        for name, value in metrics.items()
        if value is None
    }
    return metrics, undefined


def _sum(values: Sequence[float]) -> float | None:
    """The sum of what is stated; None where nothing is, or where it is too large a number."""
    try:
        total = float(sum(values))
    except OverflowError:
        return None
    return total if values and isfinite(total) else None


def summarise(outcomes: Sequence[Outcome]) -> Mapping[str, Any]:
    """Means over a run with their denominators; what states nothing is left out and counted."""
    names = [*MEASURES]
    for outcome in outcomes:
        names += [name for name in outcome.metrics if name not in names]
    return {
        "trajectories": len(outcomes),
        "metrics": {name: _mean(name, outcomes) for name in names},
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
    }


def _mean(name: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    values = [o.metrics[name] for o in outcomes if o.metrics.get(name) is not None]
    known = [value for value in values if value is not None]
    excluded = Counter(
        outcome.undefined.get(name, NOT_STATED)
        for outcome in outcomes
        if outcome.metrics.get(name) is None
    )
    return {
        "value": sum(known) / len(known) if known else None,
        "n": len(known),
        "excluded": dict(excluded),
    }
