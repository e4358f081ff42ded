"""Export a study."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.errors import Refused
from annotation.exports.scope import Scope
from annotation.exports.services import FORMATS, ExportRequest, usual_formats, write_study
from annotation.models import Study


class Command(BaseCommand):
    """``export_study STUDY --out DIR [--format NAME …] [--names]``."""

    help = "Export a study into a new folder (docs/study-export.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", type=int, help="number of the study")
        parser.add_argument(
            "--out", type=Path, required=True, help="the folder to make; it must not exist"
        )
        parser.add_argument(
            "--format", nargs="+", choices=list(FORMATS), metavar="NAME", dest="formats",
            help=f"some of {', '.join(FORMATS)}; default: csv, json, huggingface, and parquet "
            "where its extra is installed",
        )  # fmt: skip
        parser.add_argument(
            "--names", action="store_true",
            help="add account names to pseudonyms (not in the data set folder)",
        )  # fmt: skip
        parser.add_argument(
            "--withdrawn", action="store_true", help="include people who withdrew, for an audit"
        )
        parser.add_argument(
            "--events", action="store_true", help="include the study's record in the JSON"
        )
        parser.add_argument(
            "--licence", default="", help="licence of the ratings, as Hugging Face names it"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(pk=options["study"], removed_at=None).first()
        if study is None:
            raise CommandError(f"there is no study {options['study']}")
        scope = Scope(study, names=options["names"], withdrawn=options["withdrawn"])
        wish = ExportRequest(scope, options["events"], options["licence"])
        formats = options["formats"] or usual_formats()
        try:
            paths = write_study(wish=wish, formats=formats, target=options["out"])
        except Refused as refused:
            raise CommandError(f"{refused.reason}.") from None
        if not options["formats"] and "parquet" not in formats:
            self.stdout.write("Parquet is left out: its extra 'parquet' is not installed.")
        for path in paths:
            self.stdout.write(str(path))
        for state, count in scope.left_out.items():
            if count:
                self.stdout.write(f"Left out: {count} {state}.")
