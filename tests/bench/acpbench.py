"""CPU cost of scoring answers of ACPBench Hard, beside that of the reference evaluator.

Run by ``make bench``. The answers are the 200 public ones, whose rows say what the reference
evaluator took. Caches are emptied before each answer, and imports do not count. Beside the whole
stand its parts: parsing PDDL, grounding, search. Skipped where the shared data are absent.
"""

import json
import os
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.systems.acpbench_hard.pddl.domain import read_domain
from benchmarks.systems.acpbench_hard.questions import PlanningQuestion, find_files, read_questions
from benchmarks.systems.acpbench_hard.scoring import answer_check, landmarks, score
from benchmarks.systems.acpbench_hard.search.external import OFF, VARIABLE
from benchmarks.systems.acpbench_hard.tasks import TASKS
from tests.bench.storing import machine, tell

# Of the reference's CPU time, the share that scoring may take on the tasks that plan.
SHARE = 0.1
PLANNED = ("just", "areach", "reach", "nexta")
ROUNDS = 5


# The functions of each part, as scoring calls them.
PARTS: dict[str, tuple[tuple[Any, str], ...]] = {
    "parsing": ((answer_check, "read_instance"),),
    "grounding": ((answer_check, "ground"),),
    "search": (
        (answer_check, "Space"),
        (answer_check, "find_plan"),
        (answer_check.Distances, "__init__"),
        (answer_check.Distances, "within"),
        (landmarks, "is_landmark"),
        (landmarks, "relaxed_landmarks"),
    ),
}


def clock(spent: dict[str, float]) -> None:
    """Have every part add its CPU time to ``spent``."""
    for part, functions in PARTS.items():
        for owner, name in functions:
            setattr(owner, name, _timed(getattr(owner, name), part, spent))


def _timed(function: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    def timed(*args: Any, **more: Any) -> Any:
        began = time.process_time()
        try:
            return function(*args, **more)
        finally:
            spent[part] += time.process_time() - began

    return timed


def measure(question: PlanningQuestion, response: str, spent: dict[str, float]) -> dict[str, float]:
    """The CPU time of one answer and of its parts, in the quickest of a few rounds."""
    found = []
    for _ in range(ROUNDS):
        read_domain.cache_clear()
        spent.update(dict.fromkeys(PARTS, 0.0))
        began = time.process_time()
        score(question, response)
        found.append({"whole": time.process_time() - began, **spent})
    return min(found, key=lambda one: one["whole"])


def main() -> None:
    """Print the figures."""
    given = os.environ.get("PLANJURY_SHARED_DATA")
    root = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = root / "acpbench"
    if not folder.exists():
        print("skipped: needs shared data acpbench (set PLANJURY_SHARED_DATA)")
        return
    print(machine())
    # Where the search gave up a planner would be asked, and its time is not ours.
    os.environ[VARIABLE] = OFF
    lines = (folder / "reference_verdicts_public.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    questions = {(one.task, one.question_id): one for one in read_questions(find_files(folder))}
    missed = []
    spent = dict.fromkeys(PARTS, 0.0)
    clock(spent)
    for task in TASKS:
        mine = [row for row in rows if row["task"] == task]
        totals: dict[str, float] = defaultdict(float)
        agree = 0
        for row in mine:
            question = questions[task, int(row["question_id"])]
            verdict = score(question, row["response_text"])
            agree += verdict.reference == row["reference_score"]
            for part, taken in measure(question, row["response_text"], spent).items():
                totals[part] += taken / len(mine) * 1000
        theirs = sum(row["cpu_seconds"] for row in mine) / len(mine) * 1000
        parts = ", ".join(f"{part} {totals[part]:.2f}" for part in PARTS)
        print(
            f"{task}: {totals['whole']:.2f} ms of CPU per answer ({parts}), the reference "
            f"{theirs:.1f} ms, {totals['whole'] / theirs:.1%} of it; {agree} of {len(mine)} "
            "reference scores agree"
        )
        if task in PLANNED and totals["whole"] > SHARE * theirs:
            missed.append(task)
        if agree < len(mine):
            missed.append(f"scores of {task}")
    print(f"budget: {SHARE:.0%} of the reference's time on {', '.join(PLANNED)}")
    tell(missed)


if __name__ == "__main__":
    main()
