"""Reading runs: progress and metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q
from django.utils import timezone

from benchmarks.core.registry import get_system
from benchmarks.mappers import core_outcome
from benchmarks.models import Run, Trajectory


@dataclass(frozen=True)
class RunProgress:
    """How far a run is. ``rate`` is trajectories per minute, ``left`` seconds; None if unknown."""

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
    """Counts by status, with the rate since the run began while it is under way."""
    return runs_progress([run])[run.pk]


def runs_progress(runs: list[Run]) -> dict[int, RunProgress]:
    """The same for many runs in one query."""
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
    found = {row["run"]: row for row in rows}
    return {run.pk: _progress(run, found.get(run.pk, {})) for run in runs}


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


def run_metrics(run: Run) -> dict[str, Any]:
    """The run's metrics by its system, with what is outside them counted by reason."""
    system = get_system(run.dataset.system)
    rows = list(run.trajectories.filter(status=Trajectory.Status.DONE).order_by("pk"))
    counts = dict(run.trajectories.values_list("status").annotate(n=Count("pk")).order_by("status"))
    return {
        "run": run.pk,
        "system": system.key,
        "dataset": str(run.dataset),
        "agent": run.agent.name,
        "level": run.level,
        "condition": run.condition,
        "seed": run.seed,
        "judging": run.primary_judging.name if run.primary_judging else None,
        "status": counts,
        **system.summarise([core_outcome(row) for row in rows]),
    }
