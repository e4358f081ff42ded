"""The paper's tables and figures from the terminal: run a preset, write its folder, check it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.reproduction.presets import find_preset, known_presets, preset_design
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.published import PaperPreset
from benchmarks.request_fields import read_pair


class Command(BaseCommand):
    help = (
        "Run a preset of a paper and write its tables and figures, beside the paper's, into a "
        "folder. The same command again continues it (docs/experiments.md)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("preset", nargs="?", help="a preset such as main-table; see --list")
        parser.add_argument("--out", type=Path, metavar="DIR", help="the folder to write")
        parser.add_argument("--list", action="store_true", dest="tell", help="list the presets")
        parser.add_argument(
            "--check", type=Path, metavar="DIR", help="check a folder that this command wrote"
        )
        parser.add_argument("--dataset", help="id, name, or name@version")
        parser.add_argument(
            "--agents", nargs="+", metavar="NAME", help="in place of the preset's agents"
        )
        parser.add_argument(
            "--levels", nargs="+", metavar="LEVEL", help="in place of the preset's levels"
        )
        parser.add_argument("--tasks", type=int, metavar="N", help="only the first N tasks")
        parser.add_argument(
            "--seed", type=int, nargs="+", default=[], help="seeds; several make replicates"
        )
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            metavar="ROLE=NAME[,NAME…]",
            help="who fills another role: the name of a script, endpoint:NAME, or human",
        )
        parser.add_argument(
            "--cost-cap", type=float, metavar="AMOUNT", help="cost cap for all runs together"
        )
        parser.add_argument(
            "--take-existing",
            action="store_true",
            help="use existing runs that agree with the design",
        )
        parser.add_argument(
            "--wait", action="store_true", help="carry the runs here, instead of by workers"
        )
        parser.add_argument(
            "--figures",
            choices=("data", "pictures", "pdf"),
            default="pdf",
            help="figures as data (JSON), as pictures too (SVG, PNG), or as PDF too (default)",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="rename a folder that is in the way to DIR.before-1",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["tell"]:
                self._tell(options)
            elif options["check"] is not None:
                self._check(options["check"])
            elif not options["preset"] or options["out"] is None:
                raise CommandError("name a preset and a folder (--out), or give --list or --check")
            else:
                self._reproduce(find_preset(options["preset"]), options)
        except CoreError as error:
            raise CommandError(str(error)) from None

    def _reproduce(self, preset: PaperPreset, options: dict[str, Any]) -> None:
        from analysis.reproduction import experiment as running
        from analysis.reproduction import folder
        from analysis.reproduction.files import folder_files, missing_lines
        from benchmarks.experiments.selectors import experiment_runs
        from benchmarks.runs.command_line import carry_run, failed_lines
        from benchmarks.validity.selectors import current_certificate
        from benchmarks.validity.services import certify_dataset, dataset_trials, is_certifiable

        design = running.design_of_preset(preset, _changes(preset, options))
        out, force = options["out"], options["force"]
        folder.check_target(out, design.digest, force=force)
        plan = running.plan_preset(design)
        experiment, there = running.begin(
            plan, preset.name, take=options["take_existing"], wake=not options["wait"]
        )
        verb = "continues" if there else "has started"
        self.stdout.write(f"experiment {experiment.pk}, {experiment.name}, {verb}")
        if options["wait"]:
            for run in experiment_runs(experiment):
                if run.status in running.GOING:
                    carry_run(run)
        made = running.reproduction_of(experiment)
        dataset = made.about.runs[0].dataset
        if is_certifiable(dataset) and current_certificate(dataset) is None:
            self.stdout.write(f"certifying {dataset}, for the blind rows of leaderboards")
            certify_dataset(dataset, dataset_trials(dataset))
        files = folder_files(made, figures=options["figures"], person="manage.py reproduce")
        count = folder.write_folder(out, files, design.digest, force=force)
        self.stdout.write(f"{count} files in {out}")
        manifest = folder.read_manifest(out)
        for line in manifest["needs_people"]:
            self.stdout.write(line)
        if lacks := failed_lines(made.about.runs) + missing_lines(manifest):
            raise CommandError("not everything is there:\n" + "\n".join(lacks))

    def _tell(self, options: dict[str, Any]) -> None:
        """List the presets with the runs that each would make here."""
        from analysis.reproduction.experiment import design_of_preset, plan_preset

        for preset in known_presets().values():
            head = f"{preset.name}: {preset.paper}\n  {preset.gives}"
            try:
                plan = plan_preset(design_of_preset(preset, _changes(preset, options)))
            except CoreError as error:
                self.stdout.write(f"{head}\n  cannot be run like this: {error}")
                continue
            self.stdout.write(head)
            calls, cost = plan.calls(plan.cells), plan.cost(plan.cells)
            words = [
                f"{len(plan.cells)} runs with {plan.trajectories:,} trajectories",
                f"about {calls:,} calls" if calls else "calls not known yet",
            ]
            if plan.paid:
                known = f"about {cost.amount:.2f} {cost.currency}" if cost else ""
                words.append(known or "cost not known yet")
            words.append(f"{len(plan.there)} of the runs exist already")
            self.stdout.write(f"  {', '.join(words)}")

    def _check(self, folder: Path) -> None:
        from analysis.reproduction.folder import check_folder

        faults = check_folder(folder)
        if faults:
            raise CommandError(f"{folder} has changed:\n" + "\n".join(faults))
        message = "every file is unchanged, and the metrics are those of the database"
        self.stdout.write(f"{folder}: {message}")


def _changes(preset: PaperPreset, options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the design that the command line changes."""
    pairs = [read_pair("--role", text, several=True) for text in options["role"]]
    roles = {role: tuple(names) for role, names in pairs}
    return {
        "dataset": options["dataset"],
        "agents": tuple(options["agents"] or ()),
        "levels": tuple(options["levels"] or ()),
        "tasks": options["tasks"],
        "seeds": tuple(options["seed"]),
        "roles": {**preset_design(preset).roles, **roles} if roles else None,
        "cost_cap": options["cost_cap"],
    }
