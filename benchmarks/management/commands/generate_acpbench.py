"""Make new questions of ACPBench Hard from a domain and problems in PDDL."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system

SYSTEM = "acpbench_hard"


class Command(BaseCommand):
    """``generate_acpbench DOMAIN PROBLEM… --out FILE``: nothing is written if anything is wrong."""

    requires_system_checks = ()
    help = (
        "Make questions from a domain and problems in PDDL, in the published form. Phrases for the "
        "text are read from text.yaml beside the domain, if it is there."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("domain", type=Path, help="domain in PDDL")
        parser.add_argument("problems", type=Path, nargs="+", help="problems of that domain")
        parser.add_argument("--out", type=Path, required=True, help="file to write (JSON)")
        parser.add_argument("--seed", type=int, default=1, help="seed of all choices (1)")
        parser.add_argument("--per-task", type=int, default=10, help="questions per task (10)")
        parser.add_argument(
            "--task", action="append", default=[], help="only this task; repeatable"
        )
        parser.add_argument("--min-distance", type=int, default=1,
                            help="least length of a shortest plan from a state (1)")  # fmt: skip
        parser.add_argument("--max-distance", type=int, default=1000,
                            help="greatest length of a shortest plan (1000)")  # fmt: skip
        parser.add_argument("--max-applicable", type=int, default=100,
                            help="most applicable actions of a state (100)")  # fmt: skip
        parser.add_argument("--max-states", type=int, default=20_000,
                            help="explore problems of at most so many states (20000)")  # fmt: skip
        parser.add_argument("--nodes", type=int, default=5_000,
                            help="in larger problems, decline a question when one search has "
                            "visited so many states (5000)")  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        if options["per_task"] < 1:
            raise CommandError("--per-task: expected at least 1")
        generate = get_system(SYSTEM).commands["generate_acpbench"]
        names = ("min_distance", "max_distance", "max_applicable")
        try:
            report = generate(
                options["domain"],
                options["problems"],
                options["out"],
                seed=options["seed"],
                per_task=options["per_task"],
                tasks=options["task"],
                difficulty={name: options[name] for name in names},
                most_states=options["max_states"],
                nodes=options["nodes"],
            )
        except CoreError as error:
            raise CommandError(f"nothing written:\n{error}") from None
        except OSError as error:
            raise CommandError(f"nothing written: {options['out']}: {error.strerror}") from None
        for line in report.lines(options["per_task"]):
            self.stdout.write(line)
