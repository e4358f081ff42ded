"""Write the training data that runs of the Reflection-DPO builder made."""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system
from benchmarks.core.system import RecordedTrajectory
from benchmarks.core.types import Task
from benchmarks.mappers import core_task, stored_trajectory
from benchmarks.models import Run, Trajectory
from benchmarks.training_rows.selectors import run_reviews
from benchmarks.visibility import EVERYTHING

SYSTEM = "adapt_reflection"


class Command(BaseCommand):
    """``export_reflection RUN [RUN…] --out FOLDER``: rows, side files, and both ablations."""

    help = (
        "Write training data for Reflection-DPO and its ablations: preference rows, rows for "
        "supervised fine-tuning, and a file with the numbers behind each row."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("runs", type=int, nargs="+", metavar="RUN", help="number of a run")
        parser.add_argument("--out", type=Path, required=True, help="the folder to write")
        parser.add_argument("--tau-u", type=float, help="choose a question only above this utility")
        parser.add_argument(
            "--tau-d", type=float, help="choose the teacher's action only below this difference"
        )
        parser.add_argument(
            "--mean", help="mean of the probabilities of tokens: arithmetic or geometric"
        )
        parser.add_argument("--held-out-fold", type=int, metavar="FOLD",
                            help="leave out the personas of this fold")  # fmt: skip
        parser.add_argument("--only-reviewed", action="store_true",
                            help="leave out rows that nobody accepted or edited")  # fmt: skip
        parser.add_argument("--ignore-reviews", action="store_true",
                            help="ignore people's decisions: all rows as proposed")  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        runs = [_find(number) for number in dict.fromkeys(options["runs"])]
        about = {
            "runs": [
                {"run": run.pk, "dataset": str(run.dataset), "seed": run.seed,
                 "student": str(run.agent), "roles": run.roles}
                for run in runs
            ]
        }  # fmt: skip
        names = ("tau_u", "tau_d", "mean", "held_out_fold", "only_reviewed")
        if options["only_reviewed"] and options["ignore_reviews"]:
            raise CommandError("choose --only-reviewed or --ignore-reviews, not both")
        reviews = None if options["ignore_reviews"] else run_reviews(runs)
        export = get_system(SYSTEM).commands["export_reflection"]
        try:
            report = export(
                _stored(runs), options["out"], about, reviews=reviews,
                **{name: options[name] for name in names},
            )  # fmt: skip
        except CoreError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from None
        counts = ", ".join(f"{name} {count}" for name, count in report["rows"].items())
        self.stdout.write(f"{report['trajectories']} trajectories; rows: {counts}")
        reviewed = ", ".join(
            f"{number} {name.replace('_', ' ')}"
            for name, number in report["reviews"].items()
            if name != "only_reviewed"
        )
        self.stdout.write(f"Proposed rows: {reviewed}")
        asked = report["questions"]
        self.stdout.write(
            f"Questions: {asked['chosen']} of {asked['rows']} chosen actions, "
            f"{asked['rejected']} of {asked['rows']} rejected ones"
        )
        if report["warning"]:
            self.stderr.write(self.style.WARNING(report["warning"]))


def _find(number: int) -> Run:
    rows = EVERYTHING.of(Run.objects.select_related("dataset", "agent"))
    run = rows.filter(pk=number).first()
    if run is None:
        raise CommandError(f"there is no run {number}")
    if run.dataset.system != SYSTEM:
        title = get_system(SYSTEM).title
        raise CommandError(f"run {number} is not a run of {title}, so it has no rows")
    return run


def _stored(runs: Sequence[Run]) -> Iterator[tuple[str, Task, RecordedTrajectory]]:
    rows = Trajectory.objects.filter(run__in=runs, status=Trajectory.Status.DONE)
    for row in rows.select_related("task__dataset", "run__dataset").order_by("pk").iterator():
        yield str(row.pk), core_task(row.task, None), stored_trajectory(row)
