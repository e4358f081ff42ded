"""Registrations of analyses: verify, import and export their files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from analysis.registrations.document import LARGEST_FILE, file_text, read_file, sha256
from analysis.registrations.gone import gone
from analysis.registrations.selectors import registrations
from analysis.registrations.services import import_registration
from benchmarks.core.problems import FileRefused


class Command(BaseCommand):
    help = (
        "Registrations of analyses: verify the SHA-256 of a file, import a file of another server, "
        "or export a registration of this one. docs/registrations.md says what they prove."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        verify = actions.add_parser("verify", help="check a file; nothing is stored")
        verify.add_argument("file", type=Path, help="the JSON file of a registration")
        taken = actions.add_parser("import", help="check a file and store it here")
        taken.add_argument("file", type=Path, help="the JSON file of a registration")
        taken.add_argument("--user", default="", help="who imports it")
        export = actions.add_parser("export", help="print the JSON file of a registration")
        export.add_argument("digest", help="its SHA-256, or how that begins (8 digits or more)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["action"] == "export":
            self._export(options["digest"])
            return
        path: Path = options["file"]
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_FILE + 1)
            document, plan = read_file(data)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from None
        except FileRefused as error:
            raise CommandError(f"{path} does not verify:\n{error}") from None
        told = f"“{plan.title}” of {plan.registered_at}, {plan.data_name}, {sha256(document)}"
        if options["action"] == "verify":
            self.stdout.write(f"Verified: {told}")
            known = registrations().filter(digest=sha256(document)).first()
            if known is not None and (lost := gone(plan, known.study)):
                self.stdout.write(f"Undefined on this server: {lost}.")
            return
        user = User.objects.filter(username=options["user"]).first()
        if options["user"] and user is None:
            raise CommandError(f"There is no user {options['user']}.")
        _, new = import_registration(data=data, by=user)
        self.stdout.write(f"{'Imported' if new else 'It is here already'}: {told}")

    def _export(self, digest: str) -> None:
        if len(digest) < 8:
            raise CommandError("Give at least 8 digits of the SHA-256.")
        rows = registrations().filter(digest__startswith=digest.lower())[:2]
        if len(rows) != 1:
            raise CommandError("No registration begins so." if not rows else "Several begin so.")
        self.stdout.write(file_text(rows[0].document, rows[0].digest), ending="")
