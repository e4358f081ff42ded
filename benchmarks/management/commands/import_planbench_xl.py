"""Import the data of PlanBench-XL."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.files import import_planbench_xl
from benchmarks.systems.planbench_xl.dataset import DOMAIN


class Command(BaseCommand):
    """``import_planbench_xl FOLDER``: checked as a whole, then stored as a whole."""

    help = "Import a folder with the eight JSON files of PlanBench-XL, plain or as .gz."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--name", default="PlanBench-XL", help="name of the dataset")
        parser.add_argument("--domain", default=DOMAIN, help=f"what it is about ({DOMAIN})")
        parser.add_argument("--licence", default="", help="licence of the data, if known")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            saved = import_planbench_xl(
                folder=options["folder"],
                name=options["name"],
                domain=options["domain"],
                licence=options["licence"],
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        for warning in saved.warnings:
            self.stderr.write(f"warning: {warning}")
        if not saved.created:
            self.stdout.write(f"already imported as {saved.dataset}, nothing added")
            return
        self.stdout.write(f"{saved.dataset}: {saved.tasks} tasks. {saved.dataset.notes}")
