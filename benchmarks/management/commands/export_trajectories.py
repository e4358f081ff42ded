"""Export the trajectories of a run."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.exports.limits import LIMITS
from benchmarks.exports.publishing import UNKNOWN
from benchmarks.exports.services import WRITERS, export_run
from benchmarks.models import Run
from benchmarks.visibility import EVERYTHING


class Command(BaseCommand):
    """``export_trajectories RUN TARGET --format NAME [--licence NAME]``."""

    help = (
        "Write the finished trajectories of a run to a file or folder. What the formats cannot "
        "hold: " + " ".join(f"{name}: {limits}" for name, limits in sorted(LIMITS.items()))
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, help="number of the run")
        parser.add_argument(
            "target", type=Path, help="the file or folder to write; it must not exist"
        )
        parser.add_argument("--format", required=True, help="one of " + ", ".join(sorted(WRITERS)))
        parser.add_argument(
            "--licence",
            default=UNKNOWN,
            help="licence of a folder to publish, as Hugging Face names it",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        rows = EVERYTHING.of(Run.objects.select_related("dataset", "agent"))
        run = rows.filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"there is no run {options['run']}")
        if options["format"] in LIMITS:
            self.stderr.write(f"{options['format']}: {LIMITS[options['format']]}")
        try:
            count = export_run(
                run=run,
                format=options["format"],
                target=options["target"],
                licence=options["licence"],
            )
        except CoreError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{count} trajectories written to {options['target']}")
