"""Score a file of answers to questions of ACPBench Hard."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system

SYSTEM = "acpbench_hard"


class Command(BaseCommand):
    """``score_acpbench ANSWERS --data FOLDER``: both scores of each answer, with reasons."""

    requires_system_checks = ()
    help = "Score answers to ACPBench Hard: what the reference evaluator gives, and what is right."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "answers",
            type=Path,
            help="JSON lines with task, split, question_id and response_text, plain or .gz",
        )
        parser.add_argument(
            "--data", type=Path, required=True, help="folder of the published files, at any depth"
        )
        shown = parser.add_mutually_exclusive_group()
        shown.add_argument("--json", action="store_true", dest="as_json", help="every answer")
        shown.add_argument(
            "--differences",
            action="store_true",
            help="a Markdown table of the answers whose two scores differ, by cause",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        score = get_system(SYSTEM).commands["score_acpbench"]
        try:
            report = score(options["answers"], options["data"])
        except CoreError as error:
            raise CommandError(str(error)) from None
        if options["as_json"]:
            self.stdout.write(json.dumps(report.record(), indent=1, ensure_ascii=False))
            return
        for line in report.differences() if options["differences"] else report.lines():
            self.stdout.write(line)
