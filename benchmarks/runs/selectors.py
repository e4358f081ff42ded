"""Read runs: lists, progress, cost and metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import (
    Avg,
    Case,
    Count,
    F,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    When,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce
from django.utils import timezone

from benchmarks.core.ports.labels import Ending, Measure
from benchmarks.core.ports.results import Tone
from benchmarks.core.registry import EXTERNAL, SYSTEMS, find_system, system_of
from benchmarks.core.types import Outcome
from benchmarks.mappers import core_outcome
from benchmarks.models import Dataset, Profile, Run, Trajectory
from benchmarks.validity.selectors import CertifiedValidity, current_certificate, unusable_tasks
from benchmarks.visibility import EVERYTHING, Visibility


@dataclass(frozen=True)
class RunOptions:
    """The options of list filters, as (value, label) pairs."""

    datasets: list[tuple[int, str]]
    agents: list[tuple[int, str]]
    levels: list[tuple[str, str]]
    conditions: list[tuple[str, str]]


def run_options(seen: Visibility = EVERYTHING) -> RunOptions:
    """Return the datasets, agents, levels and conditions of all runs, in one query."""
    rows = (
        seen.of(Run.objects.order_by())
        .values_list(
            "dataset", "dataset__name", "dataset__version", "agent", "agent__title", "level",
            "condition",
        )
        .distinct()
    )  # fmt: skip
    used = list(rows)
    datasets = {row[0]: f"{row[1]} {row[2]}" for row in used}
    agents = {row[3]: row[4] for row in used}
    return RunOptions(
        sorted(datasets.items(), key=lambda pair: (pair[1].lower(), pair[0])),
        sorted(agents.items(), key=lambda pair: (pair[1].lower(), pair[0])),
        [(level, level) for level in sorted({row[5] for row in used if row[5]}, key=_rank)],
        [(name, name) for name in sorted({row[6] for row in used})],
    )


def _rank(level: str) -> tuple[int, str]:
    known = ("low", "mid", "high")
    return (known.index(level) if level in known else len(known), level)


@dataclass(frozen=True)
class RunProgress:
    """The progress of a run. ``rate`` is trajectories per minute, ``left`` seconds; None if
    unknown.
    """

    total: int
    done: int
    failed: int
    waiting: int
    running: int
    cancelled: int
    rate: float | None
    left: float | None

    @property
    def ended(self) -> int:
        return self.done + self.failed + self.cancelled

    @property
    def share(self) -> float:
        return self.ended / self.total if self.total else 0.0


def run_progress(run: Run) -> RunProgress:
    """Count trajectories by status, with the rate since the start while the run is under way."""
    return runs_progress([run])[run.pk]


def runs_progress(runs: list[Run]) -> dict[int, RunProgress]:
    """Return the progress of many runs in one query."""
    S = Trajectory.Status
    rows = (
        Trajectory.objects.filter(run__in=runs)
        .values("run")
        .annotate(
            total=Count("pk"),
            done=Count("pk", filter=Q(status=S.DONE)),
            failed=Count("pk", filter=Q(status__in=[S.FAILED, S.DECISION])),
            waiting=Count("pk", filter=Q(status=S.WAITING)),
            running=Count("pk", filter=Q(status=S.RUNNING)),
            cancelled=Count("pk", filter=Q(status=S.CANCELLED)),
            latest=Max("finished_at"),
        )
    )
    row_by_run = {row["run"]: row for row in rows}
    return {run.pk: _progress(run, row_by_run.get(run.pk, {})) for run in runs}


def _progress(run: Run, row: Mapping[str, Any]) -> RunProgress:
    names = ("total", "done", "failed", "waiting", "running", "cancelled")
    counts = {name: row.get(name, 0) for name in names}
    rate = left = None
    if run.started_at and counts["done"]:
        until: datetime = timezone.now() if run.finished_at is None else row["latest"]
        minutes = (until - run.started_at).total_seconds() / 60
        if minutes > 0:
            rate = counts["done"] / minutes
            open_ = counts["total"] - counts["done"] - counts["failed"] - counts["cancelled"]
            left = 60 * open_ / rate if run.finished_at is None else None
    return RunProgress(**counts, rate=rate, left=left)


# Why a trajectory that was played has no outcome, by status.
STUCK: Mapping[str, str] = {
    Trajectory.Status.FAILED: "failed for technical reasons",
    Trajectory.Status.DECISION: "waits for a decision",
}


def outcomes_by(run: Run, rows: Sequence[Trajectory]) -> list[Outcome]:
    """Return the outcomes of a run's ended trajectories under its primary judging.

    Trajectories store the outcomes of the live judging. Those of a re-judging are stored with its
    run; trajectories that it did not include are undefined.
    """
    judging = run.primary_judging
    if judging is None or judging.made_by_id is None or judging.made_by_id == run.pk:
        return [core_outcome(row) for row in rows]
    anew = Trajectory.objects.filter(run=judging.made_by_id, status=Trajectory.Status.DONE)
    rejudged = {row.judged_id: core_outcome(row) for row in anew}
    return [rejudged.get(row.pk) or _unjudged(row, judging.name) for row in rows]


def _unjudged(row: Trajectory, judging: str) -> Outcome:
    why = f"the judging “{judging}” did not include it"
    return Outcome(row.termination, dict.fromkeys(row.metrics), dict.fromkeys(row.metrics, why), {})


def run_metrics(run: Run, *, every_task: bool = False) -> dict[str, Any]:
    """Return a run's metrics under its primary judging, and count what each leaves out by reason:
    undefined values, and trajectories that failed or wait for a decision.

    Without ``every_task`` trajectories are left out on tasks that their own reference does not
    solve, by the dataset's certificate; ``left_out`` counts them.
    """
    summarise = find_system(run.dataset.system).summarise
    certificate = current_certificate(run.dataset)
    unusable = certificate.unusable_tasks(run.level) if certificate is not None else frozenset()
    out = frozenset() if every_task else unusable
    ended = run.trajectories.filter(status=Trajectory.Status.DONE)
    rows = list(ended.exclude(task__in=out).order_by("pk"))
    counts = _counts(run.trajectories.all())
    counted = _counts(run.trajectories.exclude(task__in=out)) if out else counts
    summary = summarise(outcomes_by(run, rows))
    stuck = {why: counted[status] for status, why in STUCK.items() if status in counted}
    for metric in summary["metrics"].values():
        metric["excluded"] = {**metric["excluded"], **stuck}
    return {
        "run": run.pk,
        "system": run.dataset.system,
        "dataset": str(run.dataset),
        "agent": run.agent.name,
        "level": run.level,
        "condition": run.condition,
        "seed": run.seed,
        "judging": run.primary_judging.name if run.primary_judging else None,
        "status": counts,
        "left_out": counts.get(Trajectory.Status.DONE, 0) - len(rows),
        "usable": _usable(certificate, run.level),
        **summary,
    }


def _counts(rows: QuerySet[Trajectory]) -> dict[str, int]:
    return dict(rows.values_list("status").annotate(n=Count("pk")).order_by("status"))


def _usable(certificate: CertifiedValidity | None, level: str) -> dict[str, int] | None:
    """Return how many tasks of a level are usable, of those checked; None without a certificate."""
    if certificate is None:
        return None
    usable, checked = certificate.usable_at(level)
    return {"usable": usable, "checked": checked}


def run_list(chosen: Mapping[str, Any]) -> QuerySet[Run]:
    """Return the runs that match a filter; names are those of ``runs.forms.RunFilter``."""
    rows = Run.objects.select_related("dataset", "agent", "experiment").defer(
        "settings", "roles", "pins"
    )
    for name in ("dataset", "agent", "level", "condition", "status", "kind", "experiment"):
        if chosen.get(name):
            rows = rows.filter(**{name: chosen[name]})
    return rows


# What a list of runs can be sorted by: title, column, and whether the largest comes first. Without
# a choice the newest comes first.
ORDERS: Mapping[str, tuple[str, str, bool]] = {
    "best": ("best result first", "result", True),
    "worst": ("worst result first", "result", False),
    "most-failed": ("most failed first", "failed", True),
    "dearest": ("dearest first", "committed", True),
    "cheapest": ("cheapest first", "committed", False),
}


def sorted_runs(rows: QuerySet[Run], order: str) -> QuerySet[Run]:
    """Sort runs by one of ``ORDERS``; those without a value come last, of equals the newest first.

    The result and the number of failed trajectories are computed in the query, so that long lists
    are sorted without being read.
    """
    _, column, falling = ORDERS[order]
    if column == "result":
        rows = with_results(rows)
    elif column == "failed":
        rows = rows.alias(failed=_failed())
    else:  # a run without a price has no cost
        rows = rows.exclude(currency="")
    by = F(column)
    return rows.order_by(by.desc(nulls_last=True) if falling else by.asc(nulls_last=True), "-pk")


def _failed() -> Coalesce:
    S = Trajectory.Status
    rows = Trajectory.objects.filter(run=OuterRef("pk"), status__in=[S.FAILED, S.DECISION])
    return Coalesce(Subquery(rows.order_by().values("run").annotate(n=Count("pk")).values("n")), 0)


def with_results(rows: QuerySet[Run]) -> QuerySet[Any]:
    """Add each run's ``result``: the mean of its system's first headline measure, or None.

    The mean is over the ended trajectories that define it, under the run's primary judging, on
    usable tasks, as in ``run_metrics``.
    """
    unusable = Q()
    for (dataset, level), tasks in unusable_tasks().items():
        unusable |= Q(run__dataset=dataset, run__level=level, task__in=tasks)
    headlines = {key: find_system(key).labels.headlines for key in (*SYSTEMS, EXTERNAL)}
    cases = [
        When(dataset__system=key, then=_mean_of(names[0], unusable))
        for key, names in headlines.items()
        if names
    ]
    return rows.annotate(result=Case(*cases, default=None, output_field=FloatField()))


def _mean_of(metric: str, unusable: Q) -> Subquery:
    scored = Coalesce(OuterRef("primary_judging__made_by"), OuterRef("pk"))
    ended = Trajectory.objects.filter(run=scored, status=Trajectory.Status.DONE).order_by()
    ended = ended.exclude(**{f"metrics__{metric}": None})  # SQLite would cast it to 0
    ended = ended.exclude(unusable) if unusable else ended
    value = Cast(KeyTextTransform(metric, "metrics"), FloatField())
    return Subquery(ended.values("run").annotate(mean=Avg(value)).values("mean"))


@dataclass(frozen=True)
class RunCost:
    """The cost of a run, with what is reserved for calls under way, and its cap."""

    amount: float
    cap: float | None
    currency: str

    @property
    def share(self) -> float | None:
        return min(1.0, self.amount / self.cap) if self.cap else None


def spent(run: Run) -> RunCost | None:
    """Return the cost of a run, or None if it asks no endpoint or its calls have no price."""
    if not run.currency or (run.cost_cap is None and not run.committed):
        return None
    # Reserving and releasing amounts leaves the rounding error of floating point.
    return RunCost(max(0.0, round(run.committed, 12)), run.cost_cap, run.currency)


# What is under way: its page renews itself.
MOVING = (Run.Status.QUEUED, Run.Status.RUNNING)
TONES: Mapping[str, Tone] = {
    Run.Status.QUEUED: "idle",
    Run.Status.RUNNING: "info",
    Run.Status.PAUSED: "warn",
    Run.Status.WAITING: "warn",
    Run.Status.ATTENTION: "bad",
    Run.Status.DONE: "ok",
    Run.Status.CANCELLED: "idle",
}


@dataclass(frozen=True)
class RunRow:
    """One line of a list of runs; ``result`` is the value of ``measure``, None if undefined."""

    run: Run
    progress: RunProgress
    tone: Tone
    measure: Measure | None
    result: float | None

    @property
    def is_moving(self) -> bool:
        return self.run.status in MOVING

    @property
    def spent(self) -> RunCost | None:
        return spent(self.run)


def run_rows(runs: Sequence[Run]) -> list[RunRow]:
    """Return list rows for these runs; their progress and their results take a query each."""
    progress = runs_progress(list(runs))
    with_result = with_results(Run.objects.filter(pk__in=[run.pk for run in runs])).order_by()
    results: dict[int, float | None] = {
        row["pk"]: row["result"] for row in with_result.values("pk", "result")
    }
    return [
        RunRow(
            run,
            progress[run.pk],
            TONES[run.status],
            headline_measure(run.dataset.system),
            results.get(run.pk),
        )
        for run in runs
    ]


def headline_measure(key: str) -> Measure | None:
    """Return the measure by which a system ranks agents, if it is known and has one."""
    if key != EXTERNAL and system_of(key) is None:
        return None
    labels = find_system(key).labels
    return labels.measures[labels.headlines[0]] if labels.headlines else None


@dataclass(frozen=True)
class MetricFigure:
    """A metric on a page: ``value`` is None if undefined, ``excluded`` says what is left out.

    Of a re-judging, ``original`` is the same metric under the run's own judges.
    """

    name: str
    measure: Measure
    value: float | None
    n: int
    excluded: Mapping[str, int]
    original: "MetricFigure | None" = None

    @property
    def left_out(self) -> int:
        return sum(self.excluded.values())

    @property
    def why(self) -> str:
        """The reason why there is no value, or what it leaves out."""
        if not self.left_out:
            return "" if self.n else "no trajectory that ended has a value"
        return "; ".join(f"{n} left out: {reason}" for reason, n in self.excluded.items())


def run_figures(system: str, metrics: Mapping[str, Any]) -> list[MetricFigure]:
    """Return the metrics that a system describes, in its order."""
    return [
        MetricFigure(name, measure, metric["value"], metric["n"], metric["excluded"])
        for name, measure in find_system(system).labels.measures.items()
        if (metric := metrics["metrics"].get(name)) is not None
    ]


def original_figures(run: Run, *, every_task: bool = False) -> list[MetricFigure]:
    """Return what a re-judging's ended trajectories came to under the run's own judges.

    Nothing for any other run. Only trajectories that it has judged so far count, and the tasks of
    ``run_metrics``, so that both figures are about the same ones.
    """
    if run.kind != Run.Kind.JUDGING:
        return []
    ended = run.trajectories.filter(status=Trajectory.Status.DONE)
    if not every_task:
        out = unusable_tasks([run.dataset_id]).get((run.dataset_id, run.level), ())
        ended = ended.exclude(task__in=out)
    rows = Trajectory.objects.filter(pk__in=ended.values("judged")).order_by("pk")
    system = run.dataset.system
    return run_figures(system, find_system(system).summarise([core_outcome(row) for row in rows]))


def beside_original(
    figures: Sequence[MetricFigure], original: Sequence[MetricFigure]
) -> list[MetricFigure]:
    """Return the figures of a re-judging, each with that of the run's own judges."""
    before = {figure.name: figure for figure in original}
    return [replace(figure, original=before.get(figure.name)) for figure in figures]


