"""The questions that the product ships: made of its own problems, with a recorded seed.

They are generated when they are first needed, which takes well under a second. The same seed makes
the same questions, so nothing has to be stored beside the problems.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmarks.core.digests import digest
from benchmarks.core.ports.demo import DemoDataset, DemoRuns
from benchmarks.core.ports.importer import TaskFile
from benchmarks.core.types import Json, Task
from benchmarks.systems.acpbench_hard.dataset import row_of, task_file, task_of
from benchmarks.systems.acpbench_hard.generation.files import load_source
from benchmarks.systems.acpbench_hard.generation.new_questions import Source, make_questions
from benchmarks.systems.acpbench_hard.prompts import load_examples
from benchmarks.systems.acpbench_hard.prompts.task_files import BEFORE_ANSWER, BETWEEN, SHARED
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion
from benchmarks.systems.acpbench_hard.scripted import DEMO_AGENTS
from benchmarks.systems.acpbench_hard.settings import BOTH, NL, PDDL
from benchmarks.systems.acpbench_hard.tasks import TASKS

SEED, PER_TASK = 20261123, 12
NAME = "Small worlds demo"
WORLDS = Path(__file__).parent / "worlds"


def shipped(*domains: str) -> Iterator[Source]:
    """Yield the shipped problems, of all domains or of those named."""
    for folder in sorted(path for path in WORLDS.iterdir() if path.is_dir()):
        if (folder / "domain.pddl").is_file() and (not domains or folder.name in domains):
            for problem in sorted(folder.glob("p*.pddl")):
                yield load_source(folder / "domain.pddl", problem)


@cache
def sample_questions() -> tuple[PlanningQuestion, ...]:
    """Return the sample: of each task two questions about each of the shipped domains."""
    questions: list[PlanningQuestion] = []
    # The first two problems of each domain, so that every domain is asked about.
    sources = [source for source in shipped() if source.instance.name in _chosen()]
    for made in make_questions(sources, SEED, PER_TASK):
        questions.append(made.question)
    return tuple(questions)


@cache
def _chosen() -> frozenset[str]:
    names: dict[str, list[str]] = {}
    for source in shipped():
        names.setdefault(source.instance.domain.name, []).append(source.instance.name)
    return frozenset(name for own in names.values() for name in own[1:3])


def sample_file() -> TaskFile:
    """Return the sample as it is stored."""
    questions = sample_questions()
    return task_file(questions, "Written for PlanJury", digest([row_of(one) for one in questions]))


def small_sample() -> list[Task]:
    """Return one question of each task, on which every agent is tried, under either prompt."""
    first = {question.task: question for question in reversed(sample_questions())}
    shared = {SHARED: {form: _prompts(fields) for form, fields in _SHOWN.items()}}
    return [replace(task_of(first[task]), shared=shared) for task in TASKS]


_SHOWN = {
    NL: "{{context}}",
    PDDL: "{{PDDL_domain}} {{PDDL_problem}}",
    BOTH: "{{context}} {{PDDL_domain}} {{PDDL_problem}}",
}


def _prompts(fields: str) -> Json:
    """Return prompts as task files have them, with worked examples of our own."""
    return {
        task: {
            "text": f"{fields} {{{{question}}}}",
            "description": "",
            "between": BETWEEN,
            "before_answer": BEFORE_ANSWER,
            "shots": [
                {
                    **shot,
                    "PDDL_domain": shot["pddl_domain"],
                    "PDDL_problem": shot["pddl_problem"],
                }
                for shot in load_examples()[task]
            ],
            "until": [BETWEEN],
        }
        for task in TASKS
    }


DEMO = (DemoDataset(NAME, sample_file, runs=(DemoRuns("scripted agents", tuple(DEMO_AGENTS)),)),)
