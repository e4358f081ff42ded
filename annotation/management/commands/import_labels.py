"""``manage.py import_labels SET FILE --by USER``: labels that people put elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from annotation.imports.labels import MOST_BYTES, import_labels
from annotation.models import LabelSet
from benchmarks.core.problems import FileRefused
from benchmarks.visibility import Visibility


class Command(BaseCommand):
    """Import the labels of a file, all or none."""

    help = (
        "Import labels of a label set from CSV or JSON lines with the columns trajectory, label, "
        "who, turn and note (the last two may be left out). All are stored, or none; the same file "
        "again adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("set", help="key of the label set, such as mast")
        parser.add_argument("file", type=Path, help="CSV or JSON lines")
        parser.add_argument("--by", required=True, help="user name of the importer")

    def handle(self, *args: Any, **options: Any) -> None:
        if not LabelSet.objects.filter(key=options["set"]).exists():
            known = ", ".join(LabelSet.objects.order_by("key").values_list("key", flat=True))
            raise CommandError(
                f"There is no label set {options['set']!r}; known: {known or 'none'}."
            )
        user = User.objects.filter(username=options["by"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no user {options['by']!r}.")
        path = options["file"]
        try:
            with path.open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
            added = import_labels(
                name=path.name, raw=raw, set_key=options["set"], by=user, seen=Visibility.to(user)
            )
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error}") from None
        except FileRefused as refusal:
            raise CommandError(f"No label was imported.\n{refusal}") from None
        self.stdout.write(f"{added} label{'' if added == 1 else 's'} imported.")
