"""Export a dataset in the published AdaPlanBench format."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.files import export_published
from benchmarks.datasets.selectors import find_dataset


class Command(BaseCommand):
    """``export_adaplanbench --dataset NAME --out FILE``."""

    help = "Write queries and profiles in the format that import_adaplanbench reads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dataset", required=True, help="id, name, or name@version")
        parser.add_argument(
            "--out", type=Path, required=True, help="the file to write; it must not exist"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["out"]
        try:
            dataset = find_dataset(options["dataset"])
            with path.open("x", encoding="utf-8") as file:
                count = export_published(dataset=dataset, file=file)
        except FileExistsError:
            raise CommandError(f"{path.name} exists; name a new file") from None
        except OSError as error:
            raise CommandError(f"{path.name} cannot be written: {error.strerror}") from None
        except CoreError as error:
            path.unlink(missing_ok=True)
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count} queries written to {path}")
