"""Verifying a run in the background; what came of it is kept with its date and data version."""

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.core.errors import CoreError
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.locks import lock_run
from benchmarks.models import Job, Run, Trajectory
from benchmarks.verification.selectors import KIND, under_way
from benchmarks.verification.services import verify_run


class VerificationRefused(CoreError):
    """A run that cannot be verified now; the text says why."""


def start_verification(*, run: Run, asked_by: User | None = None) -> Job:
    """Have a worker verify a run; only once at a time."""
    if run.kind == Run.Kind.IMPORTED:
        raise VerificationRefused(f"{run} was imported, so there is no log to derive it from")
    with transaction.atomic():
        lock_run(run.pk)
        if under_way(run):
            raise VerificationRefused(f"{run} is being verified already")
        ended = run.trajectories.filter(status=Trajectory.Status.DONE).count()
        return enqueue_job(
            kind=KIND,
            title=f"Verify {run}",
            payload={"run": run.pk},
            total=ended,
            created_by=asked_by,
        )


@job_kind(KIND)
def perform_verification(job: Job, progress: Progress) -> None:
    """Verify the run and keep what was found; begun anew, it finds the same."""
    run = Run.objects.select_related("dataset").get(pk=job.payload["run"])
    found = verify_run(run=run, report=lambda done: progress.report(done=done))
    progress.report(done=found.trajectories, failed=found.differing, total=found.trajectories)
    result = {"result": found.as_json(), "data_version": run.data_version}
    Job.objects.filter(pk=job.pk).update(payload={**job.payload, **result})
