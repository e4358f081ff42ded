"""``manage.py backup FILE``: everything in the database in one file, while others work."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from config.backups.command import one_line_errors
from config.backups.dump import write_backup


class Command(BaseCommand):
    """Make a backup."""

    help = "Write everything in the database to one file; the server may go on running."
    # Data must be got out of an installation with whatever is wrong with it.
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, and whether it may be replaced."""
        parser.add_argument(
            "file", type=Path, help="the file, or a folder in which it is named after the time"
        )
        parser.add_argument("--force", action="store_true", help="replace the file if it exists")

    def handle(self, *args: Any, **options: Any) -> None:
        """Back up, and say how much it was."""
        path: Path = options["file"]
        if path.is_dir():
            path /= f"planjury-{datetime.now(UTC):%Y%m%d-%H%M%S}.zip"
        with one_line_errors("No backup was made."):
            done = write_backup(path, connection=connection, force=options["force"])
        self.stdout.write(
            f"{done.rows:,} rows of {done.tables} tables are in {done.path}: "
            f"{done.size / 1e6:,.1f} MB in {done.seconds:.1f} s."
        )
