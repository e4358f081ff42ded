"""Branch from a trajectory, from the terminal."""

import json
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from benchmarks.branches.requests import BranchRequest, start_branches
from benchmarks.core.errors import CoreError
from benchmarks.models import Branch
from benchmarks.request_fields import add_options, read_options
from benchmarks.runs.command_line import carry_run
from benchmarks.trajectories.selectors import with_page_relations

OPTIONS = {
    "turn": "--turn", "text": "--text", "role": "--role", "seat": "--seat",
    "replays": "--replays", "compare": "--compare", "roles": "--fill", "seed": "--seed",
    "cost_cap": "--cost-cap",
}  # fmt: skip


class Command(BaseCommand):
    help = (
        "Say something else at a turn of a trajectory and play on from there. Without --turn, "
        "every turn is asked again, to see which one decided a failure. The trajectory stays as it "
        "is."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("trajectory", type=int, help="the number of the trajectory")
        add_options(parser, BranchRequest, OPTIONS)
        parser.add_argument("--file", type=Path, help="read the other answer from this file")
        parser.add_argument(
            "--as", dest="user", required=True, metavar="NAME", help="who wrote the other answer"
        )
        parser.add_argument(
            "--wait", action="store_true", help="carry the branches here, instead of by workers"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"] is not None:
            try:
                options["text"] = options["file"].read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"cannot read {options['file']}: {error}") from None
        wanted = read_options(BranchRequest, OPTIONS, options)
        trajectory = with_page_relations().filter(pk=options["trajectory"]).first()
        if trajectory is None:
            raise CommandError(f"there is no trajectory {options['trajectory']}")
        by = User.objects.filter(username=options["user"], is_active=True).first()
        if by is None:
            raise CommandError(f"there is no account {options['user']!r}")
        try:
            run = start_branches(wanted, trajectory=trajectory, by=by)
        except CoreError as error:
            raise CommandError(str(error)) from None
        if options["wait"]:
            carry_run(run)
        rows = Branch.objects.filter(trajectory__run=run).select_related("trajectory")
        if options["as_json"]:
            names = (
                "trajectory_id",
                "turn",
                "arm",
                "trajectory__status",
                "trajectory__termination",
            )
            self.stdout.write(json.dumps({"run": run.pk, "branches": list(rows.values(*names))}))
            return
        self.stdout.write(f"{run}: {rows.count()} branches of {trajectory}")
        ends = Counter(
            (row.turn, row.get_arm_display(), row.trajectory.termination or row.trajectory.status)
            for row in rows
        )
        for (turn, arm, end), count in sorted(ends.items()):
            self.stdout.write(f"  turn {turn}, {arm.lower()}: {count} × {end}")
