"""``manage.py attach_runs FILE…``: detached runs come back into the database."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from config.backups.detaching import attach, read_detached
from config.backups.errors import report_errors


class Command(BaseCommand):
    """Show what files of detached runs hold; with ``--yes`` put it back."""

    help = "Put detached runs back into the database, as they were."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the files."""
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--yes", action="store_true", help="attach, instead of reading only")

    def handle(self, *args: Any, **options: Any) -> None:
        """Read or attach one file after the other."""
        for path in options["files"]:
            with report_errors(f"Nothing of {path} was attached."):
                done = attach(path) if options["yes"] else read_detached(path)
            numbers = ", ".join(map(str, done.runs))
            words = f"Run{'s' * (len(done.runs) > 1)} {numbers}"
            rows = f"{sum(done.rows.values()):,} rows"
            if options["yes"]:
                self.stdout.write(f"{words}: {rows} are back. The file may be deleted.")
            else:
                self.stdout.write(f"{path} holds {words.lower()}: {rows}. Add --yes to attach.")
