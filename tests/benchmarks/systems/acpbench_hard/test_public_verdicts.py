"""Our scores beside those that the reference evaluator gave to the same answers."""

import pytest

from benchmarks.systems.acpbench_hard.scoring import QUIRKS, score
from benchmarks.systems.acpbench_hard.tasks import TASKS
from tests.benchmarks.systems.acpbench_hard.public import question_of, rows


@pytest.mark.parametrize("task", TASKS)
def test_every_reference_score_is_matched(task: str) -> None:
    for row in rows(task):
        verdict = score(question_of(row), row["response_text"])
        assert verdict.reference == row["reference_score"], (row, verdict)
        differs = verdict.corrected != verdict.reference
        assert bool(verdict.quirks) == differs and set(verdict.quirks) <= set(QUIRKS)
        assert (verdict.failure is None) == (verdict.corrected == 1)
