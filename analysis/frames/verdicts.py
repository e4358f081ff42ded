"""What people said of recorded answers, for the trajectories that ended with one of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.selection import ChosenRun
from benchmarks.models import Task, Trajectory, Turn
from benchmarks.systems.adaplanbench.plans import split_steps

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("run", "label", "trajectory", "task", "verdict", "valid")


def verdict_frame(runs: Sequence[ChosenRun]) -> "DataFrame":
    """One row per finished trajectory whose last plan is a recorded answer: `COLUMNS`.

    ``verdict`` is the person's word on that answer, empty where none was given. ``valid`` is what
    the constraint judges decided, missing where that is unknown.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    turns = Turn.objects.filter(
        trajectory__run__in=list(labels),
        trajectory__status=Trajectory.Status.DONE,
        is_final=True,
    ).order_by("trajectory")
    tasks = Task.objects.filter(trajectories__run__in=list(labels)).distinct()
    pools = {pk: _verdicts(payload) for pk, payload in tasks.values_list("pk", "payload")}
    records = []
    for run, trajectory, task, text, valid in turns.values_list(
        "trajectory__run", "trajectory", "trajectory__task", "text", "trajectory__metrics__valid"
    ):
        verdict = pools[task].get(_normal(text))
        if verdict is not None:
            records.append((run, labels[run], trajectory, task, verdict, valid))
    frame = pd.DataFrame.from_records(records, columns=list(COLUMNS))
    return frame.astype({"valid": "float64"})


def _verdicts(payload: Mapping[str, Any]) -> dict[str, str]:
    """The verdict on each answer of a task's pool, by its text; of equal answers the first."""
    found: dict[str, str] = {}
    rows = payload.get("plans", ())
    if any(row.get("verdict") for row in rows):
        for row in rows:
            found.setdefault(_normal("\n".join(row["steps"])), row.get("verdict", ""))
    return found


def _normal(text: str) -> str:
    return "\n".join(" ".join(step.lower().split()) for step in split_steps(text))
