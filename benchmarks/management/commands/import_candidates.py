"""Import candidate constraints."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.construction.candidates import import_candidates
from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset


class Command(BaseCommand):
    """``import_candidates FILE --dataset NAME``: checked as a whole, then stored as a whole."""

    help = "Import candidate constraints with the checker's decisions (docs/construction.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the candidates, as JSON")
        parser.add_argument("--dataset", required=True, help="id, name, or name@version")
        parser.add_argument(
            "--decided-by", default="", help="who made the decisions that name nobody"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            dataset = find_dataset(options["dataset"])
            imported = import_candidates(
                dataset=dataset, path=options["file"], decided_by=options["decided_by"].strip()
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        saved, queries = imported.saved, imported.checked.queries
        self.stdout.write(
            f"{dataset}: {saved.added} candidates of {queries} queries added, "
            f"{saved.known} known already"
        )
