"""Metrics of trajectories made elsewhere: what their files state, and what can be counted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.types import Outcome
from benchmarks.formats.trajectory import NOT_STATED
from benchmarks.systems.external.labels import MEASURES


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
