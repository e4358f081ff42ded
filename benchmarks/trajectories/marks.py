"""The small marks of a plan's scores, as templates/includes/_marks.html draws them."""

from typing import Any

from benchmarks.trajectories.turns import TurnView


def final_marks(turn: TurnView) -> list[dict[str, Any]]:
    """One mark for each dimension: the judges' mean, and from the lowest to the highest score."""
    return [
        {
            "key": d.key,
            "name": d.title,
            "mean": d.mean,
            "mean_text": "–" if d.mean is None else f"{d.mean:.2f}",
            "lo": min(d.values, default=None),
            "hi": max(d.values, default=None),
            "title": _title(d.values, len(d.missing)),
        }
        for d in turn.dimensions
    ]


def _title(values: list[float], missing: int) -> str:
    said = "Judges: " + ", ".join(f"{value:g}" for value in values) if values else "No score"
    return f"{said}; {missing} without a score" if missing else said
