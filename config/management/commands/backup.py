"""``manage.py backup FILE``: everything in the database in one file, while others work."""

from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backups.backup import delete_older, write_backup
from config.backups.errors import report_errors


class Command(BaseCommand):
    """Make a backup."""

    help = "Write everything in the database to one file. The server may run meanwhile."
    # Data must be got out of an installation with whatever is wrong with it.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, whether it may be replaced, and whether it is for a move."""
        parser.add_argument(
            "file", type=Path, help="the file, or a folder in which it is named after the time"
        )
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")
        parser.add_argument(
            "--as-sqlite",
            action="store_true",
            help="on PostgreSQL: write a backup that SQLite can restore",
        )

        parser.add_argument(
            "--keep-days",
            type=int,
            metavar="DAYS",
            help="with a folder: afterwards delete backups in it that are older than this",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write a backup, and print where it is."""
        path: Path = options["file"]
        folder, days = path, options["keep_days"]
        if days is not None and (not folder.is_dir() or days < 1):
            raise CommandError("--keep-days needs a folder and at least 1 day. No backup was made.")
        if path.is_dir():
            path /= f"planjury-{datetime.now(UTC):%Y%m%d-%H%M%S}.zip"
        with report_errors("No backup was made."):
            done = write_backup(path, force=options["force"], as_sqlite=options["as_sqlite"])
        self.stdout.write(
            f"The backup is {done.path}: {done.size / 1e6:,.1f} MB in {done.seconds:.1f} s."
        )
        if days is not None:
            with report_errors("The backup was made."):
                old = delete_older(folder, timedelta(days=days))
            self.stdout.write(f"{len(old)} older backups were deleted.")
