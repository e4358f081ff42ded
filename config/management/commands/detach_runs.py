"""``manage.py detach_runs NUMBER…``: old runs leave the database for files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.deletion.services import DeletionError
from benchmarks.models import Run
from config.backups.detaching import detach, plan_detaching
from config.backups.errors import report_errors


class Command(BaseCommand):
    """Show what would leave the database; with ``--yes`` write it to files and delete it here."""

    help = (
        "Move the trajectories, calls and scores of runs into files; attach_runs brings them back."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the runs and the folder."""
        parser.add_argument("numbers", nargs="+", type=int, metavar="NUMBER")
        parser.add_argument(
            "--folder", type=Path, required=True, help="the folder in which each run gets a file"
        )
        parser.add_argument("--yes", action="store_true", help="detach, instead of counting only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Count, or detach one run after the other."""
        folder: Path = options["folder"]
        if not folder.is_dir():
            raise CommandError(f"there is no folder {folder}")
        runs = Run.objects.in_bulk(options["numbers"])
        if missing := set(options["numbers"]) - set(runs):
            raise CommandError(f"there is no run {min(missing)}")
        if not options["yes"]:
            self._count(list(runs.values()))
            return
        for pk in dict.fromkeys(options["numbers"]):
            try:
                with report_errors(f"Run {pk} was not detached."):
                    done = detach(Run.objects.get(pk=pk), folder.absolute())
            except DeletionError as error:
                raise CommandError(f"Run {pk} was not detached. {error}") from None
            self.stdout.write(
                f"Run {pk} is in {done.path} ({done.size / 1e6:,.1f} MB, "
                f"{sum(done.rows.values()):,} rows, SHA-256 {done.sha256})."
            )

    def _count(self, runs: list[Run]) -> None:
        refused = False
        for run in runs:
            plan = plan_detaching(run)
            self.stdout.write(f"{plan.label}:")
            for name, count in plan.counts.items():
                self.stdout.write(f"  {name}: {count:,}")
            for refusal in [] if run.archive else plan.refusals:
                self.stdout.write(f"  Refused: {refusal.words}")
                refused = True
        if refused:
            raise CommandError("nothing was detached")
        self.stdout.write("Nothing was detached. Add --yes to detach.")
