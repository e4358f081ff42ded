"""Metrics of AdaPlanBench, per trajectory and over a run (paper, section 3.1 and appendix C.4)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.core.means import mean_of
from benchmarks.core.types import Outcome
from benchmarks.systems.adaplanbench.protocol import COUNTED, Disclosure, Patience, RubricRating

# Ended without an answer to "valid or not": outside every denominator, counted and shown.
FAILURES = ("judge_failure", "simulator_failure", "agent_unreadable", "agent_declined")
# Ended because recorded answers ran out: outside Acc and VPR only.
EXHAUSTED = "pool_exhausted"
RATES = ("accurate", "valid")
MEANS = ("turns", "world_repeated", "user_repeated", "world_triggered", "user_triggered")
FLAGS = ("accurate_all", "accurate_main", "readings_differ")
NAMES = {
    "accurate": "Acc",
    "valid": "VPR",
    "turns": "Avg turns",
    "world_repeated": "AWRV",
    "user_repeated": "AURV",
    "world_triggered": "ATWC",
    "user_triggered": "ATUC",
}


@dataclass(frozen=True)
class TurnRecord:
    """The facts of one judged turn that the metrics need."""

    disclosure: Disclosure
    rating: RubricRating

    @property
    def valid(self) -> bool:
        return self.disclosure.valid

    def state(self, settings: Mapping[str, Any]) -> dict[str, bool | None]:
        return {"valid": self.valid, "passed": self.rating.passed[settings["dimensions"]]}


def outcome_metrics(
    termination: str,
    records: Sequence[TurnRecord],
    patience: Patience,
    settings: Mapping[str, Any],
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one trajectory's share in every metric, and why some are undefined.

    ``accurate`` is 1 iff the last plan is valid and passes (eq. 11), ``valid`` iff it violates
    nothing (eq. 12); ``*_repeated`` sums |R_t| (eq. 14, 16); ``*_triggered`` is the number of
    distinct constraints disclosed per turn (eq. 18 to 21).
    """
    names = (*RATES, *MEANS, *FLAGS)
    if termination in FAILURES or not records:
        return dict.fromkeys(names), dict.fromkeys(names, f"ended as {termination}")
    metrics: dict[str, float | None] = dict.fromkeys(names)
    undefined: dict[str, str] = {}
    turns = len(records)
    metrics["turns"] = turns
    for kind in ("world", "user"):
        repeated = sum(len(record.disclosure.repeated[kind]) for record in records)
        triggered = {key for record in records for key in record.disclosure.revealed[kind]}
        metrics[f"{kind}_repeated"] = repeated
        metrics[f"{kind}_triggered"] = len(triggered) / turns
    metrics["readings_differ"] = float(
        patience.stopped_at.get("disclosed") != patience.stopped_at.get("violated")
    )
    if termination == EXHAUSTED:
        why = "the pool of recorded answers ran out before the trajectory ended"
        return metrics, dict.fromkeys(("accurate", "valid", "accurate_all", "accurate_main"), why)
    last = records[-1]
    passing = accuracy(last.valid, last.rating.passed, last.rating.missing, settings)
    return {**metrics, **passing[0]}, {**undefined, **passing[1]}


def accuracy(
    valid: bool,
    passed: Mapping[str, bool | None],
    missing: Sequence[str],
    settings: Mapping[str, Any],
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return what follows from the verdicts on the last plan: validity, and accuracy as it is
    counted.

    ``passed`` is by reading of the dimensions, ``missing`` names those without a mean.
    """
    metrics: dict[str, float | None] = {"valid": float(valid)}
    undefined: dict[str, str] = {}
    for counted in ("all", "main"):
        passes = passed[counted]
        metrics[f"accurate_{counted}"] = None if passes is None else float(valid and passes)
        if passes is None:
            names = ", ".join(d for d in missing if d in COUNTED[counted])
            undefined[f"accurate_{counted}"] = f"not every judge scored: {names}"
    chosen = f"accurate_{settings['dimensions']}"
    metrics["accurate"] = metrics[chosen]
    if chosen in undefined:
        undefined["accurate"] = undefined[chosen]
    return metrics, undefined


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all metrics of a run: rates and means with their own n, and how trajectories ended."""
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {name: mean_of(outcomes, name) for name in (*RATES, *MEANS, *FLAGS)},
        "refinement": refinement_curve(outcomes),
    }


def refinement_curve(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Compute Acc and VPR after 0, 1, … extra turns: each trajectory's state after min(k, used)
    of them.

    Refinement begins after the first valid plan that does not pass, so that turn is state 0.
    """
    chains = []
    for outcome in outcomes:
        states = outcome.payload.get("states", [])
        if outcome.metrics.get("valid") is None or not states:
            continue
        first = next((i for i, s in enumerate(states) if s["valid"]), len(states) - 1)
        chains.append(states[first:])
    longest = max((len(chain) for chain in chains), default=0)
    if longest <= 1:
        return []
    curve = []
    for k in range(longest):
        at = [chain[min(k, len(chain) - 1)] for chain in chains]
        judged = [s for s in at if s["passed"] is not None]
        accurate = sum(bool(s["valid"] and s["passed"]) for s in judged)
        curve.append(
            {
                "extra_turns": k,
                "n": len(at),
                "valid": sum(s["valid"] for s in at) / len(at),
                "accurate": accurate / len(judged) if judged else None,
                "n_accurate": len(judged),
            }
        )
    return curve
