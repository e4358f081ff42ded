"""Problems to construct from: those that ship with the product, and those of MacGyver files.

A problem is a task whose prompt has the original words; ``payload`` holds its ``solution``
in numbered steps, and recorded answers as ``plans`` where there are any.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.core.digests import digest
from benchmarks.core.plans import number_steps
from benchmarks.core.ports.demo import DemoDataset
from benchmarks.core.ports.importer import TaskFile
from benchmarks.core.types import Task
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.macgyver.answers import read_answer
from benchmarks.systems.adaplanbench.macgyver.reader import (
    MacGyverProblem,
    RecordedAnswer,
    read_macgyver_problems,
)

FILE = Path(__file__).parent / "demo_problems.yaml"
# Two that the filter keeps.
SAMPLES = ("kite-in-tree", "stuck-jar")
# More would only make tasks heavy: scripted planners sample a few at a time.
MOST_ANSWERS = 40


@cache
def load_demo_problems() -> tuple[Task, ...]:
    """Return the problems that ship with the product, ordered by id."""
    rows: list[dict[str, Any]] = read_yaml_file(FILE)
    return tuple(_demo_task(row) for row in sorted(rows, key=lambda row: row["id"]))


def _demo_task(row: dict[str, Any]) -> Task:
    payload = {
        "solution": number_steps(row["solution"]),
        "plans": [{"text": number_steps(steps)} for steps in row.get("plans", ())],
    }
    return Task(row["id"], " ".join(row["problem"].split()), row.get("category", ""), payload)


def macgyver_problem(entry: MacGyverProblem, recorded: Sequence[RecordedAnswer]) -> Task | None:
    """Return the problem of an entry of MacGyver; None where its file holds no solution that is a
    plan.
    """
    solution = read_answer(entry.solution)
    if not entry.solvable or solution.kind != "plan":
        return None
    plans: dict[str, dict[str, str]] = {}
    for row in recorded:
        answer = read_answer(row.text)
        if answer.kind == "plan":
            text = number_steps(answer.steps)
            stated = {"author": row.author, "verdict": row.verdict, "text": text}
            plans.setdefault(text, stated)
    payload = {
        "solution": number_steps(solution.steps),
        "plans": list(plans.values())[:MOST_ANSWERS],
        "riddle": entry.id,
        "unconventional": entry.unconventional,
    }
    return Task(f"macgyver-{entry.id}", entry.problem, "", payload)


def macgyver_problems(problems_file: Path, results_file: Path | None) -> Iterator[Task]:
    """Yield the problems of two checked MacGyver files (``macgyver.reader.check_files``)."""
    for entry, recorded in read_macgyver_problems(problems_file, results_file):
        task = macgyver_problem(entry, recorded)
        if task is not None:
            yield task


def _demo_file() -> TaskFile:
    tasks = load_demo_problems()
    return TaskFile(
        [(task, ()) for task in tasks],
        digest([[task.id, task.prompt, task.category, task.payload] for task in tasks]),
        source="Written for PlanJury",
        notes="Problems with a known solution, written for this demo.",
    )


DEMO = (DemoDataset("Household problems", _demo_file),)
