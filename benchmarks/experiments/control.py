"""Pause, resume and cancel all runs of an experiment, and redistribute its cost cap.

Runs that were taken from elsewhere are left alone: they belong to the person who started them.
"""

from collections.abc import Callable

from django.contrib.auth.models import User
from django.db.models import QuerySet

from benchmarks.experiments.services import (
    HELD,
    KIND,
    MADE,
    ExperimentError,
    enqueue_making,
    stored_design,
)
from benchmarks.jobs.services import cancel_job
from benchmarks.locks import named_lock
from benchmarks.models import Experiment, Job, Run
from benchmarks.runs.services import RunError, cancel_run, change_cost_cap, pause_run, resume_run

S = Run.Status
_OPEN = (S.QUEUED, S.RUNNING, S.WAITING)
_OVER = (S.DONE, S.CANCELLED, S.ATTENTION)


def making_jobs(experiment: Experiment) -> QuerySet[Job]:
    """Return the unfinished jobs that create runs of the experiment."""
    jobs = Job.objects.filter(kind=KIND, payload__experiment=experiment.pk)
    return jobs.filter(status__in=[Job.Status.QUEUED, Job.Status.RUNNING])


def pause_experiment(*, experiment: Experiment) -> int:
    """Pause every run under way and every run not created yet; return how many."""
    _hold(experiment, S.PAUSED)
    return _each(experiment.runs.filter(status__in=_OPEN), pause_run)


def resume_experiment(*, experiment: Experiment, person: User | None = None) -> int:
    """Resume every paused run, and create the missing ones.

    A run that was paused at its cap stays paused, because it would only stop again.
    """
    _hold(experiment, "")
    done = _each(experiment.runs.filter(status=S.PAUSED, problem=""), resume_run)
    lacking = runs_lacking(experiment)
    if lacking and not making_jobs(experiment).exists():
        enqueue_making(experiment, total=experiment.design[MADE]["total"], created_by=person)
    return done


def cancel_experiment(*, experiment: Experiment) -> int:
    """Cancel every unfinished run and create no more; finished trajectories are kept."""
    _hold(experiment, S.CANCELLED)
    for job in making_jobs(experiment):
        cancel_job(job=job)
    return _each(experiment.runs.exclude(status__in=[S.DONE, S.CANCELLED]), cancel_run)


def runs_lacking(experiment: Experiment) -> int:
    """Count the runs of the design that are not created yet; 0 if it is cancelled."""
    made = experiment.design.get(MADE, {})
    if not made or made.get(HELD) == S.CANCELLED:
        return 0
    taken = Run.objects.filter(pk__in=made.get("taken", ())).count()
    return max(0, int(made["total"]) - taken - experiment.runs.count())


def share_out(*, experiment: Experiment) -> float:
    """Divide the rest of the common cap among unfinished runs, by trajectories left.

    Return the amount. A run that had reached its cap resumes if its new cap is higher.
    """
    stored = stored_design(experiment)
    cap = stored[0].cost_cap if stored is not None else None
    if cap is None:
        raise ExperimentError(f"{experiment} has no common cost cap")
    with named_lock(f"experiment {experiment.pk}"):
        runs = list(experiment.runs.exclude(currency=""))
        going = [run for run in runs if run.status not in _OVER]
        left = cap - sum(run.committed for run in runs)
        if not going or left <= 0:
            raise ExperimentError(
                "nothing can be redistributed: "
                + ("no run continues" if not going else "the cap for all is used up")
            )
        open_ = {run.pk: _left(run) for run in going}
        total = sum(open_.values()) or len(going)
        for run in going:
            share = left * (open_[run.pk] or 1) / total
            change_cost_cap(run=run, cap=run.committed + share)
    return left


def _left(run: Run) -> int:
    return run.trajectories.filter(status__in=["pending", "running", "waiting"]).count()


def _hold(experiment: Experiment, how: str) -> None:
    """Store the status for runs that are not created yet."""
    with named_lock(f"experiment {experiment.pk}"):
        experiment.refresh_from_db()
        if not experiment.design:
            return
        made = experiment.design.setdefault(MADE, {})
        if made.get(HELD) == S.CANCELLED and how != S.CANCELLED:
            raise ExperimentError(f"{experiment} is cancelled; start a new one from its design")
        made[HELD] = how
        experiment.save(update_fields=["design"])


def _each(runs: QuerySet[Run], act: Callable[..., None]) -> int:
    """Apply an action to every run; skip runs whose status has changed meanwhile."""
    done = 0
    for run in runs.order_by("pk"):
        try:
            act(run=run)
        except RunError:
            continue
        done += 1
    return done
