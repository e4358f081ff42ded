"""Start a run from the terminal."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset
from benchmarks.models import Run
from benchmarks.request_fields import add_options, read_options
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.command_line import carry_run, find_agents, refuse_failed
from benchmarks.runs.requests import RunRequest, start_requested
from benchmarks.runs.selectors import run_metrics

REMEDY = (
    "Choose a language model as judge, such as --role rubric_judge=endpoint:NAME, or start anyway "
    "with --accept-undefined."
)
OPTIONS = {
    "agents": "--agent", "levels": "--level", "tasks": "--task", "settings": "--set",
    "roles": "--role", "cost_cap": "--cost-cap", "accept_undefined": "--accept-undefined",
    "seed": "--seed", "name": "--name",
}  # fmt: skip


class Command(BaseCommand):
    help = "Run agents on a dataset. Workers carry the runs, or this command with --wait."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="id, name, or name@version")
        add_options(parser, RunRequest, OPTIONS)
        parser.add_argument(
            "--wait", action="store_true", help="carry the runs here, instead of by workers"
        )
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="print the metrics as JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_scripted_agents()
        wanted = read_options(RunRequest, OPTIONS, options)
        try:
            runs = start_requested(
                wanted,
                dataset=find_dataset(options["dataset"]),
                agents=find_agents(wanted.agents),
                remedy=REMEDY,
                wake=not options["wait"],
            )
        except CoreError as error:
            raise CommandError(str(error)) from None
        if options["wait"]:
            for run in runs:
                carry_run(run)
        if options["as_json"]:
            fresh = Run.objects.select_related("dataset", "agent", "primary_judging")
            ended = fresh.filter(pk__in=[run.pk for run in runs]).order_by("pk")
            rows = [run_metrics(run) for run in ended]
            self.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False))
        for run in () if options["as_json"] else runs:
            run.refresh_from_db()
            self.stdout.write(
                f"run {run.pk}: {run.agent.name} {run.level} {run.get_status_display().lower()}"
            )
        if options["wait"]:
            refuse_failed(runs)
