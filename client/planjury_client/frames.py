"""Rows as pandas data frames, with columns also where there are no rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

SCORES = (
    "id", "run", "trajectory", "turn", "is_final", "task", "agent", "level", "condition",
    "judging", "judge", "judge_version", "seat", "replicate", "dimension", "value", "reason",
)  # fmt: skip
TURNS = (
    "id", "run", "trajectory", "turn", "is_final", "task", "agent", "level", "condition",
    "attempt", "text", "feedback", "violations", "new_violations", "repeated_violations",
)  # fmt: skip
RATINGS = (
    "study", "questionnaire", "task", "level", "model", "trajectory_id", "rater", "simulated",
    "part", "position", "state", "question", "subject", "turn", "dimension", "value", "label",
    "text", "comment",
)  # fmt: skip
MOMENTS = ("submitted_at", "answered_at", "edited_at", "client_time")


def pandas() -> Any:
    """Return the library, which is only needed for frames."""
    try:
        import pandas as found
    except ImportError:
        raise ImportError(
            "data frames need pandas: pip install 'planjury-client[frames]'"
        ) from None
    return found


def frame_of(rows: Iterable[dict[str, Any]], columns: Sequence[str] = ()) -> Any:
    """Return rows as a frame; moments as such, whole numbers with missing ones as ``Int64``."""
    library = pandas()
    listed = list(rows)
    frame = library.DataFrame(listed) if listed else library.DataFrame(columns=list(columns))
    for name in MOMENTS:
        if name in frame:
            frame[name] = library.to_datetime(frame[name], utc=True, format="ISO8601")
    for name in ("value", "turn"):
        if name in frame and frame[name].notna().any():
            frame[name] = library.to_numeric(frame[name]).convert_dtypes()
    return frame
