"""Import trajectories that were made elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.importers.formats import FORMATS
from benchmarks.services.imports import import_trajectories


class Command(BaseCommand):
    """``import_trajectories --format NAME FILE…``: each file as a whole, or not at all."""

    help = "Import trajectories made elsewhere; nothing of a file is stored if anything is wrong."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
        parser.add_argument("--format", required=True, help="one of " + ", ".join(sorted(FORMATS)))
        parser.add_argument(
            "--name", default="", help="name of the dataset; files under one name share their tasks"
        )
        parser.add_argument("--agent", default="", help="the agent, where the file names none")

    def handle(self, *args: Any, **options: Any) -> None:
        refused = 0
        for file in options["files"]:
            try:
                saved = import_trajectories(
                    path=file,
                    format=options["format"],
                    name=options["name"],
                    agent=options["agent"],
                )
            except CoreError as error:
                refused += 1
                self.stderr.write(f"{file.name}: nothing imported:\n{error}")
                continue
            runs = ", ".join(f"run {run.pk} ({run.agent})" for run in saved.runs)
            if saved.created:
                self.stdout.write(
                    f"{file.name}: {saved.trajectories} trajectories with {saved.turns} turns on "
                    f"{saved.dataset}: {runs}"
                )
            else:
                self.stdout.write(f"{file.name}: already imported, nothing added: {runs}")
        if refused:
            raise CommandError(f"{refused} of {len(options['files'])} files were not imported")
