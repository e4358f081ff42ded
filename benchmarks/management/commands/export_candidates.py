"""Export candidate constraints."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.construction.candidates import export_candidates
from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset


class Command(BaseCommand):
    """``export_candidates --dataset NAME --out FILE``."""

    help = (
        "Write the candidate constraints of a dataset in the format that import_candidates reads."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dataset", required=True, help="id, name, or name@version")
        parser.add_argument(
            "--out", type=Path, required=True, help="the file to write; it must not exist"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            dataset = find_dataset(options["dataset"])
            count = export_candidates(dataset=dataset, path=options["out"])
        except CoreError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count} candidates written to {options['out']}")
