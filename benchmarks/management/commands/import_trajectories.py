"""Import trajectories that were made elsewhere."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.formats.registry import FORMATS, together
from benchmarks.formats.reports import describe_file
from benchmarks.imports.services import import_trajectories


class Command(BaseCommand):
    """``import_trajectories [--format NAME] FILE…``: each file as a whole, or not at all.

    ``--dry-run`` stores nothing and says what each file holds, with ``--json`` for programs.
    """

    help = "Import trajectories of other programs. Each file is stored completely or refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "files", type=Path, nargs="+", metavar="FILE", help="a file, an archive or a folder"
        )
        parser.add_argument(
            "--format",
            default="",
            help="a format of docs/trajectories.md, such as openai-chat; default: detected",
        )
        parser.add_argument(
            "--name", default="", help="name of the dataset; files under one name share their tasks"
        )
        parser.add_argument(
            "--agent", default="", help="name of the agent, for files that name none"
        )

        parser.add_argument(
            "--dry-run", action="store_true", help="store nothing; say what each file holds"
        )
        parser.add_argument("--json", action="store_true", help="with --dry-run: print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"] and not options["dry_run"]:
            raise CommandError("--json goes with --dry-run")
        refused = 0
        groups = together(options["files"], options["format"])
        if options["dry_run"]:
            self._describe(groups, options)
            return
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

    def _describe(self, groups: list[list[Path]], options: dict[str, Any]) -> None:
        """Print what each file holds, as JSON or as a line for each file and trajectory."""
        reports = [
            describe_file(file, others, options["format"], options["agent"])
            for file, *others in groups
        ]
        if options["json"]:
            self.stdout.write(json.dumps({"files": reports}, ensure_ascii=False, indent=1))
            return
        for report in reports:
            left_out = ", ".join(f"{kind} {n}" for kind, n in report["left_out"].items())
            self.stdout.write(
                f"{report['path']}: {report['format'] or 'unknown format'}, "
                f"{len(report['trajectories'])} trajectories"
                + (f"; left out: {left_out}" if left_out else "")
                + (f"; refused: {report['error']}" if report["error"] else "")
            )
            for counts in report["trajectories"]:
                words = ", ".join(f"{k} {v}" for k, v in counts.items() if v not in (None, ""))
                self.stdout.write(f"  {words}")
