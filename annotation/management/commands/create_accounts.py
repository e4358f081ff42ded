"""``manage.py create_accounts LIST.csv``: accounts for people who are named in a list."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.models import Membership, Study
from annotation.people.accounts import create_accounts, read_accounts
from benchmarks.core.problems import FileRefused
from benchmarks.tables import csv_lines

Role = Membership.Role


class Command(BaseCommand):
    """Make accounts, all or none, and write a sign-in link for each."""

    help = (
        "Make an account for each line of a CSV with the columns username, email and name (the "
        "last two may be left out). Writes a CSV with a link for each person, who chooses a "
        "password with it. A link works once, for three days."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the list, the address of the site, the study, and where the links go."""
        parser.add_argument("list", type=Path, help="CSV in UTF-8")
        parser.add_argument(
            "--site", default="http://localhost:8000", help="address that links begin with"
        )
        parser.add_argument("--study", type=int, help="number of a study that they join")
        parser.add_argument(
            "--role", choices=Role.values, default=Role.ANNOTATOR, help="role in that study"
        )
        parser.add_argument("--output", type=Path, help="new file for the links, for you alone")
        parser.add_argument("--dry-run", action="store_true", help="check the list, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        """Check the whole list first, then make its accounts."""
        study = None
        if options["study"] is not None:
            study = Study.objects.filter(pk=options["study"], removed_at=None).first()
            if study is None:
                raise CommandError(f"There is no study {options['study']}.")
        try:
            rows = read_accounts(options["list"].read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['list']} cannot be read: {error}") from None
        except FileRefused as refused:
            raise CommandError(f"No account was made.\n{refused}") from None
        if options["dry_run"]:
            self.stdout.write(f"{len(rows)} accounts can be made. Nothing was changed.")
            return
        output = self._open(options["output"])
        try:
            accounts = create_accounts(rows, study=study, role=options["role"])
        except Refused as refused:
            raise CommandError(f"No account was made: {refused.reason}.") from None
        site = options["site"].rstrip("/")
        table = [("username", "email", "link")]
        table += [(user.get_username(), user.email, f"{site}{path}") for user, path in accounts]
        for line in csv_lines(table):
            output.write(line)
        if output is not self.stdout:
            output.close()
            self.stdout.write(f"{len(accounts)} accounts are made; links: {options['output']}.")

    def _open(self, path: Path | None) -> Any:
        """Open the file for the links before an account is made; nobody else may read it."""
        if path is None:
            return self.stdout
        try:
            return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w")
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
