"""Delete the demo: its studies, runs and datasets; its accounts are closed."""

from dataclasses import replace

from django.contrib.auth.models import User

from annotation.deletion.studies import begin_with_studies, with_studies
from annotation.demo.services import KIND, close_demo_accounts, open_demo_accounts
from annotation.models import Study
from benchmarks.deletion.plans import DeletionPlan, DeletionRefusal, plan_deletion
from benchmarks.models import Dataset, Job, Run


def plan_demo_deletion(by: User | None = None) -> DeletionPlan:
    """Plan the deletion of the demo's studies, runs and datasets. ``by`` must keep an account."""
    studies, runs, datasets = (
        model._default_manager.filter(is_demo=True, removed_at=None).values_list("pk", flat=True)
        for model in (Study, Run, Dataset)
    )
    plan = plan_deletion("the demo", runs=runs, datasets=datasets, companions=studies)
    refusals = list(plan.refusals)
    loading = Job.objects.filter(kind=KIND, status__in=(Job.Status.QUEUED, Job.Status.RUNNING))
    if loading.exists():
        refusals.append(DeletionRefusal("The demo is being loaded. Wait until it is complete."))
    if by in open_demo_accounts():
        refusals.append(
            DeletionRefusal(
                "You are signed in with an account of the demo, which would be closed. Make an "
                "administrator by manage.py create_admin NAME, and sign in as that one."
            )
        )
    return with_studies(replace(plan, refusals=refusals))


def begin_demo_deletion(plan: DeletionPlan, *, by: User | None) -> Job:
    """Hide the demo, have a worker delete it, and close its accounts."""
    job = begin_with_studies(plan, by=by)
    close_demo_accounts()
    return job
