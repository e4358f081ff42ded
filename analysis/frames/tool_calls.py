"""Tool use as outcomes and turns record it, and the data types that tasks ask for."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analysis.filters.selection import ChosenRun
from analysis.frames.outcomes import by_id, counted
from analysis.stats.descriptive.proportions import coverage_by_step, kept_to
from benchmarks.core.ports.comparisons import Contrasts, ToolUse
from benchmarks.mappers import core_task
from benchmarks.models import Task, Trajectory, Turn

if TYPE_CHECKING:
    from pandas import DataFrame

RUNNING, KEPT = "running", "kept"


def _done(runs: Sequence[ChosenRun]) -> Any:
    return Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE).order_by(
        "pk"
    )


def failure_categories(runs: Sequence[ChosenRun]) -> dict[int, str]:
    """Return in which way each trajectory failed, by its id; empty where it did not, or is left
    out.
    """
    rows = _done(runs).values_list("pk", "payload__failure_category")
    return {pk: str(category or "") for pk, category in rows}


def remaining_parts(runs: Sequence[ChosenRun], contrasts: Contrasts) -> dict[int, float | None]:
    """Return how much was left to do in each trajectory, by its id; None where that is not
    known.
    """
    if contrasts.remaining is None:
        return {}
    rows = list(_done(runs).values_list("pk", "task", "payload__blocked"))
    wanted = {task for _, task, _ in rows}
    tasks = dict(Task.objects.filter(pk__in=wanted).values_list("pk", "payload"))
    return {
        pk: contrasts.remaining(tasks[task], {"blocked": blocked}) for pk, task, blocked in rows
    }


def progress_frame(runs: Sequence[ChosenRun], use: ToolUse) -> "DataFrame":
    """Return the share of a task's parts that had been found, a row per trajectory and step.

    ``series`` is `RUNNING` for steps that were taken; for `KEPT` what was found is carried on to
    the longest trajectory of the frame.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    done = list(_done(runs).values_list("pk", "run", "task", "turn_count"))
    where = {f"payload__{name}": value for name, value in use.found_where.items()}
    finds: dict[int, list[tuple[int, str]]] = {}
    rows = Turn.objects.filter(trajectory__in=_done(runs).values("pk"), **where).order_by()
    for pk, step, part in rows.values_list("trajectory", "index", f"payload__{use.found_part}"):
        finds.setdefault(pk, []).append((step, str(part)))
    tasks = Task.objects.filter(pk__in={task for _, _, task, _ in done}).select_related("dataset")
    parts = {task.pk: use.parts(core_task(task, None)) for task in tasks}
    longest = max((steps for *_, steps in done), default=0)
    shares: list[tuple[str, str, int, int, float | None]] = []
    for pk, run, task, steps in done:
        taken = coverage_by_step(parts[task], finds.get(pk, ()), steps)
        for series, values in ((RUNNING, taken), (KEPT, kept_to(taken, longest))):
            shares += [
                (labels[run], series, pk, step, value) for step, value in enumerate(values, 1)
            ]
    frame = pd.DataFrame(shares, columns=["label", "series", "trajectory", "step", "value"])
    return frame.astype({"value": "float64"})
