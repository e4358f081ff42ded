"""The public questions and the reference evaluator's verdicts on 200 answers to them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.systems.acpbench_hard.questions import PlanningQuestion, find_files, read_questions
from tests.shared_data import shared_data


@cache
def _questions(folder: Path) -> dict[tuple[str, int], PlanningQuestion]:
    return {(q.task, q.question_id): q for q in read_questions(find_files(folder))}


def questions() -> dict[tuple[str, int], PlanningQuestion]:
    """The 320 questions of the development set by task and id."""
    return _questions(shared_data("acpbench", "dev"))


def rows(*tasks: str) -> list[dict[str, Any]]:
    """The answers with their verdicts, of some tasks or of all."""
    path = shared_data("acpbench", "reference_verdicts_public.jsonl")
    every = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in every if not tasks or row["task"] in tasks]


def question_of(row: dict[str, Any]) -> PlanningQuestion:
    return questions()[row["task"], int(row["question_id"])]
