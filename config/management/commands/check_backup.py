"""``manage.py check_backup FILE``: whether a backup can be restored; nothing live is touched."""

import secrets
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config.backups.check import CheckedBackup, check_backup, newest_backup
from config.backups.errors import report_errors


class Command(BaseCommand):
    """Restore a backup or a part of it into a database that is thrown away."""

    help = (
        "Check a backup by restoring it into a temporary database: on PostgreSQL a random part of "
        "its rows (PLANJURY_BACKUP_SAMPLE), or all with --whole."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, or the folder whose newest backup is checked."""
        parser.add_argument(
            "file", type=Path, help="a backup, or a folder whose newest backup is checked"
        )
        parser.add_argument(
            "--whole", action="store_true", help="restore all rows, with their keys"
        )
        parser.add_argument("--seed", type=int, help="repeat the sample that was drawn with a seed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check, and say what the backup holds."""
        path: Path = options["file"]
        with report_errors("The backup was not restored."):
            done = check_backup(
                newest_backup(path) if path.is_dir() else path,
                part=1.0 if options["whole"] else settings.BACKUP_SAMPLE / 100,
                seed=secrets.randbelow(1 << 31) if options["seed"] is None else options["seed"],
            )
        if done.sample:
            self._say_sample(done)
            return
        most = ", ".join(f"{count:,} {name}" for name, count in list(done.counts.items())[:5])
        self.stdout.write(
            f"{done.path} of {done.manifest.made_at:%d %B %Y at %H:%M} UTC can be restored: "
            f"{most or 'no data'}."
        )

    def _say_sample(self, done: CheckedBackup) -> None:
        tables = sorted(done.sample.items(), key=lambda pair: -pair[1].rows)
        rows = sum(table.rows for _, table in tables)
        restored = sum(table.restored for _, table in tables)
        largest = ", ".join(f"{t.restored:,} of {t.rows:,} in {name}" for name, t in tables[:5])
        self.stdout.write(
            f"{done.path} of {done.manifest.made_at:%d %B %Y at %H:%M} UTC is complete: its digest "
            f"is right, and all {rows:,} rows of {len(tables)} tables can be read. Restored were "
            f"{restored:,} rows, drawn with seed {done.seed}: {largest}. "
            "Keys were not checked; --whole does."
        )
