"""Metrics of the builder: what became of the steps of a trajectory, and of all of a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.means import mean_of
from benchmarks.core.system import SCORER
from benchmarks.core.types import Json, Outcome
from benchmarks.systems.adapt.metrics import LEAKED, SATISFACTION, names_of
from benchmarks.systems.adapt_reflection.decisions import (
    AGREE,
    CHOOSING,
    KINDS,
    UNDECIDED,
    Thresholds,
    count_kinds,
    count_questions,
    threshold_grid,
)

ROWS, STEPS = "rows", "steps"
# A run decides by the thresholds that it was built with, so it leaves nothing undecided.
SHARES = tuple(kind for kind in KINDS if kind != UNDECIDED)
NAMES = (ROWS, *SHARES, STEPS, SATISFACTION)
ALL_NAMES = (*NAMES, LEAKED)


def undefined(
    why: str, settings: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return all metrics as undefined, for a reason."""
    names = ALL_NAMES if LEAKED in names_of(settings) else NAMES
    return dict.fromkeys(names), dict.fromkeys(names, why)


def outcome_metrics(
    played: Outcome, record: Json, thresholds: Thresholds
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one trajectory's metrics, and why some are undefined.

    Shares are in percent of its steps; ``satisfaction`` is the student's. ``leaked`` is the share
    of preferences that were told unasked, in answers to the student and to its reflections.
    """
    steps = record["found"]
    more = "reflection" in record
    if not steps:
        return undefined("the trajectory has no step", {} if more else {SCORER: "1"})
    counts = count_kinds(steps, thresholds)
    metrics: dict[str, float | None] = {
        ROWS: sum(counts[kind] for kind in CHOOSING),
        **{kind: 100 * counts[kind] / len(steps) for kind in SHARES},
        STEPS: len(steps),
        SATISFACTION: played.metrics[SATISFACTION],
    }
    why = {SATISFACTION: played.undefined[SATISFACTION]} if metrics[SATISFACTION] is None else {}
    if more:
        told = record["told"] + record["reflection"]["told"]
        leaked = len(record[LEAKED]) + record["reflection"]["leaked"]
        metrics[LEAKED] = 100 * leaked / told if told else None
        if not told:
            why[LEAKED] = played.undefined[LEAKED]
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
        "metrics": {name: mean_of(outcomes, name) for name in ALL_NAMES},
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
        "questions": count_questions(steps, thresholds).record,
        "thresholds": given[0] if given else None,
        "grid": threshold_grid(steps, thresholds.mean) if steps else [],
    }
