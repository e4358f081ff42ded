"""Tests that every result of a background job can be pickled, and written as JSON without NaN."""

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from analysis.stats.comparison.condition_effects import condition_effects
from analysis.stats.comparison.model_comparisons import compare_models
from analysis.stats.comparison.refinement import refinement_curves
from analysis.stats.comparison.thresholds import threshold_stability
from analysis.stats.judges.dispersion import judge_means, leave_one_judge_out
from analysis.stats.judges.panels import judge_panel
from analysis.stats.results import as_json
from analysis.stats.text_groups import group_texts
from analysis.stats.trends.matched_turns import matched_turns
from analysis.stats.trends.slopes import slope_models

MODELS = ["a"] * 4 + ["b"] * 4
TASKS = [1, 2, 3, 4] * 2
VALUES = [1, 0, 1, None, 0, 0, 1, 1]
TURNS = (["a"] * 6, ["d"] * 6, [1, 1, 1, 2, 2, 3], [1, 2, 3, 1, 2, 1], [5, 4, 3.5, 4, 3, None])
TEXTS = ["burning oven flame", "missing hammer wrench"] * 6
# Each with data and without: what is undefined must be kept as well.
JOBS: dict[str, Callable[[int], Any]] = {
    "models": lambda _: compare_models(MODELS, TASKS, VALUES, measure="accuracy"),
    "no models": lambda _: compare_models([], [], [], measure="accuracy"),
    "conditions": lambda _: condition_effects(
        MODELS, ["off", "on"] * 4, TASKS, VALUES, measure="x", order=("off", "on")
    ),
    "no conditions": lambda _: condition_effects([], [], [], [], measure="x", order=("off", "on")),
    "stability": lambda seed: threshold_stability(
        MODELS, TASKS, VALUES, [[3 + i / 3] for i in range(8)], seed=seed
    ),
    "no stability": lambda seed: threshold_stability([], [], [], [], seed=seed),
    "refinement": lambda seed: refinement_curves(
        ["a", "b"], [1, 2], [[(True, False), (False, None)], [(True, True)]]
    ),
    "panel": lambda _: judge_panel(
        TASKS, MODELS, [4, 5, None, 2, 3, 5, 1, 2], threshold=3.5, people={1: 4}
    ),
    "leave one out": lambda _: leave_one_judge_out(
        judge_means(MODELS, ["d"] * 8, ["x", "y"] * 4, VALUES)
    ),
    "slopes": lambda _: slope_models(*TURNS),
    "no slopes": lambda _: slope_models(["a"], ["d"], [1], [1], [None]),
    "matched": lambda _: matched_turns(*TURNS),
    "texts": lambda seed: group_texts(range(12), TEXTS, ["a", "b"] * 6, ["k"] * 12, seed=seed),
    "no texts": lambda seed: group_texts([], [], [], [], seed=seed),
}


@pytest.mark.parametrize("name", JOBS)
def test_results_can_be_kept_and_repeated(name: str) -> None:
    result = JOBS[name](7)
    assert pickle.loads(pickle.dumps(result)) == result == JOBS[name](7)
    written = json.dumps(as_json(result), allow_nan=False)
    assert json.loads(written) == as_json(pickle.loads(pickle.dumps(result)))
