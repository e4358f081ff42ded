"""Import problems from which profiles are constructed."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.construction.services import import_problems
from benchmarks.core.errors import CoreError


class Command(BaseCommand):
    """``import_problems FILE [RESULTS.json]``: checked as a whole, stored as a whole."""

    help = "Import problems for a construction: MacGyver's, or rows of problem and solution."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("problems", type=Path, help="PROBLEMS.xlsx, or rows as JSON or CSV")
        parser.add_argument(
            "results",
            type=Path,
            nargs="?",
            help="RESULTS.json: recorded answers to a workbook's problems",
        )
        parser.add_argument("--name", default="Problems", help="name of the dataset")
        parser.add_argument("--licence", default="", help="licence of the data, if known")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            saved = import_problems(
                path=options["problems"],
                results=options["results"],
                name=options["name"],
                licence=options["licence"],
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        if not saved.created:
            self.stdout.write(f"already imported as {saved.dataset}, nothing added")
            return
        self.stdout.write(f"{saved.dataset}: {saved.dataset.notes}")
