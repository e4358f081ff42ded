"""One row per trajectory that ended: how, after how many turns, and its share in every metric."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db.models import Func, IntegerField, Q, Sum
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Coalesce

from analysis.filters.selection import ChosenRun
from benchmarks.core.ports.comparisons import Grouping
from benchmarks.models import Run, Trajectory, Turn
from benchmarks.runs.selectors import STUCK
from benchmarks.validity.selectors import unusable_tasks

if TYPE_CHECKING:
    from pandas import DataFrame


# The measures that several pages know by name.
ACCURATE, VALID = "accurate", "valid"
COLUMNS = ("run", "label", "trajectory", "task", "termination")
NOT_RECORDED = "not recorded"
NOT_JUDGED = "the judging “{name}” did not include it"
MIXED = "mixed: somebody else took a role over on the way"
# Why a trajectory is missing from the frame, by status.
UNFINISHED: Mapping[str, str] = {
    Trajectory.Status.PENDING: "not played yet",
    Trajectory.Status.RUNNING: "being played",
    Trajectory.Status.WAITING: "waits for a person",
    **STUCK,
    Trajectory.Status.CANCELLED: "cancelled",
}


DONE = Trajectory.Status.DONE


def counted(runs: Mapping[int, ChosenRun], of: str = "run", task: str = "task") -> Q:
    """Return the condition that a row counts: it is of these runs, and on a task that they count.

    Parameters
    ----------
    runs
        By the key that the rows have in the field ``of``: the run, its judging, or the run that
        carries its re-judging.
    task
        The field with the task.
    """
    keys: dict[frozenset[int], list[int]] = {}
    for key, run in runs.items():
        keys.setdefault(run.left_out, []).append(key)
    condition = Q(pk__in=[]) if not keys else Q()
    for left_out, some in keys.items():
        rows = Q(**{f"{of}__in": some})
        condition |= rows & ~Q(**{f"{task}__in": sorted(left_out)}) if left_out else rows
    return condition


def by_id(runs: Iterable[ChosenRun]) -> dict[int, ChosenRun]:
    """Return the runs by their ids."""
    return {run.pk: run for run in runs}


def outcome_frame(runs: Sequence[ChosenRun], metrics: Sequence[str]) -> "DataFrame":
    """Return the finished trajectories of the runs: `COLUMNS`, the metrics, and ``why METRIC``.

    A metric that is undefined is missing, and its ``why`` says why; elsewhere that is empty. Where
    a role was handed over on the way, nobody's metrics can be told, so all of them are missing.
    Where a re-judging counts, metrics are what follows from it; trajectories that it left out
    have none. Tasks that a run leaves out are not in the frame.
    """
    import pandas as pd

    labels = {run.pk: run.label for run in runs}
    rejudged = {run.pk: NOT_JUDGED.format(name=run.judging_name) for run in runs if run.rejudged_by}
    anew = rejudged_metrics(run.rejudged_by for run in runs)
    rows = Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE)
    columns: dict[str, list[object]] = {name: [] for name in COLUMNS}
    for metric in metrics:
        columns[metric] = []
        columns[f"why {metric}"] = []
    for run, pk, task, termination, values, undefined, role_changes in rows.order_by(
        "pk"
    ).values_list("run", "pk", "task", "termination", "metrics", "undefined", "role_changes"):
        if run in rejudged:
            values, undefined = anew.get(pk, ({}, dict.fromkeys(metrics, rejudged[run])))
        row = (run, labels[run], pk, task, termination)
        for name, value in zip(COLUMNS, row, strict=True):
            columns[name].append(value)
        for metric in metrics:
            number = None if role_changes else values.get(metric)
            columns[metric].append(None if number is None else float(number))
            why = "" if number is not None else undefined.get(metric, NOT_RECORDED)
            why = MIXED if role_changes else why
            columns[f"why {metric}"].append(why)
    frame = pd.DataFrame(columns)
    return frame.astype(dict.fromkeys(metrics, "float64"))


def rejudged_metrics(
    carriers: Iterable[int | None],
) -> dict[int, tuple[Mapping[str, Any], Mapping[str, str]]]:
    """Return metrics, and why some are undefined, of the trajectories that were re-judged.

    They stand with the ``carriers``; what is stored with the trajectories follows from the judging
    that was made while they were played.
    """
    carried = [pk for pk in carriers if pk is not None]
    if not carried:
        return {}
    rows = Trajectory.objects.filter(run__in=carried, status=Trajectory.Status.DONE).order_by()
    fields = ("judged", "metrics", "undefined")
    return {pk: (values, undefined) for pk, values, undefined in rows.values_list(*fields)}


def unfinished(run: ChosenRun) -> dict[str, int]:
    """Return the trajectories of a run that are not in the frame, by reason."""
    return {
        reason: run.counts[status]
        for status, reason in UNFINISHED.items()
        if run.counts.get(status)
    }


def why_undefined(rows: "DataFrame", metric: str) -> dict[str, int]:
    """Return how many of the rows lack a metric, by reason."""
    reasons = rows.loc[rows[metric].isna(), f"why {metric}"]
    return dict(Counter(str(reason) for reason in reasons))


class _ArrayLength(Func):
    """The length of a JSON array."""

    output_field = IntegerField()

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSON_ARRAY_LENGTH", **extra)

    def as_postgresql(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_ARRAY_LENGTH", **extra)


def message_counts(runs: Sequence[ChosenRun]) -> dict[int, int]:
    """Return the messages of each imported trajectory, by its id; counted in the database."""
    rows = (
        Turn.objects.filter(
            counted(
                by_id(run for run in runs if run.imported), "trajectory__run", "trajectory__task"
            ),
            trajectory__status=Trajectory.Status.DONE,
        )
        .order_by()
        .annotate(
            messages=Coalesce(_ArrayLength(KeyTransform("messages", "payload")), 0)
            + Coalesce(_ArrayLength(KeyTransform("opening", "payload")), 0)
        )
        .values_list("trajectory")
        .annotate(total=Sum("messages"))
    )
    return {pk: int(total) for pk, total in rows}


@dataclass
class ReplicateColumns:
    """Runs, tasks and metrics of trajectories that ended, and what was left out, by reason.

    ``values`` has a column for each metric, None where it is undefined; ``why`` counts the reasons.
    ``unusable`` counts trajectories on tasks that their own reference does not solve.
    """

    runs: list[int] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    values: dict[str, list[float | None]] = field(default_factory=dict)
    why: dict[str, dict[str, int]] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    unusable: int = 0


def played(
    groups: Mapping[int, int], metrics: Sequence[str], number: int
) -> list[ReplicateColumns]:
    """Return the trajectories of runs by group; ``groups`` names for each run which of
    ``number``. Those on tasks that their own reference does not solve are counted alone.
    """
    about = Run.objects.filter(pk__in=list(groups)).order_by()
    cells = {pk: (dataset, level) for pk, dataset, level in
             about.values_list("pk", "dataset", "level")}  # fmt: skip
    out = unusable_tasks({dataset for dataset, _ in cells.values()})
    columns = [
        ReplicateColumns(values={name: [] for name in metrics}, why={name: {} for name in metrics})
        for _ in range(number)
    ]
    rows = Trajectory.objects.filter(run__in=list(groups)).order_by("pk")
    for run, task, status, values, undefined, role_changes in rows.values_list(
        "run", "task", "status", "metrics", "undefined", "role_changes"
    ).iterator(chunk_size=2000):
        column = columns[groups[run]]
        if task in out.get(cells[run], ()):
            column.unusable += 1
            continue
        if status != DONE:
            reason = UNFINISHED[status]
            column.open[reason] = column.open.get(reason, 0) + 1
            continue
        column.runs.append(run)
        column.tasks.append(task)
        for name in metrics:
            value = None if role_changes else values.get(name)
            column.values[name].append(value)
            if value is None:
                why = MIXED if role_changes else undefined.get(name, NOT_RECORDED)
                column.why[name][why] = column.why[name].get(why, 0) + 1
    return columns


def group_values(
    runs: Sequence[ChosenRun], grouping: str, known: Mapping[str, Grouping]
) -> dict[int, tuple[str, ...]]:
    """Return the value of a grouping by trajectory that ended; one that crosses two has a part for
    each.

    Trajectories without a value, such as questions that are not about a distance, are left out.
    """
    keys = [
        f"payload__{known[name].key}"
        if name in known and known[name].key
        else f"payload__groups__{name}"
        for name in grouping.split("+")
    ]
    rows = Trajectory.objects.filter(counted(by_id(runs)), status=Trajectory.Status.DONE).order_by(
        "pk"
    )
    by_trajectory = {}
    for pk, *values in rows.values_list("pk", *keys):
        if all(value is not None for value in values):
            by_trajectory[pk] = tuple(map(str, values))
    return by_trajectory
