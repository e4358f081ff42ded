"""The files from which datasets of AdaPlanBench are made: the published one, and MacGyver's two."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.core.digests import storable
from benchmarks.core.errors import CoreError
from benchmarks.core.ports.importer import Importer, ImportOption, TaskFile, TaskFormat
from benchmarks.core.problems import FileRefused, Problem, Unquoted, describe
from benchmarks.systems.adaplanbench.dataset import check_file, read_about, read_tasks, write_tasks
from benchmarks.systems.adaplanbench.macgyver.build import SEED, build_task, dataset_checksum
from benchmarks.systems.adaplanbench.macgyver.judges import ROLES
from benchmarks.systems.adaplanbench.macgyver.reader import check_files, read_macgyver_problems
from benchmarks.systems.adaplanbench_construction.scripted import failed_criteria

# Judges that say so where they cannot decide: constraints of this file do not say what they are
# about, and the scripted judges would take every plan for valid.
PUBLISHED_ROLES = {"world_judge": ("lexicon-world",), "user_judge": ("lexicon-user",)}


def read_published(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Read the published file.

    Where its tasks came from, how they are labelled, and its licence are taken from the file if it
    says so, as files that were written here do.
    """
    path = _exactly(paths, 1, "one file")[0]
    checked = check_file(path)
    about = {key: storable(text).strip() for key, text in read_about(path).items()}
    origin = "; ".join(filter(None, [about.get("source"), about.get("label")]))
    return TaskFile(
        tasks=read_tasks(path),
        checksum=checked.checksum,
        source=": ".join(filter(None, [path.name, origin])),
        licence=about.get("licence", ""),
        roles=PUBLISHED_ROLES,
        notes=f"{checked.tasks} queries, {checked.profiles} profiles, "
        f"{checked.constraints} constraints; {checked.repeated} stood twice in a list.",
        summary=f", {checked.profiles} profiles, {checked.constraints} constraints",
    )


def read_macgyver(paths: Sequence[Path], options: Mapping[str, Any]) -> TaskFile:
    """Turn MacGyver's problems and recorded answers into tasks, profiles and pools of plans."""
    problems, results = _exactly(paths, 2, "PROBLEMS.xlsx and RESULTS.json")
    seed, kept = options["seed"], " household" if options["household"] else ""
    checked = check_files(problems, results)
    made = [
        build_task(entry, rows, seed) for entry, rows in read_macgyver_problems(problems, results)
    ]
    failed = {task.id: failed_criteria(task.prompt) for task, _ in made} if kept else {}
    left_out = {name: criteria for name, criteria in failed.items() if criteria}
    tasks = [row for row in made if row[0].id not in left_out]
    if not tasks:
        raise CoreError("no problem is a household task")
    contradictory = Counter(
        about.partition(":")[2] for task, _ in tasks for about in task.payload["contradictory"]
    )
    lines = _left_out_lines(len(made), left_out, contradictory)
    return TaskFile(
        tasks=tasks,
        checksum=dataset_checksum(checked.checksum, seed, kept),
        source=f"{problems.name}, {results.name} (MacGyver, Tian et al.)",
        licence="Apache-2.0",
        roles=ROLES,
        notes=f"{checked.problems} problems, {checked.answers} recorded answers, "
        f"{checked.without_verdict} of them without a verdict; "
        f"{checked.without_answers} problems without answers. Constraints derived from "
        f"the tools that problems and answers name, seed {seed}."
        + "".join(f" {line}" for line in lines),
        summary=f" from {checked.answers} recorded answers",
        details=(
            *lines,
            *(
                f"  {name}: {', '.join(criteria)}. {' '.join(criteria.values())}"
                for name, criteria in left_out.items()
            ),
        ),
    )


def _exactly(paths: Sequence[Path], number: int, expected: str) -> Sequence[Path]:
    if len(paths) != number:
        names = ", ".join(path.name for path in paths)
        raise FileRefused([Problem("files", expected, describe(Unquoted(names)))])
    return paths


def _left_out_lines(
    problems: int, left_out: Mapping[str, Mapping[str, str]], contradictory: Counter[str]
) -> list[str]:
    """Say what was left out, and why: problems that are no household tasks, and constraints."""
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


IMPORTER = Importer(
    (
        TaskFormat(
            "macgyver",
            "MacGyver problems with recorded answers",
            "PROBLEMS.xlsx and RESULTS.json",
            "MacGyver",
            read_macgyver,
            lambda paths: any(path.suffix.lower() == ".xlsx" for path in paths),
            (
                ImportOption("seed", SEED, "chance in choosing constraints"),
                ImportOption(
                    "household",
                    False,
                    "leave out problems that are no concrete household tasks, and name each",
                ),
            ),
            uploads=2,
            accept=".xlsx,.json",
        ),
        TaskFormat(
            "published",
            "Published file",
            "adaplanbench_queries.json",
            "AdaPlanBench",
            read_published,
            lambda paths: len(paths) == 1 and paths[0].suffix.lower() in (".json", ""),
            uploads=1,
            accept=".json,application/json",
        ),
    ),
    write=write_tasks,
)
