"""Print the metrics of a run."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.models import Run
from benchmarks.runs.selectors import run_metrics
from benchmarks.visibility import EVERYTHING


class Command(BaseCommand):
    help = "Print the metrics of a run, each with n and what was left out."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", type=int, help="number of the run")
        parser.add_argument(
            "--every-task", action="store_true",
            help="count tasks, too, that their own reference does not solve",
        )  # fmt: skip
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        runs = EVERYTHING.of(Run.objects.select_related("dataset", "agent", "primary_judging"))
        run = runs.filter(pk=options["run"]).first()
        if run is None:
            known = ", ".join(map(str, runs.values_list("pk", flat=True)[:20])) or "none"
            raise CommandError(f"there is no run {options['run']}; newest runs: {known}")
        metrics = run_metrics(run, every_task=options["every_task"])
        if options["as_json"]:
            self.stdout.write(json.dumps(metrics, indent=2, ensure_ascii=False))
            return
        self.stdout.write(
            f"run {run.pk}: {run.agent} on {run.dataset}, level {run.level or '–'}, "
            f"{run.condition}; {metrics['trajectories']} trajectories"
        )
        if metrics["usable"] is not None:
            usable, checked = metrics["usable"]["usable"], metrics["usable"]["checked"]
            self.stdout.write(f"  {usable} of {checked} tasks usable")
        if metrics["left_out"]:
            self.stdout.write(f"  {metrics['left_out']} trajectories on other tasks are left out")
        for name, metric in metrics["metrics"].items():
            value = "–" if metric["value"] is None else f"{metric['value']:.3f}"
            left_out = sum(metric["excluded"].values())
            self.stdout.write(f"  {name:<18} {value:>8}  n {metric['n']}, left out {left_out}")
        for name, count in sorted(metrics["terminations"].items()):
            self.stdout.write(f"  ended as {name}: {count}")
