"""Construct profiles for problems, and make a dataset of them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.construction.selectors import dataset_name
from benchmarks.construction.services import make_dataset, start_construction
from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset
from benchmarks.models import Run
from benchmarks.request_fields import add_options, read_options
from benchmarks.runs.command_line import carry_run, refuse_failed
from benchmarks.runs.requests import TasksRequest
from benchmarks.visibility import EVERYTHING

OPTIONS = {
    "roles": "--role", "settings": "--set", "tasks": "--task", "cost_cap": "--cost-cap",
    "seed": "--seed",
}  # fmt: skip


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
        parser.add_argument("--rounds", type=int, help="rounds of construction, 1 to 6")
        add_options(parser, TasksRequest, OPTIONS)
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
        wanted = read_options(TasksRequest, OPTIONS, options)
        roles, settings = dict(wanted.roles), dict(wanted.settings)
        if options["rounds"] is not None:
            settings["rounds"] = str(options["rounds"])
        run = start_construction(
            dataset=find_dataset(options["dataset"]),
            planners=roles.pop("planner", ()),
            roles=roles,
            settings=settings,
            seed=wanted.seed,
            tasks=wanted.tasks,
            cost_cap=wanted.cost_cap,
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
