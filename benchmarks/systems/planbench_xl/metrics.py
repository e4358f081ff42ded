"""Metrics of PlanBench-XL: one trajectory's share in each, and aggregates over a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.core.means import mean_of
from benchmarks.core.types import Json, Outcome

# By metric, the evaluator's field that it is.
FIELDS = {
    "turns": "turn_count",
    "search_turns": "search_turns",
    "call_turns": "call_turns",
    "search_to_call": "search_to_call_ratio",
    "explored": "explored_datatype_count",
    "precision": "executed_gt_datatype_precision",
    "recall": "executed_gt_datatype_recall",
    "invalid_calls": "invalid_tool_call_count",
    "untrusted_rejections": "untrusted_input_rejection_count",
    "combined_invalid": "combined_invalid_tool_call_count",
    "noisy_calls": "noisy_tool_call_count",
}
NAMES = ("accurate", *FIELDS)
_WHY = {
    "search_to_call": "no tool was called",
    "precision": "no reliable tool returned anything",
    "recall": "the task has no catalogued path",
}


def outcome_metrics(
    figures: Json | None, why: str = ""
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return one trajectory's metrics, and why some are undefined; all are, where there are no
    figures.

    ``accurate`` is 1 iff the answer is correct and its data type was come by honestly.
    """
    if figures is None:
        return dict.fromkeys(NAMES), dict.fromkeys(NAMES, why)
    metrics: dict[str, float | None] = {name: figures[field] for name, field in FIELDS.items()}
    metrics["accurate"] = float(figures["answer_correct"])
    undefined = {name: _WHY[name] for name, value in metrics.items() if value is None}
    return metrics, undefined


def summarise(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all metrics of a run, how trajectories ended and failed, and the evaluator's
    aggregates.
    """
    categories = Counter(o.payload.get("failure_category") for o in outcomes)
    return {
        "trajectories": len(outcomes),
        "terminations": dict(Counter(outcome.termination for outcome in outcomes)),
        "metrics": {name: mean_of(outcomes, name) for name in NAMES},
        "failure_categories": {key: n for key, n in categories.items() if key},
        "failures": _failures(outcomes),
        "accuracy_by_group": _by_group(outcomes),
        "aggregates": aggregates([o.payload["evaluation"] for o in outcomes if evaluated(o)]),
    }


def evaluated(outcome: Outcome) -> bool:
    """Return whether an outcome has a place in the evaluator's figures."""
    return outcome.metrics.get("accurate") is not None


def _failures(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Return how often which ending, in the reference's words; successes are counted as such."""
    results = [outcome.payload["result"] for outcome in outcomes if evaluated(outcome)]
    return dict(Counter(result["failure"] or "success" for result in results))


def _by_group(outcomes: Sequence[Outcome]) -> dict[str, dict[str, dict[str, Any]]]:
    grouped: dict[str, dict[str, list[Outcome]]] = {}
    for outcome in outcomes:
        for name, value in outcome.payload.get("groups", {}).items():
            grouped.setdefault(name, {}).setdefault(value, []).append(outcome)
    return {
        name: {value: mean_of(those, "accurate") for value, those in sorted(values.items())}
        for name, values in sorted(grouped.items())
    }


def aggregates(rows: Sequence[Json]) -> dict[str, Any]:
    """Return the evaluator's aggregates over its per-query rows, under its own names."""
    n, calls = len(rows), _total(rows, "call_turns")
    correct = sum(row["answer_correct"] for row in rows)
    searches = _total(rows, "search_turns")
    noisy = _total(rows, "noisy_tool_call_count")
    with_noisy = sum(row["noisy_tool_call_count"] > 0 for row in rows)
    precisions = [p for r in rows if (p := r["executed_gt_datatype_precision"]) is not None]
    recalls = [r for row in rows if (r := row["executed_gt_datatype_recall"]) is not None]
    turns, explored = _total(rows, "turn_count"), _total(rows, "explored_datatype_count")
    return {
        "accuracy": _ratio(correct, n),
        "correct_count": correct,
        "turns": {"mean_turn_count": _ratio(turns, n), "total_turn_count": turns},
        "exploration": {
            "mean_explored_datatype_count": _ratio(explored, n),
            "total_explored_datatype_count": explored,
        },
        "explore_exploit_balance": {
            "total_search_turns": searches,
            "total_call_turns": calls,
            "search_to_call_ratio": _ratio(searches, calls),
        },
        "executed_ground_truth_datatype_coverage": {
            "mean_precision": _ratio(sum(precisions), len(precisions)),
            "mean_recall": _ratio(sum(recalls), len(recalls)),
        },
        **_errors(rows, calls),
        "noisy_tool_call": {
            "queries_with_noisy_tool_calls": with_noisy,
            "noisy_tool_query_rate": _ratio(with_noisy, n),
            "total_noisy_tool_calls": noisy,
            "mean_noisy_tool_calls_per_query": _ratio(noisy, n),
            "mean_noisy_tool_calls_given_any": _ratio(noisy, with_noisy),
            "noisy_tool_call_rate_among_tool_calls": _ratio(noisy, calls),
        },
    }


def _errors(rows: Sequence[Json], calls: int) -> dict[str, Any]:
    """Return calls that were not carried out: each kind with its total and its share of all
    calls.
    """
    errors = {}
    for name, plural in (
        ("invalid_tool_call", "invalid_tool_calls"),
        ("untrusted_input_rejection", "untrusted_input_rejections"),
        ("combined_invalid_tool_call", "combined_invalid_tool_calls"),
    ):
        total = _total(rows, f"{name}_count")
        errors[name] = {
            f"total_{plural}": total,
            "total_tool_call_attempts": calls,
            f"{name}_rate": _ratio(total, calls),
        }
    return errors


def evaluation_report(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the evaluator's report over outcomes by query, in its shape.

    As there, queries without an evaluation drop out of every denominator; they are counted.
    """
    rows = {key: o.payload["evaluation"] for key, o in outcomes.items() if evaluated(o)}
    return {
        "result_source": "planjury",
        "malformed_result_files": [],
        "answer_judge": "normalised_substring",
        "query_count": len(outcomes),
        "evaluated_count": len(rows),
        "unevaluated_count": len(outcomes) - len(rows),
        "metrics": aggregates(list(rows.values())),
        "per_query": [{"query_id": key, **row} for key, row in rows.items()],
    }


def _total(rows: Sequence[Json], name: str) -> int:
    return sum(row[name] for row in rows)


def _ratio(part: float, whole: int) -> float | None:
    return part / whole if whole else None
