"""People's verdicts on recorded answers, for the trajectories that ended with such an answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from analysis.filters.selection import ChosenRun
from benchmarks.core.plans import normal_words
from benchmarks.models import Task, Trajectory, Turn

if TYPE_CHECKING:
    from pandas import DataFrame

COLUMNS = ("run", "label", "trajectory", "task", "verdict", "valid")
SEVERAL = "several"


def verdict_frame(runs: Sequence[ChosenRun]) -> "DataFrame":
    """One row per finished trajectory whose last plan is a recorded answer: `COLUMNS`.

    ``verdict`` is what people said of that answer, empty where nobody said anything and `SEVERAL`
    where they differed (the same words may be recorded more than once). ``valid`` is what the
    constraint judges decided on that plan, missing where that is unknown.
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
        "trajectory__run", "trajectory", "trajectory__task", "text", "payload__valid"
    ):
        verdict = pools[task].get(normal_words(text))
        if verdict is not None:
            records.append((run, labels[run], trajectory, task, verdict, valid))
    frame = pd.DataFrame.from_records(records, columns=list(COLUMNS))
    return frame.astype({"valid": "float64"})


def _verdicts(payload: Mapping[str, Any]) -> dict[str, str]:
    """The verdict on each answer of a task's pool, by its words; empty where nobody gave any."""
    found: dict[str, set[str]] = {}
    for row in payload.get("plans", ()):
        given = row.get("verdicts") or [row.get("verdict", "")]
        words = normal_words("\n".join(row["steps"]))
        found.setdefault(words, set()).update(verdict for verdict in given if verdict)
    if not any(found.values()):
        return {}
    return {
        words: SEVERAL if len(given) > 1 else next(iter(given), "")
        for words, given in found.items()
    }
