"""Read plans from YAML and write them back; every problem names its path.

docs/making-studies.md describes the format. Reading checks only the file; `plan_study` checks that
its runs, people and items exist.
"""

from collections.abc import Iterator
from typing import Any

import yaml

from annotation.plans.study_plan import PlanError, PlanProblem, StudyPlan
from benchmarks.core.problems import FileRefused, describe
from benchmarks.core.schemas import Checked
from benchmarks.core.yaml_files import Path, read_yaml

MOST_PROBLEMS = 50
PLANS = Checked[StudyPlan](StudyPlan)


def read_plan(text: str) -> StudyPlan:
    """Return a plan from YAML; PlanError with every problem of its form at once, each with its
    line.
    """
    try:
        document = read_yaml(text)
    except FileRefused as refused:
        raise PlanError(
            PlanProblem(fault.where, f"expected {fault.expected}, found {fault.found}")
            for fault in refused.problems
        ) from None
    try:
        return read_document(document.value)
    except PlanError as error:
        lines = {_written(path): line for path, line in document.lines.items()}
        raise PlanError(
            problem._replace(line=lines.get(problem.path)) for problem in error.problems
        ) from None


def _written(path: Path) -> str:
    """Return a path as problems name it, such as ``training[1].task``."""
    words = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return words.removeprefix(".")


def read_document(data: Any) -> StudyPlan:
    """Return a plan from what YAML or JSON hold."""
    problems: list[PlanProblem] = []
    plan = PLANS.read(data, lambda path, *fault: problems.append(_problem(_written(path), *fault)))
    if plan is None:
        raise PlanError(problems[:MOST_PROBLEMS])
    return plan


def form_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    """Yield what the file of a plan would be refused for, for plans that pages make."""
    for path, *fault in PLANS.faults(plan_document(plan)):
        yield _problem(_written(path), *fault)


def _problem(path: str, expected: str, found: Any) -> PlanProblem:
    return PlanProblem(path, f"expected {expected}, found {describe(found)}")


def plan_document(plan: StudyPlan) -> dict[str, Any]:
    """Return a plan in the form of its file; what is as usual is left out."""
    document = PLANS.write(plan)
    # Said always: whoever reads the file shall not have to know what is usual.
    return {**document, "raters": plan.raters, "order": plan.order, "seed": plan.seed}


def write_plan(plan: StudyPlan) -> str:
    """Return a plan as YAML that `read_plan` takes."""
    return yaml.safe_dump(plan_document(plan), sort_keys=False, allow_unicode=True, width=100)
