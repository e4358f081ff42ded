"""Slopes over turns are fitted as soon as runs have ended, before anybody opens the page."""

from typing import Any

from analysis.filters import Filters
from analysis.filters.datasets import select_runs
from analysis.filters.runs import FINISHED, is_judged
from benchmarks.jobs.services import Progress, enqueue_job, job_kind
from benchmarks.models import COUNTED, Job, Run

KIND = "slope-fits"


def fit_after_run(*, run_id: int, **_: Any) -> None:
    """Have the slopes of a dataset fitted where judges scored the run that ended."""
    run = Run.objects.select_related("dataset").get(pk=run_id)
    kinds = (Run.Kind.MADE, Run.Kind.JUDGING)
    if run.kind not in kinds or not is_judged(run.dataset.system):
        return
    waiting = Job.objects.filter(
        kind=KIND, status=Job.Status.QUEUED, payload__dataset=run.dataset_id
    )
    if not waiting.exists():
        enqueue_job(
            kind=KIND,
            title=f"Fit slopes over turns: {run.dataset.name}"[:160],
            payload={"dataset": run.dataset_id},
        )


@job_kind(KIND)
def fit_dataset(job: Job, progress: Progress) -> None:
    """Fit what the decline page leads with, at every level and condition of a dataset.

    What is kept is not fitted again, so that it may be begun anew at any time.
    """
    from analysis.pages.decline.pooled_fits import fit_pooled  # slow to import
    from analysis.pages.decline.slope_fits import fit_runs

    dataset = job.payload["dataset"]
    rows = Run.objects.filter(COUNTED, dataset=dataset, status__in=FINISHED)
    chosen = sorted(set(rows.values_list("level", "condition")))
    for done, (level, condition) in enumerate(chosen):
        progress.report(done=done, total=len(chosen))
        filters = Filters(dataset=str(dataset), level=level, condition=condition)
        selection = select_runs(filters)
        for run in selection.family:
            fit_runs(selection.system, [run])
            progress.report(done=done)
        fit_pooled(selection.system, selection.family)
    progress.report(done=len(chosen), total=len(chosen))
