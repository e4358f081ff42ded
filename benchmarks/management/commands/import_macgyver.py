"""Import MacGyver problems with their recorded answers."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmarks.core.errors import CoreError
from benchmarks.datasets.services import save_dataset
from benchmarks.systems.adaplanbench.macgyver.build import SEED, build_task, dataset_checksum
from benchmarks.systems.adaplanbench.macgyver.policies import ROLES
from benchmarks.systems.adaplanbench.macgyver.reader import check_files, read_riddles
from benchmarks.systems.adaplanbench_construction.scripted import failed_criteria


class Command(BaseCommand):
    """``import_macgyver PROBLEMS.xlsx RESULTS.json``: checked as a whole, stored as a whole."""

    help = "Turn MacGyver problems and recorded answers into tasks, profiles and pools of plans."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("problems", type=Path, help="problem_solution_pair.xlsx")
        parser.add_argument("results", type=Path, help="benchmark_results.json")
        parser.add_argument("--name", default="MacGyver", help="name of the dataset")
        parser.add_argument("--seed", type=int, default=SEED, help="chance in choosing constraints")
        parser.add_argument(
            "--household",
            action="store_true",
            help="leave out problems that are no concrete household tasks, and name each",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        problems, results, seed = options["problems"], options["results"], options["seed"]
        kept = " household" if options["household"] else ""
        try:
            checked = check_files(problems, results)
            made = [
                build_task(riddle, rows, seed) for riddle, rows in read_riddles(problems, results)
            ]
            left_out = {task.id: failed_criteria(task.prompt) for task, _ in made} if kept else {}
            left_out = {name: failed for name, failed in left_out.items() if failed}
            tasks = [row for row in made if row[0].id not in left_out]
            if not tasks:
                raise CommandError("nothing imported: no problem is a household task")
            contradictory = Counter(
                about.partition(":")[2]
                for task, _ in tasks
                for about in task.payload["contradictory"]
            )
            summary = _summary(len(made), left_out, contradictory)
            saved = save_dataset(
                system="adaplanbench",
                name=options["name"],
                version="",
                source=f"{problems.name}, {results.name} (MacGyver, Tian et al.)",
                licence="Apache-2.0",
                checksum=dataset_checksum(checked.checksum, seed, kept),
                tasks=tasks,
                roles=ROLES,
                notes=f"{checked.problems} problems, {checked.answers} recorded answers, "
                f"{checked.without_verdict} of them without a verdict; "
                f"{checked.without_answers} problems without answers. Constraints derived from "
                f"the tools that problems and answers name, seed {seed}."
                + "".join(f" {line}" for line in summary),
            )
        except CoreError as error:
            raise CommandError(f"nothing imported:\n{error}") from None
        if not saved.created:
            self.stdout.write(f"already imported as {saved.dataset}, nothing added")
            return
        self.stdout.write(
            f"{saved.dataset}: {saved.tasks} tasks from {checked.answers} recorded answers"
        )
        for line in summary:
            self.stdout.write(line)
        for name, failed in left_out.items():
            self.stdout.write(f"  {name}: {', '.join(failed)}. {' '.join(failed.values())}")


def _summary(
    problems: int, left_out: Mapping[str, Mapping[str, str]], contradictory: Counter[str]
) -> list[str]:
    """What was left out, and why: problems that are no household tasks, and constraints."""
    lines = []
    if left_out:
        failed = Counter(name for criteria in left_out.values() for name in criteria)
        lines.append(
            f"{len(left_out)} of {problems} problems left out as no household tasks "
            f"(by criterion: {_counts(failed)})."
        )
    if contradictory:
        lines.append(
            f"Left out because they contradict what their task needs: {contradictory.total()} "
            f"constraints on {_counts(contradictory)}."
        )
    return lines


def _counts(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counted.most_common())
