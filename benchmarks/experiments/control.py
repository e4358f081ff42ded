"""Pausing, resuming and cancelling all runs of an experiment; its common cap shared out anew.

Runs that were taken from elsewhere are left alone: they belong to whoever started them.
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
from benchmarks.locks import only_one
from benchmarks.models import Experiment, Job, Run
from benchmarks.runs.services import RunError, cancel_run, change_cost_cap, pause_run, resume_run

S = Run.Status
_OPEN = (S.QUEUED, S.RUNNING, S.WAITING)
_OVER = (S.DONE, S.CANCELLED, S.ATTENTION)


def making_jobs(experiment: Experiment) -> QuerySet[Job]:
    """Jobs that make runs of the experiment and are not over."""
    jobs = Job.objects.filter(kind=KIND, payload__experiment=experiment.pk)
    return jobs.filter(status__in=[Job.Status.QUEUED, Job.Status.RUNNING])


def pause_experiment(*, experiment: Experiment) -> int:
    """Pause every run that is under way, and those that are yet to be made; returns how many."""
    _hold(experiment, S.PAUSED)
    return _each(experiment.runs.filter(status__in=_OPEN), pause_run)


def resume_experiment(*, experiment: Experiment, person: User | None = None) -> int:
    """Go on with every run that is paused, and with making those that are missing.

    A run that was paused at its cap stays so, because it would only stop again.
    """
    _hold(experiment, "")
    done = _each(experiment.runs.filter(status=S.PAUSED, problem=""), resume_run)
    lacking = runs_lacking(experiment)
    if lacking and not making_jobs(experiment).exists():
        enqueue_making(experiment, total=experiment.design[MADE]["total"], created_by=person)
    return done


def cancel_experiment(*, experiment: Experiment) -> int:
    """Cancel every run that has not ended, and make no further ones; what has ended is kept."""
    _hold(experiment, S.CANCELLED)
    for job in making_jobs(experiment):
        cancel_job(job=job)
    return _each(experiment.runs.exclude(status__in=[S.DONE, S.CANCELLED]), cancel_run)


def runs_lacking(experiment: Experiment) -> int:
    """How many runs of the design are not made yet; none are wanted of one that is cancelled."""
    made = experiment.design.get(MADE, {})
    if not made or made.get(HELD) == S.CANCELLED:
        return 0
    taken = Run.objects.filter(pk__in=made.get("taken", ())).count()
    return max(0, int(made["total"]) - taken - experiment.runs.count())


def share_out(*, experiment: Experiment) -> float:
    """Divide what is left of the common cap among the runs that go on, by trajectories left.

    Returns the amount. A run that had reached its cap goes on where it has room now.
    """
    found = stored_design(experiment)
    cap = found[0].cost_cap if found is not None else None
    if cap is None:
        raise ExperimentError(f"{experiment} has no cap in common")
    with only_one(f"experiment {experiment.pk}"):
        runs = list(experiment.runs.exclude(currency=""))
        going = [run for run in runs if run.status not in _OVER]
        left = cap - sum(run.committed for run in runs)
        if not going or left <= 0:
            raise ExperimentError(
                "nothing can be shared out: "
                + ("no run goes on" if not going else "the cap for all is used up")
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
    """Note how runs are to be that are yet to be made."""
    with only_one(f"experiment {experiment.pk}"):
        experiment.refresh_from_db()
        if not experiment.design:
            return
        made = experiment.design.setdefault(MADE, {})
        if made.get(HELD) == S.CANCELLED and how != S.CANCELLED:
            raise ExperimentError(f"{experiment} is cancelled; start a new one from its design")
        made[HELD] = how
        experiment.save(update_fields=["design"])


def _each(runs: QuerySet[Run], act: Callable[..., None]) -> int:
    """Do it to every run; one that has moved on meanwhile is passed over."""
    done = 0
    for run in runs.order_by("pk"):
        try:
            act(run=run)
        except RunError:
            continue
        done += 1
    return done
