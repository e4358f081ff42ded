"""``manage.py restore FILE``: replace everything in the database by what a backup holds."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from config.backups.errors import report_errors
from config.backups.restore import restore_backup


class Command(BaseCommand):
    """Restore a backup."""

    help = "Replace everything in the database by a backup, or change nothing; the server may run."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, and what may happen to the data that are there."""
        parser.add_argument("file", type=Path, help="a backup made by manage.py backup")
        parser.add_argument(
            "--replace", action="store_true", help="replace data; a backup of them is made first"
        )
        parser.add_argument(
            "--no-safety-copy", action="store_true", help="with --replace: make no such backup"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and say what happened."""
        with report_errors("Nothing was changed."):
            done = restore_backup(
                options["file"],
                replace=options["replace"],
                safety_copy=not options["no_safety_copy"],
                say=self.stdout.write,
            )
        manifest = done.manifest
        self.stdout.write(
            f"The database is as it was on {manifest.made_at:%d %B %Y at %H:%M} UTC "
            f"(PlanJury {manifest.version}), restored in {done.seconds:.1f} s."
        )
        if done.upgraded:
            self.stdout.write("The backup was of an older version; it was brought up to date.")
        self.stdout.write(
            "Runs and jobs that were under way go on by themselves. Whoever signed in after the "
            "backup was made has to sign in again."
        )
