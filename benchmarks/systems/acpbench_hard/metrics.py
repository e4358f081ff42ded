"""Metrics of ACPBench Hard: one answer's share in each, and a run's figures by group."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.core.means import mean_of
from benchmarks.core.types import Json, Outcome
from benchmarks.systems.acpbench_hard.scoring.choices import NO_REFERENCE
from benchmarks.systems.acpbench_hard.tasks import TASKS, is_choice

NAMES = ("accurate", "reference", "corrected", "differs", *TASKS, "jaccard", "words")
OTHER_TASK = "a question of another task"
# What questions differ in, in the order of pages.
GROUPS = {
    "task": "Task",
    "domain": "Domain",
    "distance": "Next action, by length of a shortest plan",
}


def outcome_metrics(
    task: str, verdict: Json | None, counts: str, why: str, reply: str = ""
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one answer's metrics, and why some are undefined; ``why`` there is no score where none
    is.

    ``accurate`` is the score that ``counts`` names, and so is the metric of the question's task.
    Where the possible answers are given there is no reference score, and the corrected one counts.
    ``jaccard`` is for applicability alone (paper, A.8). ``words`` is the length of the reply.
    """
    metrics: dict[str, float | None] = dict.fromkeys(NAMES)
    undefined: dict[str, str] = {}
    if verdict is not None:
        metrics["words"] = float(len(reply.split()))
        for name in ("reference", "corrected"):
            metrics[name] = None if verdict[name] is None else float(verdict[name])
        metrics["accurate"] = metrics["corrected" if is_choice(task) else counts]
        if task in TASKS:
            metrics[task] = metrics["accurate"]
        if metrics["reference"] is not None and metrics["corrected"] is not None:
            metrics["differs"] = float(metrics["reference"] != metrics["corrected"])
        if task == "app":
            metrics["jaccard"] = verdict.get("jaccard")
    for name, value in metrics.items():
        if value is None:
            other = name in TASKS and name != task or name == "jaccard" and task != "app"
            undefined[name] = OTHER_TASK if other else why
    if verdict is not None and is_choice(task):
        undefined |= dict.fromkeys(("reference", "differs"), NO_REFERENCE)
    return metrics, undefined


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all metrics of a run, how answers ended, quirks of the reference, and accuracy by
    group.
    """
    failures = Counter(o.payload.get("failure_category") for o in outcomes)
    quirks = Counter(quirk for o in outcomes for quirk in o.payload.get("quirks", ()))
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {name: mean_of(_asked(outcomes, name), name) for name in NAMES},
        "failure_categories": {key: n for key, n in failures.items() if key},
        "quirks": dict(sorted(quirks.items())),
        "accuracy_by_group": _by_group(outcomes),
    }


def _asked(outcomes: Sequence[Outcome], name: str) -> list[Outcome]:
    """Return the outcomes that a metric is about: those of its task, and of forms that have it."""
    left_out = (OTHER_TASK, NO_REFERENCE)
    return [outcome for outcome in outcomes if outcome.undefined.get(name) not in left_out]


def _by_group(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return both scores by task, domain, and for the next action by distance to the goal."""
    grouped: dict[str, dict[str, list[Outcome]]] = {}
    for outcome in outcomes:
        for name, value in outcome.payload.get("groups", {}).items():
            grouped.setdefault(name, {}).setdefault(value, []).append(outcome)
    return {
        name: {
            value: {score: mean_of(those, score) for score in ("reference", "corrected")}
            for value, those in sorted(values.items(), key=lambda item: _order(item[0]))
        }
        for name, values in sorted(grouped.items())
    }


def _order(value: str) -> tuple[int, Any]:
    """Sort numbers by their size, then the rest by name."""
    return (0, int(value)) if value.isdecimal() else (1, value)
