"""Last plans with what the threshold needs: whether they are valid, and their mean scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import outcome_frame
from analysis.frames.scores import turn_scores

VALID = "valid"


@dataclass(frozen=True, eq=False)
class LastPlans:
    """A row per finished trajectory: agent, task, validity (NaN: unknown), and the judges' mean
    score of the last plan on each of ``dimensions`` (NaN: a judge is missing).
    """

    labels: list[str]
    tasks: list[int]
    valid: Any
    scores: Any
    dimensions: tuple[str, ...]

    def counted(self, dimensions: Sequence[str]) -> Any:
        """The scores on some of the dimensions."""
        return self.scores[:, [self.dimensions.index(key) for key in dimensions]]


def last_plans(runs: Sequence[ChosenRun], dimensions: Sequence[str]) -> LastPlans:
    """The last plans of the runs, scored by the judging of each."""
    outcomes = outcome_frame(runs, [VALID])
    scored = turn_scores(runs, dimensions, final=True)
    table = scored.pivot_table(
        index="trajectory", columns="dimension", values="score", aggfunc="first", dropna=False
    ).reindex(index=outcomes["trajectory"], columns=list(dimensions))
    return LastPlans(
        outcomes["label"].tolist(),
        outcomes["task"].tolist(),
        outcomes[VALID].to_numpy(),
        table.to_numpy(dtype="float64"),
        tuple(dimensions),
    )
