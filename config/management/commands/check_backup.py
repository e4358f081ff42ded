"""``manage.py check_backup FILE``: whether a backup can be restored; nothing live is touched."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from config.backups.check import check_backup, newest_backup
from config.backups.errors import report_errors


class Command(BaseCommand):
    """Restore a backup into a database that is thrown away, and count its rows."""

    help = "Check a backup by restoring it into a temporary database."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, or the folder whose newest backup is checked."""
        parser.add_argument(
            "file", type=Path, help="a backup, or a folder whose newest backup is checked"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, and say what the backup holds."""
        path: Path = options["file"]
        with report_errors("The backup was not restored."):
            done = check_backup(newest_backup(path) if path.is_dir() else path)
        most = ", ".join(f"{count:,} {name}" for name, count in list(done.counts.items())[:5])
        self.stdout.write(
            f"{done.path} of {done.manifest.made_at:%d %B %Y at %H:%M} UTC can be restored: "
            f"{most or 'no data'}."
        )
