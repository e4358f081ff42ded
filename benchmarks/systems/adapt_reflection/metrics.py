"""Metrics of the builder: what became of the steps of a trajectory, and of all of a run."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.core.means import mean_of
from benchmarks.core.types import Json, Outcome
from benchmarks.systems.adapt.metrics import SATISFACTION
from benchmarks.systems.adapt_reflection.decisions import (
    AGREE,
    CHOOSING,
    KINDS,
    UNDECIDED,
    Thresholds,
    count_kinds,
    threshold_grid,
)

ROWS, STEPS = "rows", "steps"
# A run decides by the thresholds that it was built with, so it leaves nothing undecided.
SHARES = tuple(kind for kind in KINDS if kind != UNDECIDED)
NAMES = (ROWS, *SHARES, STEPS, SATISFACTION)


def undefined(why: str) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return all metrics as undefined, for a reason."""
    return dict.fromkeys(NAMES), dict.fromkeys(NAMES, why)


def outcome_metrics(
    played: Outcome, found: Sequence[Json], thresholds: Thresholds
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one trajectory's metrics, and why some are undefined.

    Shares are in percent of its steps; ``satisfaction`` is the student's.
    """
    if not found:
        return undefined("the trajectory has no step")
    counts = count_kinds(found, thresholds)
    metrics: dict[str, float | None] = {
        ROWS: sum(counts[kind] for kind in CHOOSING),
        **{kind: 100 * counts[kind] / len(found) for kind in SHARES},
        STEPS: len(found),
        SATISFACTION: played.metrics[SATISFACTION],
    }
    why = {SATISFACTION: played.undefined[SATISFACTION]} if metrics[SATISFACTION] is None else {}
    return metrics, why


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return means per trajectory, and the decisions over all steps together.

    ``decisions`` has for each kind its number, its share of the steps that were compared, and its
    share of the dataset's rows; a share of nothing is None. ``grid`` decides again for other
    thresholds.
    """
    built = [o for o in outcomes if o.metrics.get(STEPS) is not None]
    steps = [step for outcome in built for step in outcome.payload["found"]]
    given = [outcome.payload["thresholds"] for outcome in built]
    # All trajectories of a run have the same.
    thresholds = Thresholds(**given[0]) if given else Thresholds()
    counts = count_kinds(steps, thresholds)
    rows = sum(counts[kind] for kind in CHOOSING)
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {name: mean_of(outcomes, name) for name in NAMES},
        "decisions": [
            {
                "kind": kind,
                "n": counts[kind],
                "of_steps": 100 * counts[kind] / len(steps) if steps else None,
                "of_rows": 100 * counts[kind] / rows if rows and kind in CHOOSING else None,
            }
            for kind in SHARES
        ],
        "steps": len(steps),
        "rows": rows,
        "agreeing": counts[AGREE],
        "thresholds": given[0] if given else None,
        "grid": threshold_grid(steps, thresholds.mean) if steps else [],
    }
