"""``manage.py delete KIND [NUMBER…]``: delete runs, experiments, imports, datasets, studies."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet

from annotation.deletion.studies import begin_with_studies, plan_study_deletion
from annotation.demo.deletion import begin_demo_deletion, plan_demo_deletion
from annotation.errors import Refused
from annotation.exports.services import archive_study
from annotation.models import Study
from benchmarks.deletion.plans import (
    DeletionPlan,
    plan_dataset,
    plan_experiment,
    plan_import,
    plan_run,
)
from benchmarks.jobs.services import perform
from benchmarks.jobs.threads import owner_name
from benchmarks.models import Dataset, Experiment, Job, Run

_KINDS: Mapping[str, tuple[QuerySet[Any], Callable[[Any], DeletionPlan]]] = {
    "run": (Run.objects.all(), plan_run),
    "experiment": (Experiment.objects.all(), plan_experiment),
    "import": (Job.objects.filter(payload__has_key="result"), plan_import),
    "dataset": (Dataset.objects.all(), plan_dataset),
    "study": (Study.objects.all(), plan_study_deletion),
}
DEMO = "demo"


class Command(BaseCommand):
    """Show what a deletion takes and what refuses it; with ``--yes`` carry it out."""

    help = "Show what a deletion takes and what refuses it; with --yes, delete it for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("kind", choices=[*_KINDS, DEMO])
        parser.add_argument("numbers", nargs="*", type=int, metavar="NUMBER")
        parser.add_argument("--yes", action="store_true", help="delete, instead of counting only")
        parser.add_argument(
            "--archive", type=Path, metavar="FOLDER", nargs="?", const=settings.ARCHIVE_DIR,
            help="export each study first, into a new folder in this one (default: that of "
            "PLANJURY_ARCHIVE_DIR)",
        )  # fmt: skip
        parser.add_argument(
            "--wait", action="store_true", help="delete here, instead of by a worker"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Plan each deletion, and begin it."""
        kind, numbers = options["kind"], options["numbers"]
        if (kind == DEMO) == bool(numbers):
            raise CommandError("name what to delete by number; the demo needs none")
        plans = [plan_demo_deletion()] if kind == DEMO else [_plan(kind, pk) for pk in numbers]
        for plan in plans:
            self._show(plan)
        if any(plan.refusals for plan in plans):
            raise CommandError("nothing was deleted")
        if not options["yes"]:
            self.stdout.write("Nothing was deleted. Add --yes to delete it for good.")
            return
        for plan in plans:
            self._delete(plan, kind, options["archive"], options["wait"])
        if kind == DEMO:
            self.stdout.write("The demo's accounts are closed.")

    def _show(self, plan: DeletionPlan) -> None:
        self.stdout.write(f"{plan.label}:")
        for name, count in plan.counts.items():
            self.stdout.write(f"  {name}: {count:,}")
        for refusal in plan.refusals:
            self.stdout.write(f"  Refused: {refusal.words}")

    def _delete(self, plan: DeletionPlan, kind: str, archive: Path | None, wait: bool) -> None:
        try:
            for study in Study.objects.filter(pk__in=plan.companions if archive else ()):
                assert archive is not None
                target = archive_study(study, folder=archive, names=True)
                self.stdout.write(f"Archived: {target}")
            job = (begin_demo_deletion if kind == DEMO else begin_with_studies)(plan, by=None)
        except Refused as refused:
            raise CommandError(f"{refused.reason}.") from None
        if wait:
            perform(job_id=job.pk, owner=owner_name())
            job.refresh_from_db()
            if job.status == Job.Status.FAILED:
                raise CommandError(job.message)
        self.stdout.write(f"Job {job.pk} {'has deleted' if wait else 'deletes'} {plan.title}.")


def _plan(kind: str, pk: int) -> DeletionPlan:
    rows, plan = _KINDS[kind]
    row = rows.filter(pk=pk).first()
    if row is None:
        raise CommandError(f"there is no {kind} {pk}")
    return plan(row)
