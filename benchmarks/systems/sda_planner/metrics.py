"""Metrics of SDA-Planner: one episode's share in each, and aggregates over a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.means import mean_of
from benchmarks.core.types import Outcome
from benchmarks.systems.sda_planner.settings import TREE

NAMES = (
    "accurate", "goal_conditions", "corrections", "steps", "calls", "resets", "reversed",
    "precondition_errors", "environment_errors",
)  # fmt: skip
NO_CORRECTIONS = "the Tree Planner's changes of branch are not counted as corrections"
GROUPS = ("task_type", "split", "injected")


def outcome_metrics(
    counts: Mapping[str, int], met: int, all: int, planner: str
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one episode's metrics, and why some are undefined."""
    metrics: dict[str, float | None] = {
        "accurate": float(met == all),
        "goal_conditions": met / all,
        "corrections": None if planner == TREE else float(counts["corrections"]),
        "steps": float(counts["steps"]),
        "calls": float(counts["calls"]),
        "resets": float(counts["resets"]),
        "reversed": float(counts["reversed"]),
        "precondition_errors": float(counts["precondition"]),
        "environment_errors": float(counts["environment"]),
    }
    undefined = {"corrections": NO_CORRECTIONS} if planner == TREE else {}
    return metrics, undefined


def no_metrics(why: str) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return the metrics of an episode that is left out."""
    return dict.fromkeys(NAMES), dict.fromkeys(NAMES, why)


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all metrics of a run, how episodes ended, and the main ones by group."""
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {name: mean_of(outcomes, name) for name in NAMES},
        "by_group": {name: _by_group(outcomes, name) for name in GROUPS},
        "repairs": dict(sum((Counter(o.payload.get("repairs", {})) for o in outcomes), Counter())),
        "search": {
            key: sum(o.payload.get("counts", {}).get(key, 0) for o in outcomes)
            for key in ("tree_empty", "tree_limited")
        },
    }


def _by_group(outcomes: Sequence[Outcome], name: str) -> dict[str, dict[str, Any]]:
    grouped: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        value = outcome.payload.get("groups", {}).get(name)
        if value:
            grouped.setdefault(str(value), []).append(outcome)
    return {
        value: {metric: mean_of(those, metric) for metric in NAMES[:3]}
        for value, those in sorted(grouped.items())
    }
