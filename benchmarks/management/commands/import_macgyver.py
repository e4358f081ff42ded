"""Import MacGyver problems with their recorded answers."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.services.datasets import save_dataset
from benchmarks.systems.adaplanbench.macgyver.build import SEED, build_task, dataset_checksum
from benchmarks.systems.adaplanbench.macgyver.policies import ROLES
from benchmarks.systems.adaplanbench.macgyver.reader import check_files, read_riddles


class Command(BaseCommand):
    """``import_macgyver PROBLEMS.xlsx RESULTS.json``: checked as a whole, stored as a whole."""

    help = "Turn MacGyver problems and recorded answers into tasks, profiles and pools of plans."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("problems", type=Path, help="problem_solution_pair.xlsx")
        parser.add_argument("results", type=Path, help="benchmark_results.json")
        parser.add_argument("--name", default="MacGyver", help="name of the dataset")
        parser.add_argument("--seed", type=int, default=SEED, help="chance in choosing constraints")

    def handle(self, *args: Any, **options: Any) -> None:
        problems, results, seed = options["problems"], options["results"], options["seed"]
        try:
            checked = check_files(problems, results)
            saved = save_dataset(
                system="adaplanbench",
                name=options["name"],
                version="",
                source=f"{problems.name}, {results.name} (MacGyver, Tian et al.)",
                licence="Apache-2.0",
                checksum=dataset_checksum(checked.checksum, seed),
                tasks=(
                    build_task(riddle, rows, seed)
                    for riddle, rows in read_riddles(problems, results)
                ),
                roles=ROLES,
                notes=f"{checked.problems} problems, {checked.answers} recorded answers, "
                f"{checked.without_verdict} of them without a verdict; "
                f"{checked.without_answers} problems without answers. Constraints derived from "
                f"the tools that problems and answers name, seed {seed}.",
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        if not saved.created:
            self.stdout.write(f"already imported as {saved.dataset}, nothing added")
            return
        self.stdout.write(
            f"{saved.dataset}: {saved.tasks} tasks from {checked.answers} recorded answers"
        )
