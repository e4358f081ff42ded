"""Start a run from the terminal."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.selectors import find_dataset
from benchmarks.models import Run
from benchmarks.roles.judge_fit import refuse_unfit_judges
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.runs.command_line import carry_run, find_agents, read_pairs, refuse_failed
from benchmarks.runs.selectors import run_metrics
from benchmarks.runs.services import start_runs

REMEDY = (
    "Choose a language model as judge, such as --role rubric_judge=endpoint:NAME, or start anyway "
    "with --accept-undefined."
)


class Command(BaseCommand):
    help = "Run agents on a dataset. Workers carry the runs, or this command with --wait."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dataset", help="id, name, or name@version")
        parser.add_argument(
            "--agent", action="append", required=True, dest="agents", metavar="NAME",
            help="an agent; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--level", action="append", default=[], dest="levels", metavar="LEVEL",
            help="a level of the dataset, such as mid; repeatable; default: the first",
        )  # fmt: skip
        parser.add_argument(
            "--task", action="append", default=[], dest="tasks", metavar="ID",
            help="only this task; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE",
            help="a setting of the run; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            metavar="ROLE=NAME[,NAME…]",
            help="who fills another role: the name of a script, endpoint:NAME, or human",
        )
        parser.add_argument(
            "--cost-cap",
            type=float,
            metavar="AMOUNT",
            help="pause a run before it costs more, in the currency of its endpoints",
        )
        parser.add_argument(
            "--accept-undefined",
            action="store_true",
            help="start even if judges cannot read what an agent writes",
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of the runs (default 0)")
        parser.add_argument("--name", default="", help="name of the runs")
        parser.add_argument(
            "--wait", action="store_true", help="carry the runs here, instead of by workers"
        )
        parser.add_argument(
            "--json", action="store_true", dest="as_json", help="print the metrics as JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        ensure_scripted_agents()
        roles = {k: v.split(",") for k, v in read_pairs(options["role"]).items()}
        try:
            wanted: dict[str, Any] = {
                "dataset": find_dataset(options["dataset"]),
                "agents": find_agents(options["agents"]),
                "levels": options["levels"],
                "settings": read_pairs(options["set"]),
                "roles": roles,
            }
            if not options["accept_undefined"]:
                refuse_unfit_judges(remedy=REMEDY, **wanted)
            runs = start_runs(
                **wanted,
                seed=options["seed"],
                tasks=options["tasks"],
                name=options["name"],
                cost_cap=options["cost_cap"],
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
