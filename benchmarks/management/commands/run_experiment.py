"""Run an experiment from the terminal: a matrix of runs that a YAML file describes."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.experiments.checks import read_checked
from benchmarks.experiments.control import resume_experiment
from benchmarks.experiments.plans import ExperimentPlan, plan_design
from benchmarks.experiments.selectors import experiment_results, experiment_runs
from benchmarks.experiments.services import make_experiment, make_missing
from benchmarks.models import Experiment
from benchmarks.runs.command_line import carry_run, refuse_failed


class Command(BaseCommand):
    help = (
        "Run an experiment from a design (docs/experiments.md). Workers carry it, or this command."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="the design, in YAML")
        parser.add_argument("--resume", type=int, metavar="ID", help="continue this experiment")
        parser.add_argument("--plan", action="store_true", help="only count runs, calls and cost")
        parser.add_argument(
            "--take", action="store_true", help="use existing runs that agree with the design"
        )
        parser.add_argument(
            "--wait", action="store_true", help="carry the runs here, instead of by workers"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if (options["file"] is None) == (options["resume"] is None):
            raise CommandError("name a design, or --resume and the number of an experiment")
        try:
            if options["resume"] is not None:
                experiment = self._resume(options["resume"])
            else:
                plan = plan_design(read_checked(_text(options["file"])))
                if options["plan"]:
                    return self._tell_plan(plan, options["as_json"])
                experiment = make_experiment(
                    plan=plan, take=options["take"], wake=not options["wait"], at_once=True
                )
            if options["wait"]:
                for run in experiment_runs(experiment):
                    carry_run(run)
        except CoreError as error:
            raise CommandError(str(error)) from None
        self._tell(experiment, options["as_json"])
        if options["wait"]:
            refuse_failed(experiment_runs(experiment))

    def _resume(self, pk: int) -> Experiment:
        experiment = Experiment.objects.filter(pk=pk).first()
        if experiment is None:
            raise CommandError(f"there is no experiment {pk}")
        resume_experiment(experiment=experiment)
        if experiment.design:
            make_missing(experiment=experiment)
        return experiment

    def _tell_plan(self, plan: ExperimentPlan, as_json: bool) -> None:
        cost, calls = plan.cost(plan.cells), plan.calls(plan.cells)
        counts = {
            "runs": len(plan.cells),
            "there": len(plan.there),
            "duplicates": plan.duplicates,
            "trajectories": plan.trajectories,
            "new_trajectories": plan.new_trajectories,
            "calls": calls,
            "cost": cost.amount if cost else None,
            "currency": cost.currency if cost else None,
        }
        if as_json:
            self.stdout.write(json.dumps(counts, indent=2))
            return
        self.stdout.write(
            f"{counts['runs']} runs with {plan.trajectories:,} trajectories; "
            f"{counts['there']} of the runs exist already"
        )
        self.stdout.write("calls: " + (f"about {calls:,}" if calls else "not known yet"))
        if plan.paid:
            cost_text = f"about {cost.amount:.2f} {cost.currency}" if cost else "not known yet"
            self.stdout.write(f"cost: {cost_text}")

    def _tell(self, experiment: Experiment, as_json: bool) -> None:
        results = experiment_results(experiment)
        if as_json:
            self.stdout.write(json.dumps(results, indent=2, ensure_ascii=False))
            return
        self.stdout.write(f"experiment {experiment.pk}: {experiment.name}")
        for group in results["groups"]:
            who = [group["agent"]]
            if group["temperature"] is not None:
                who.append(f"temperature {group['temperature']:g}")
            who += [group["level"], group["condition"]]
            statuses = ", ".join(f"{run['run']} {run['status']}" for run in group["runs"])
            self.stdout.write(f"{' · '.join(filter(None, who))}: runs {statuses}")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None
