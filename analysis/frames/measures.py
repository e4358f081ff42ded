"""Measures that agents are compared by: metrics of trajectories and scores of last plans."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from analysis.browser.comparison.run_measures import known_dimensions
from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import outcome_frame
from analysis.frames.scores import turn_scores
from benchmarks.core.ports.labels import Measure
from benchmarks.core.registry import find_system

if TYPE_CHECKING:
    from pandas import DataFrame

UNSCORED = "not every judge scored the last plan"
LAST_PLAN = "Mean of the judges, of the last plan, 1 to 5."


def measures_here(system: str) -> Mapping[str, Measure]:
    """Return the metrics of a system by name, and after them its rubric dimensions."""
    if not system:
        return {}
    dimensions = {key: Measure(title, LAST_PLAN) for key, title in known_dimensions(system).items()}
    return {**find_system(system).labels.measures, **dimensions}


def measure_frame(runs: Sequence[ChosenRun], metric: str, system: str) -> "DataFrame":
    """Return `outcome_frame` of one measure, which may be a rubric dimension."""
    if metric in find_system(system).labels.measures:
        return outcome_frame(runs, [metric])
    frame = outcome_frame(runs, [])
    scores = turn_scores(runs, [metric], final=True).set_index("trajectory")["score"]
    frame[metric] = frame["trajectory"].map(scores).astype("float64")
    frame[f"why {metric}"] = frame[metric].isna().map({True: UNSCORED, False: ""})
    return frame
