"""Have judges look at stored trajectories again, from the terminal."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError, UnknownName
from benchmarks.judging.plans import plan_judging
from benchmarks.judging.selectors import TrajectoryChoice
from benchmarks.judging.services import choose_judging, start_judging
from benchmarks.models import Judging, Run
from benchmarks.runs.command_line import carry_run, read_pairs, refuse_failed
from benchmarks.runs.selectors import run_metrics
from benchmarks.visibility import EVERYTHING


class Command(BaseCommand):
    help = "Re-judge stored trajectories. Existing scores stay, and remain the default."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--run", action="append", type=int, default=[], dest="runs", metavar="RUN",
            help="re-judge the trajectories of this run; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--trajectory", action="append", type=int, default=[], dest="ids", metavar="ID",
            help="re-judge this trajectory; repeatable",
        )  # fmt: skip
        parser.add_argument(
            "--judge",
            action="append",
            default=[],
            dest="judges",
            metavar="NAME",
            help="a rubric judge: the name of a script, endpoint:NAME, or human; repeatable",
        )
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            metavar="ROLE=NAME[,NAME…]",
            help="who judges in another role, such as world_judge",
        )
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE",
            help="a setting of docs/judging.md; repeatable",
        )  # fmt: skip
        parser.add_argument("--name", default="", help="name of the judging")
        parser.add_argument("--seed", type=int, default=0, help="seed of the judging (default 0)")
        parser.add_argument(
            "--cost-cap",
            type=float,
            metavar="AMOUNT",
            help="pause the judging of a run before it costs more",
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
        if not options["runs"] and not options["ids"]:
            raise CommandError(
                "name what to judge by --run or --trajectory, each as often as needed"
            )
        try:
            self._judge(options)
        except CoreError as error:
            raise CommandError(str(error)) from None

    def _judge(self, options: dict[str, Any]) -> None:
        check_runs(options["runs"])
        roles = {k: v.split(",") for k, v in read_pairs(options["role"]).items()}
        if options["judges"]:
            roles["rubric_judge"] = [one for name in options["judges"] for one in name.split(",")]
        chosen = TrajectoryChoice(tuple(options["runs"]), tuple(options["ids"]) or None)
        settings = read_pairs(options["set"])
        plan = plan_judging(chosen=chosen, roles=roles, settings=settings)
        if options["plan"]:
            self._tell(options, plan.as_json())
            return
        runs = start_judging(
            name=options["name"],
            chosen=chosen,
            roles=roles,
            settings=settings,
            seed=options["seed"],
            cost_cap=options["cost_cap"],
            wake=not options["wait"],
        )
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
