"""Caps on what runs may cost: a run that reaches its cap is paused, and goes on with more."""

from django.db import transaction

from benchmarks.endpoints.services import check_cap, endpoints_in
from benchmarks.models import Run
from benchmarks.runs.services import check_cost_cap, resume_run

_AT_WORK = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING)


def halt_run(*, run_id: int, reason: str) -> None:
    """Pause a run that must not go on by itself, and keep why."""
    Run.objects.filter(pk=run_id, status__in=_AT_WORK).update(
        status=Run.Status.PAUSED, problem=reason
    )


def change_cost_cap(*, run: Run, cap: float | None) -> None:
    """Another cap, or None for none. What is paused at its cap goes on if that is higher now."""
    check_cost_cap(cap)
    check_cap(cap, endpoints_in(run.roles))
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).update(cost_cap=cap)
        run.refresh_from_db()
        if run.status == Run.Status.PAUSED and run.problem and (cap is None or run.committed < cap):
            resume_run(run=run)
            run.refresh_from_db()
