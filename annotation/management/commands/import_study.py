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
            result = import_study(path=options["path"], by=by, partial=options["partial"])
        except Refused as refused:
            raise CommandError(f"Nothing was changed: {refused.reason}.") from None
        self._report(result)

    def _report(self, result: ImportResult) -> None:
        reasons = result.match.reasons
        if result.study is None:
            matched, missing = len(result.match.matched), len(result.match.missing)
            lines = [
                f"Nothing was changed: {missing} of {matched + missing} items are not here.",
                *reasons[:MOST_REASONS],
            ]
            if matched:
                lines.append("With --partial the others are stored, with what was said of them.")
            raise CommandError("\n".join(lines))
        if not result.created:
            self.stdout.write(f"This is study {result.study.pk} already; nothing was changed.")
            return
        state = result.study.get_status_display().lower()
        self.stdout.write(
            f"Study {result.study.pk} ({result.study.name}), {state}: "
            f"{result.items} items, {result.people} annotators, {result.assignments} assignments, "
            f"{result.edits} edits."
        )
        for line in (*result.match.notes, *(f"Left out: {reason}." for reason in reasons)):
            self.stdout.write(line)
