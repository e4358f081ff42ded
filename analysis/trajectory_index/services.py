"""Facts of runs are kept, and made in the background where many are missing."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from analysis.models import RunFacts
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.models import Job, Run

if TYPE_CHECKING:
    from analysis.trajectory_index.columns import Columns
    from analysis.trajectory_index.runs import Version

KIND = "trajectory-facts"
ACTIVE = (Job.Status.QUEUED, Job.Status.RUNNING)
# As many trajectories are read together.
TOGETHER = 4000


def keep_facts(*, facts: Mapping[int, "Columns"], versions: Mapping[int, "Version"]) -> None:
    """Keep the facts of runs under the versions that they were read at."""
    from analysis.trajectory_index.columns import pack

    with transaction.atomic():
        # Runs that were deleted meanwhile have no facts.
        there = set(Run.objects.filter(pk__in=list(facts)).values_list("pk", flat=True))
        RunFacts.objects.bulk_create(
            [
                RunFacts(
                    run_id=run,
                    version=str(versions[run]),
                    trajectories=len(columns),
                    columns=pack(columns),
                    made_at=timezone.now(),
                )
                for run, columns in facts.items()
                if run in there
            ],
            update_conflicts=True,
            unique_fields=["run"],
            update_fields=["version", "trajectories", "columns", "made_at"],
        )


def facts_job() -> Job | None:
    """The job that reads facts now or will, if there is one."""
    return Job.objects.filter(kind=KIND, status__in=ACTIVE).order_by("-pk").first()


def ask_for_facts(*, trajectories: int) -> Job:
    """Have the facts of all runs read that are missing or behind; once, whoever asks."""
    return facts_job() or enqueue_job(
        kind=KIND,
        title="Reading trajectories for the list",
        total=trajectories,
    )


@job_kind(KIND)
def make_facts(job: Job, progress: Progress) -> None:
    """Read and keep the facts of every run whose kept facts are missing or behind.

    What is kept already is not read again, so that it may be begun anew at any time.
    """
    from analysis.trajectory_index.runs import run_rows

    kept = dict(RunFacts.objects.values_list("run", "version"))
    rows = [row for row in run_rows() if kept.get(row.pk) != str(row.version)]
    versions = {row.pk: row.version for row in rows}
    sizes = {row.pk: row.trajectories for row in rows}
    done = 0
    progress.report(done=0, total=sum(sizes.values()))
    # The newest first: that is what a list begins with.
    for runs in batches(sorted(sizes, reverse=True), sizes):
        keep_facts(facts=read_each(runs), versions=versions)
        done += sum(sizes[run] for run in runs)
        progress.report(done=done)


def batches(runs: Sequence[int], sizes: Mapping[int, int], most: int = TOGETHER) -> list[list[int]]:
    """Runs in their order, in parts of at most so many trajectories; a larger run stands alone."""
    found: list[list[int]] = []
    held = 0
    for run in runs:
        if not found or held + sizes[run] > most:
            found.append([])
            held = 0
        found[-1].append(run)
        held += sizes[run]
    return found


def read_each(runs: Sequence[int]) -> dict[int, "Columns"]:
    """The facts of these runs by run, read together."""
    from analysis.trajectory_index.columns import keep
    from analysis.trajectory_index.source_rows import read_facts

    columns = read_facts(runs)
    return {run: keep(columns, columns.run == run) for run in runs}