# A metric that is undefined for more than this share of the trajectories is shown as an error.
MUCH_UNDEFINED = 0.1


@dataclass(frozen=True)
class Undefined:
    """A metric that is undefined for many trajectories: ``reasons`` by how often."""

    measure: Measure
    left_out: int
    trajectories: int
    reasons: tuple[tuple[str, int], ...]


def much_undefined(
    system: str, figures: Sequence[MetricFigure], metrics: Mapping[str, Any]
) -> list[Undefined]:
    """Return the metrics that are undefined for over a tenth of the ended trajectories, and why."""
    stuck = (sum(figure.excluded.get(why, 0) for why in STUCK.values()) for figure in figures[:1])
    total = metrics["trajectories"] + sum(stuck)
    return [
        Undefined(
            figure.measure,
            figure.left_out,
            total,
            tuple(
                (find_system(system).labels.reword_reason(reason), n)
                for reason, n in sorted(figure.excluded.items(), key=lambda pair: -pair[1])
            ),
        )
        for figure in figures
        if figure.left_out > MUCH_UNDEFINED * total
    ]


def run_size(dataset: Dataset, levels: Sequence[str], tasks: Sequence[str]) -> int:
    """Count the trajectories of one agent: the tasks that have a profile at these levels."""
    if levels:
        rows = Profile.objects.filter(task__dataset=dataset, level__in=levels)
        return (rows.filter(task__external_id__in=tasks) if tasks else rows).count()
    chosen = dataset.tasks.filter(external_id__in=tasks) if tasks else dataset.tasks.all()
    return chosen.count()


def ended_metrics(run: Run, *, every_task: bool = False) -> dict[str, Any] | None:
    """Return a run's metrics, or None if its system is unknown or no trajectory has ended."""
    if run.dataset.system != EXTERNAL and system_of(run.dataset.system) is None:
        return None
    metrics = run_metrics(run, every_task=every_task)
    return metrics if metrics["trajectories"] else None


def ending_counts(run: Run, metrics: Mapping[str, Any]) -> list[tuple[str, Ending, int]]:
    """Return (code, title, count) of every ending, the most frequent first."""
    counts = sorted(metrics["terminations"].items(), key=lambda pair: (-pair[1], pair[0]))
    return [(code, find_system(run.dataset.system).labels.ending(code), n) for code, n in counts]
