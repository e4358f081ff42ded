"""``manage.py restore FILE``: replace everything in the database by what a backup holds."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from annotation.demo.services import close_demo_accounts, open_demo_accounts
from config.backups.errors import report_errors
from config.backups.restore import restore_backup


class Command(BaseCommand):
    """Restore a backup."""

    help = "Replace everything in the database by a backup, or change nothing. The server may run."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the file, and what may happen to the data that are there."""
        parser.add_argument("file", type=Path, help="a backup made by manage.py backup")
        parser.add_argument(
            "--replace", action="store_true", help="replace existing data; they are backed up first"
        )
        parser.add_argument(
            "--no-safety-copy",
            action="store_true",
            help="with --replace: do not back up the existing data",
        )

        parser.add_argument(
            "--demo-accounts",
            choices=["close", "keep"],
            help="what to do with accounts of the demo, whose passwords are public; without it the "
            "command asks, and closes them where nobody can be asked",
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
            "Runs and jobs that were under way continue by themselves. People who signed in after "
            "the backup was made have to sign in again."
        )
        self._settle_demo_accounts(options["demo_accounts"])

    def _settle_demo_accounts(self, choice: str | None) -> None:
        """Let no known password travel to a server for others unasked."""
        accounts = open_demo_accounts()
        if not accounts or (settings.DEMO and choice is None):
            return
        names = ", ".join(user.username for user in accounts)
        if choice is None and sys.stdin.isatty():
            question = f"Close the demo's accounts, whose passwords are known ({names})? [Y/n] "
            choice = "keep" if input(question).strip().lower().startswith("n") else "close"
        if choice == "keep":
            self.stdout.write(f"Accounts of the demo stay open: {names}.")
            return
        close_demo_accounts()
        self.stdout.write(
            f"Closed the demo's accounts: {names}. Make an administrator with "
            "manage.py create_admin NAME."
        )
