"""Import a study that was exported."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.imports.services import ImportResult, import_study

MOST_REASONS = 20


class Command(BaseCommand):
    """``import_study FILE [--manager NAME] [--partial]``."""

    help = "Import an exported study, closed, with pseudonymous accounts that cannot sign in."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "path", type=Path, help="study.zip, study.json, or the folder that export_study wrote"
        )
        parser.add_argument("--manager", help="the account that becomes its manager")
        parser.add_argument(
            "--partial",
            action="store_true",
            help="if some items are not found here, store the others",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        by = None
        if options["manager"]:
            by = User.objects.filter(username=options["manager"]).first()
            if by is None:
                raise CommandError(f"there is no account {options['manager']!r}")
        try:
            made = import_study(path=options["path"], by=by, partial=options["partial"])
        except Refused as refused:
            raise CommandError(f"Nothing was changed: {refused.reason}.") from None
        self._report(made)

    def _report(self, made: ImportResult) -> None:
        reasons = made.match.reasons
        if made.study is None:
            found, missing = len(made.match.found), len(made.match.missing)
            lines = [
                f"Nothing was changed: {missing} of {found + missing} items are not here.",
                *reasons[:MOST_REASONS],
            ]
            if found:
                lines.append("With --partial the others are stored, with what was said of them.")
            raise CommandError("\n".join(lines))
        if not made.created:
            self.stdout.write(f"This is study {made.study.pk} already; nothing was changed.")
            return
        state = made.study.get_status_display().lower()
        self.stdout.write(
            f"Study {made.study.pk} ({made.study.name}), {state}: "
            f"{made.items} items, {made.people} annotators, {made.assignments} assignments, "
            f"{made.edits} edits."
        )
        for line in (*made.match.notes, *(f"Left out: {reason}." for reason in reasons)):
            self.stdout.write(line)
