"""Agreement of raters in a tidy table of ratings."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.problems import FileRefused


class Command(BaseCommand):
    help = (
        "Agreement of people, of judges, and of judges with people, from a CSV file (or .csv.gz) "
        "with the columns dataset, item, criterion, rater, rater_kind (human or llm), score, and "
        "task where items share tasks, probability where people rated items that were drawn. "
        "docs/agreement.md says what each number is."
    )
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the table, TIDY.csv or TIDY.csv.gz")
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="print JSON, with all intervals"
        )
        parser.add_argument(
            "--seed", type=int, default=1, help="seed of all resampling (default 1)"
        )
        parser.add_argument(
            "--resamples", type=int, default=1000, help="resamples of each bootstrap (default 1000)"
        )
        parser.add_argument(
            "--scale", type=int, nargs=2, default=(1, 5), metavar=("LOW", "HIGH"),
            help="lowest and highest score of the scale (default 1 5)",
        )  # fmt: skip
        parser.add_argument(
            "--epsilon", type=float, default=0.1,
            help="how much worse than a person a judge may be in the alternative annotator test: "
            "0.1 beside crowd workers, 0.15 beside skilled annotators, 0.2 beside experts; choose "
            "it before looking (default 0.1, the strictest)",
        )  # fmt: skip
        parser.add_argument(
            "--margin", type=float, default=0.15,
            help="how far a judge's linearly weighted kappa with people may lie below people's "
            "own; choose it before looking (default 0.15)",
        )  # fmt: skip
        parser.add_argument(
            "--half-width", type=float, default=0.1,
            help="half the width of the interval to plan for; the report says how many items are "
            "needed (default 0.1)",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        # numpy and scipy take a second to load, which manage.py should not pay for other commands.
        from analysis.agreement.csv_table import read_tidy
        from analysis.agreement.inputs import AgreementSettings
        from analysis.agreement.plain_text import report_text
        from analysis.agreement.report import tidy_report
        from analysis.stats.results import as_json

        path: Path = options["file"]
        low, high = options["scale"]
        try:
            settings = AgreementSettings(
                scale=(low, high), seed=options["seed"], resamples=options["resamples"],
                epsilon=options["epsilon"], margin=options["margin"],
                half_width=options["half_width"],
            )  # fmt: skip
        except ValueError as error:
            raise CommandError(f"--{error}") from None
        try:
            with path.open("rb") as file:
                table = read_tidy(file, scale=settings.scale)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror or error}") from None
        except FileRefused as error:
            raise CommandError(f"{path} was refused:\n{error}") from None
        report = tidy_report(table, settings)
        if options["as_json"]:
            text = json.dumps(as_json(report), indent=2, ensure_ascii=False, allow_nan=False)
        else:
            text = report_text(report)
        self.stdout.write(text)
