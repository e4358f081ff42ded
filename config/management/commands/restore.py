"""``manage.py restore FILE``: replace everything in the database by what a backup holds."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from config.backups.command import one_line_errors
from config.backups.restoring import restore_backup


class Command(BaseCommand):
    """Restore a backup."""

    help = "Replace everything in the database by a backup, or change nothing; the server may run."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, and what may happen to what is there."""
        parser.add_argument("file", type=Path, help="a backup made by manage.py backup")
        parser.add_argument(
            "--replace", action="store_true", help="replace data; a backup of them is made first"
        )
        parser.add_argument(
            "--no-safety-copy", action="store_true", help="with --replace: make no such backup"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Restore, and say what happened."""
        with one_line_errors("Nothing was changed."):
            done = restore_backup(
                options["file"],
                replace=options["replace"],
                safety_copy=not options["no_safety_copy"],
                say=self.stdout.write,
            )
        manifest = done.manifest
        self.stdout.write(
            f"{manifest.rows:,} rows of {len(manifest.tables)} tables are back as they were on "
            f"{manifest.made_at:%d %B %Y at %H:%M} UTC (PlanJury {manifest.version}, "
            f"{manifest.engine}), in {done.seconds:.1f} s."
        )
        if done.upgraded:
            self.stdout.write("The backup was of an older version; it was brought up to date.")
        self.stdout.write(
            "Runs and jobs that were under way go on by themselves. Who signed in after the backup "
            "was made has to sign in again."
        )
