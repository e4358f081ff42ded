"""Import the published AdaPlanBench file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.files import import_adaplanbench


class Command(BaseCommand):
    """``import_adaplanbench FILE``: checked as a whole, then stored as a whole."""

    help = "Import queries and profiles in the published format (adaplanbench_queries.json)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", default="AdaPlanBench", help="name of the dataset")
        parser.add_argument("--licence", default="", help="licence of the data, if known")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            imported = import_adaplanbench(
                path=file, source=file.name, name=options["name"], licence=options["licence"]
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        saved, checked = imported.saved, imported.checked
        if not saved.created:
            self.stdout.write(f"already imported as {saved.dataset}, nothing added")
            return
        self.stdout.write(
            f"{saved.dataset}: {saved.tasks} tasks, {checked.profiles} profiles, "
            f"{checked.constraints} constraints"
        )
