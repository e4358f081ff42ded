"""Storing the index columns of runs, and reading them in the background where many are missing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from analysis.models import RunFacts
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.models import Job, Run

if TYPE_CHECKING:
    from analysis.trajectory_index.columns import IndexColumns
    from analysis.trajectory_index.runs import RunVersion

KIND = "trajectory-facts"
ACTIVE = (Job.Status.QUEUED, Job.Status.RUNNING)
# As many trajectories are read together.
TOGETHER = 4000


def store_columns(
    *, by_run: Mapping[int, "IndexColumns"], versions: Mapping[int, "RunVersion"]
) -> None:
    """Store the columns of runs with the versions of the data that they were read from."""
    from analysis.trajectory_index.columns import pack

    with transaction.atomic():
        # Runs may have been deleted meanwhile.
        there = set(Run.objects.filter(pk__in=list(by_run)).values_list("pk", flat=True))
        RunFacts.objects.bulk_create(
            [
                RunFacts(
                    run_id=run,
                    version=str(versions[run]),
                    trajectories=len(columns),
                    columns=pack(columns),
                    made_at=timezone.now(),
                )
                for run, columns in by_run.items()
                if run in there
            ],
            update_conflicts=True,
            unique_fields=["run"],
            update_fields=["version", "trajectories", "columns", "made_at"],
        )


def index_job() -> Job | None:
    """Return the queued or running job that fills the index, if there is one."""
    return Job.objects.filter(kind=KIND, status__in=ACTIVE).order_by("-pk").first()


def request_index(*, trajectories: int) -> Job:
    """Enqueue a job that reads all runs missing or behind in the index, unless there is one."""
    return index_job() or enqueue_job(
        kind=KIND,
        title="Reading trajectories for the list",
        total=trajectories,
    )


@job_kind(KIND)
def read_missing_columns(job: Job, progress: Progress) -> None:
    """Read and store the columns of every run that is missing or behind in the index.

    Runs that are up to date are skipped, so the job may be repeated at any time.
    """
    from analysis.trajectory_index.runs import run_rows

    kept = dict(RunFacts.objects.values_list("run", "version"))
    rows = [row for row in run_rows() if kept.get(row.pk) != str(row.version)]
    versions = {row.pk: row.version for row in rows}
    sizes = {row.pk: row.trajectories for row in rows}
    done = 0
    progress.report(done=0, total=sum(sizes.values()))
    # The newest first: lists begin with them.
    for runs in batches(sorted(sizes, reverse=True), sizes):
        store_columns(by_run=read_each(runs), versions=versions)
        done += sum(sizes[run] for run in runs)
        progress.report(done=done)


def batches(runs: Sequence[int], sizes: Mapping[int, int], most: int = TOGETHER) -> list[list[int]]:
    """Split runs, in order, into batches of at most ``most`` trajectories (or one larger run)."""
    parts: list[list[int]] = []
    held = 0
    for run in runs:
        if not parts or held + sizes[run] > most:
            parts.append([])
            held = 0
        parts[-1].append(run)
        held += sizes[run]
    return parts


def read_each(runs: Sequence[int]) -> dict[int, "IndexColumns"]:
    """Read the columns of several runs with the same queries; return them by run."""
    from analysis.trajectory_index.columns import keep
    from analysis.trajectory_index.source_rows import read_columns

    columns = read_columns(runs)
    return {run: keep(columns, columns.run == run) for run in runs}
