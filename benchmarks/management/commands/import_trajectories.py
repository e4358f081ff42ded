"""Import trajectories that were made elsewhere."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.formats.registry import FORMATS, together
from benchmarks.imports.services import import_trajectories


class Command(BaseCommand):
    """``import_trajectories [--format NAME] FILE…``: each file as a whole, or not at all."""

    help = "Import trajectories of other programs. Each file is stored completely or refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files", type=Path, nargs="+", metavar="FILE", help="a file, an archive or a folder"
        )
        parser.add_argument(
            "--format",
            default="",
            help="one of " + ", ".join(sorted(FORMATS)) + "; default: detected",
        )
        parser.add_argument(
            "--name", default="", help="name of the dataset; files under one name share their tasks"
        )
        parser.add_argument(
            "--agent", default="", help="name of the agent, for files that name none"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        refused = 0
        groups = together(options["files"], options["format"])
        for file, *others in groups:
            title = ", ".join(path.name for path in (file, *others))
            try:
                saved = import_trajectories(
                    path=file,
                    others=others,
                    format=options["format"],
                    name=options["name"],
                    agent=options["agent"],
                )
            except CoreError as error:
                refused += 1
                self.stderr.write(f"{title}: nothing imported:\n{error}")
                continue
            runs = ", ".join(f"run {run.pk} ({run.agent})" for run in saved.runs)
            if saved.created:
                self.stdout.write(
                    f"{title}: {saved.trajectories} trajectories with {saved.turns} turns "
                    f"({FORMATS[saved.format][0]}) on {saved.dataset}: {runs}"
                )
            else:
                self.stdout.write(f"{title}: already imported, nothing added: {runs}")
        if refused:
            raise CommandError(f"{refused} of {len(groups)} files were not imported")
