"""Construct profiles for problems, and make a dataset of them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.construction.selectors import dataset_name
from benchmarks.construction.services import make_dataset, start_construction
from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset
from benchmarks.models import Run
from benchmarks.runs.command_line import carry_run, read_pairs, refuse_failed
from benchmarks.visibility import EVERYTHING


class Command(BaseCommand):
    """``construct_dataset PROBLEMS --wait`` or, of a run that was started, ``--run NUMBER``."""

    help = "Construct a dataset from problems. Workers carry the run, or this command with --wait."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "dataset", nargs="?", help="the dataset of problems: id, name, or name@version"
        )
        parser.add_argument(
            "--run", type=int, help="make the dataset of this finished construction"
        )
        parser.add_argument("--name", default="", help="name of the new dataset")
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            metavar="ROLE=NAME[,NAME…]",
            help="who fills a role: the name of a script, endpoint:NAME, or human; all planners "
            "under planner",
        )
        parser.add_argument("--rounds", type=int, help="rounds of construction, 1 to 6")
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE",
            help="a setting of the run; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--task", action="append", default=[], dest="tasks", metavar="ID",
            help="only this problem; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--cost-cap", type=float, metavar="AMOUNT",
            help="pause the run before it costs more, in the currency of its endpoints",
        )  # fmt: skip
        parser.add_argument("--seed", type=int, default=0, help="seed of the run (default 0)")
        parser.add_argument(
            "--wait", action="store_true", help="carry the run here, then make the dataset"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["dataset"] is None) == (options["run"] is None):
            raise CommandError("name a dataset of problems, or a construction with --run")
        try:
            run = self._started(options) if options["run"] is None else self._run(options["run"])
            if options["wait"] or options["run"] is not None:
                self._make(run, options["name"])
            else:
                self.stdout.write(
                    f"run {run.pk} constructs; afterwards: construct_dataset --run {run.pk}"
                )
        except CoreError as error:
            raise CommandError(str(error)) from None

    def _run(self, number: int) -> Run:
        run = EVERYTHING.of(Run.objects.select_related("dataset")).filter(pk=number).first()
        if run is None:
            raise CommandError(f"there is no run {number}")
        return run

    def _started(self, options: dict[str, Any]) -> Run:
        roles = {role: names.split(",") for role, names in read_pairs(options["role"]).items()}
        settings = read_pairs(options["set"])
        if options["rounds"] is not None:
            settings["rounds"] = str(options["rounds"])
        run = start_construction(
            dataset=find_dataset(options["dataset"]),
            planners=roles.pop("planner", ()),
            roles=roles,
            settings=settings,
            seed=options["seed"],
            tasks=options["tasks"],
            cost_cap=options["cost_cap"],
            wake=not options["wait"],
        )
        if options["wait"]:
            carry_run(run)
            refuse_failed([run])
        return run

    def _make(self, run: Run, name: str) -> None:
        made = make_dataset(run=run, name=name or dataset_name(run))
        counts, saved = made.counts, made.saved
        self.stdout.write(
            f"run {run.pk}: {counts.made} of {counts.problems} problems constructed, "
            f"{counts.left_out} left out by the filter, {counts.missing} missing"
        )
        stored = "stored" if saved.created else "was stored already, nothing added"
        self.stdout.write(f"{saved.dataset}: {saved.tasks} tasks, {stored}")
        self.stdout.write(saved.dataset.notes)
