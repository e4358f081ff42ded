"""Have judges look at stored trajectories again, from the terminal."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.judging.plans import plan_judging
from benchmarks.judging.requests import JudgingRequest
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import choose_judging, start_judging
from benchmarks.models import Judging, Run
from benchmarks.request_fields import add_options, read_options
from benchmarks.runs.command_line import carry_run, refuse_failed
from benchmarks.runs.selectors import run_metrics
from benchmarks.visibility import EVERYTHING

OPTIONS = {
    "runs": "--run", "trajectories": "--trajectory", "roles": "--role", "settings": "--set",
    "name": "--name", "seed": "--seed", "cost_cap": "--cost-cap",
}  # fmt: skip


class Command(BaseCommand):
    help = "Re-judge stored trajectories. Existing scores stay, and remain the default."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(parser, JudgingRequest, OPTIONS)
        parser.add_argument(
            "--judge",
            action="append",
            default=[],
            dest="judges",
            metavar="NAME",
            help="a rubric judge: the name of a script, endpoint:NAME, or human; repeatable",
        )
        parser.add_argument("--plan", action="store_true", help="only count calls and cost")
        parser.add_argument(
            "--wait", action="store_true", help="carry the judging here, instead of by workers"
        )
        parser.add_argument(
            "--choose",
            action="store_true",
            help="with --wait: make the new scores the default when done",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["run"] and not options["trajectory"]:
            raise CommandError(
                "name what to judge by --run or --trajectory, each as often as needed"
            )
        try:
            self._judge(options)
        except CoreError as error:
            raise CommandError(str(error)) from None

    def _judge(self, options: dict[str, Any]) -> None:
        if options["judges"]:
            options["role"] = [*options["role"], f"rubric_judge={','.join(options['judges'])}"]
        wanted = read_options(JudgingRequest, OPTIONS, options)
        check_runs(wanted.runs)
        asked: dict[str, Any] = {
            "chosen": TrajectoryChoice(tuple(wanted.runs), tuple(wanted.trajectories) or None),
            **wanted.model_dump(include={"roles", "settings"}),
        }
        plan = plan_judging(**asked)
        if options["plan"]:
            self._tell(options, plan.as_json())
            return
        shared = wanted.model_dump(include={"name", "seed", "cost_cap"})
        runs = start_judging(**asked, **shared, wake=not options["wait"])
        for run in runs if options["wait"] else ():
            carry_run(run)
        for run in runs:
            run.refresh_from_db()
        made = Judging.objects.filter(made_by__in=runs).select_related(
            "run", "made_by__dataset", "made_by__agent", "made_by__primary_judging"
        )
        for judging in made if options["choose"] else ():
            choose_judging(run=judging.run, judging=judging)
        self._tell(options, [judging_facts(judging) for judging in made.order_by("pk")])
        if options["wait"]:
            refuse_failed(runs)

    def _tell(self, options: dict[str, Any], result: Any) -> None:
        if options["as_json"]:
            self.stdout.write(json.dumps(result, indent=2, ensure_ascii=False))
            return
        for row in result if isinstance(result, list) else [result]:
            if "calls" in row:
                self.stdout.write(_in_words(row))
            else:
                states = ", ".join(f"{n} {state}" for state, n in row["status"].items())
                self.stdout.write(
                    f"judging {row['judging_id']} “{row['judging']}” of run {row['judged_run']}: "
                    f"run {row['run']}, {states}"
                )


def check_runs(pks: list[int]) -> None:
    """Refuse runs that are not there."""
    runs = EVERYTHING.of(Run.objects.all())
    there = set(runs.filter(pk__in=pks).values_list("pk", flat=True))
    for pk in pks:
        if pk not in there:
            known = [str(run) for run in runs.values_list("pk", flat=True)[:20]]
            raise UnknownName("run", str(pk), known)


def judging_facts(judging: Judging) -> dict[str, Any]:
    """Return a judging with the metrics that the run has under it."""
    assert judging.made_by is not None
    return {
        **run_metrics(judging.made_by),
        "judging_id": judging.pk,
        "judged_run": judging.run_id,
    }


def _in_words(plan: dict[str, Any]) -> str:
    """Write `JudgingPlan.as_json` as one line."""
    calls = ", ".join(f"{role} {n:,}" for role, n in plan["calls"].items())
    costs = [
        "not known" if cost is None else f"{cost:.2f} {plan['currency']}".rstrip()
        for cost in (plan["likely_cost"], plan["most_cost"])
    ]
    return (
        f"runs {plan['runs']:,}, trajectories {plan['trajectories']:,}, turns {plan['turns']:,}, "
        f"left out {plan['left_out']:,}; calls: {calls}; "
        f"likely cost: {costs[0]}, at most about: {costs[1]}"
    )
