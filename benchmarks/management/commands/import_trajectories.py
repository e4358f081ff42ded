"""Import trajectories that were made elsewhere."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.problems import SHOWN
from benchmarks.formats.bundles import WRONG_FORMAT
from benchmarks.formats.registry import FORMATS, together
from benchmarks.formats.reports import describe_files
from benchmarks.formats.trajectory import TURNS
from benchmarks.imports.selectors import left_out_files, left_out_lines
from benchmarks.imports.services import import_parts, import_trajectories


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
            "--turns",
            choices=tuple(TURNS),
            default="user",
            help="what begins a turn: a message of the user (default), each step of the agent, or "
            "each plan that it commits",
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
        imports = [
            (file, others, format, name)
            for file, *others in groups
            for format, name in import_parts(file, others, options["format"], options["name"])
        ]
        several = len(imports) > len(groups)
        told: dict[str, None] = {}
        for file, others, format, name in imports:
            title = ", ".join(path.name for path in (file, *others))
            try:
                saved = import_trajectories(
                    path=file,
                    others=others,
                    format=format,
                    name=name,
                    agent=options["agent"],
                    turns_by=options["turns"],
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
            if lines := left_out_lines(saved.runs[0]):
                self.stdout.write(f"{title}: lines or parts left out, by kind: {lines}")
            told.update(dict.fromkeys(left_out_files(saved.runs[0])))
        reasons = [reason for reason in told if not several or WRONG_FORMAT not in reason]
        for reason in reasons[:SHOWN]:
            self.stdout.write(f"left out: {reason}")
        if len(reasons) > SHOWN:
            self.stdout.write(f"left out: {len(reasons) - SHOWN} more files")
        if refused:
            raise CommandError(f"{refused} of {len(imports)} files were not imported")

    def _describe(self, groups: list[list[Path]], options: dict[str, Any]) -> None:
        """Print what each file holds, as JSON or as a line for each file and trajectory."""
        reports = [
            report
            for file, *others in groups
            for report in describe_files(file, others, options["format"], options["agent"])
        ]
        if options["json"]:
            self.stdout.write(json.dumps({"files": reports}, ensure_ascii=False, indent=1))
            return
        for report in reports:
            left_out = ", ".join(f"{kind} {n}" for kind, n in report["left_out"].items())
            self.stdout.write(
                f"{report['path']}: {report['format'] or 'unknown format'}, "
                f"trajectories: {len(report['trajectories'])}"
                + (f"; left out: {left_out}" if left_out else "")
                + (f"; refused: {report['error']}" if report["error"] else "")
            )
            for counts in report["trajectories"]:
                words = ", ".join(f"{k} {v}" for k, v in counts.items() if v not in (None, ""))
                self.stdout.write(f"  {words}")
