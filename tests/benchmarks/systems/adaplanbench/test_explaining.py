"""Tests of endings in words, also where a later judging differs."""

import pytest

from benchmarks.core.types import Outcome
from benchmarks.systems.adaplanbench.labels import explain

SILENT = "no reply of the world judge could be read"


@pytest.mark.parametrize(
    ("ended", "valid", "words"),
    [
        ("valid_plan", 1.0, "violates no hidden constraint, but a dimension that counts"),
        ("valid_plan", 0.0, "While it was played, the last plan violated no hidden constraint. By "
         "the judging that counts it violates one: not valid."),
        ("valid_plan", None, f"by the judging that counts is undefined: {SILENT}."),
        ("early_stop", 0.0, "without bringing a new one to light. The last plan is not valid."),
        ("early_stop", 1.0, "was not valid then. By the judging that counts it violates none: "
         "valid."),
        ("max_turns", 0.0, "used up. The last plan is not valid."),
        ("max_turns", None, f"was not valid then. Whether it is valid by the judging that counts "
         f"is undefined: {SILENT}."),
    ],
)  # fmt: skip
def test_where_the_last_plan_stands(ended: str, valid: float | None, words: str) -> None:
    undefined = {"valid": SILENT} if valid is None else {}
    outcome = Outcome(ended, {"valid": valid, "accurate": 0.0}, undefined=undefined)
    assert words in explain(outcome, {})


@pytest.mark.parametrize("ended", ["early_stop", "max_turns"])
def test_without_metrics_the_end_says_it(ended: str) -> None:
    assert "The last plan is not valid." in explain(Outcome(ended, {}), {})
