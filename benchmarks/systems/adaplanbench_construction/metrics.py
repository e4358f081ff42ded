"""Figures of constructions, per problem and over a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.candidates import REMOVED
from benchmarks.core.means import mean_of
from benchmarks.core.types import Outcome
from benchmarks.systems.adaplanbench.protocol import KINDS
from benchmarks.systems.adaplanbench_construction.pools import PooledCandidate
from benchmarks.systems.adaplanbench_construction.protocol import (
    CONSTRUCTED,
    FILTERED_OUT,
    LEVELS,
)

RATES = ("constructed", "filtered_out", "removed")


def size_name(kind: str, level: str) -> str:
    """Return the name of the figure that counts the constraints of a kind at a level."""
    return f"{kind}_{level}".replace("-", "")


SIZES = tuple(size_name(kind, level) for level in LEVELS for kind in KINDS)
CANDIDATES = "candidates"
MEANS = (CANDIDATES, *SIZES)


def outcome_metrics(
    termination: str, candidates: Sequence[PooledCandidate], levels: Mapping[str, Sequence[str]]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one problem's share in every figure, and why some are undefined.

    ``removed`` is the share of its candidates that the checker removed; ``KIND_LEVEL`` counts the
    constraints of a kind at a level.
    """
    metrics: dict[str, float | None] = dict.fromkeys((*RATES, *MEANS))
    if termination not in (CONSTRUCTED, FILTERED_OUT):
        return metrics, dict.fromkeys(metrics, f"ended as {termination}")
    metrics["constructed"] = float(termination == CONSTRUCTED)
    metrics["filtered_out"] = float(termination == FILTERED_OUT)
    if termination == FILTERED_OUT:
        why = "the filter left the problem out"
        return metrics, dict.fromkeys(("removed", *MEANS), why)
    metrics["candidates"] = float(len(candidates))
    undefined = {}
    if candidates:
        removed = sum(entry.decision == REMOVED for entry in candidates)
        metrics["removed"] = removed / len(candidates)
    else:
        undefined["removed"] = "nothing was proposed"
    kinds = {entry.key: entry.kind for entry in candidates}
    for level in LEVELS:
        counts = Counter(kinds[key] for key in levels.get(level, ()))
        for kind in KINDS:
            if level in levels:
                metrics[size_name(kind, level)] = float(counts[kind])
            else:
                undefined[size_name(kind, level)] = "the construction has fewer rounds"
    return metrics, undefined


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Compute figures of a run with their own n, and count how constructions ended.

    Sizes are told of the levels that there are: of three rounds, nothing is said about a fourth.
    """
    sizes = [name for name in SIZES if any(o.metrics.get(name) is not None for o in outcomes)]
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {name: mean_of(outcomes, name) for name in (*RATES, CANDIDATES, *sizes)},
        "failed_criteria": failed_criteria(outcomes),
        "grounds": removal_grounds(outcomes),
    }


def failed_criteria(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return how many problems were left out by each criterion of the filter; one may fail
    several.
    """
    return dict(Counter(name for outcome in outcomes for name in outcome.payload.get("failed", ())))


def removal_grounds(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return how many candidates were removed on each ground, over the constructed problems."""
    rows = (
        row
        for outcome in outcomes
        if outcome.termination == CONSTRUCTED
        for row in outcome.payload.get("candidates", ())
    )
    return dict(Counter(row["ground"] for row in rows if row["decision"] == REMOVED))
