"""Odds ratios by GEE, against statsmodels and by hand."""

from math import log

import numpy as np
import pytest

from analysis.stats.comparison import logit_gee
from analysis.stats.comparison.logit_gee import odds_ratios
from analysis.stats.descriptive.means import t_quantile
from analysis.stats.results import Estimate
from tests.analysis.stats.comparison.logit_gee_reference import CONDITIONS, made_outcomes

# statsmodels 0.15.0, `cov_type="bias_reduced"`; made by `logit_gee_reference`.
REFERENCE = {
    "exchangeable": {
        "beta": [-0.651104607227124, -0.7759537807143501],
        "se": [0.4216067954558455, 0.44554141402389363],
        "correlation": 0.26671731680845656,
    },
    "independence": {
        "beta": [-0.6744502538771953, -0.6933883140087782],
        "se": [0.4219624069001267, 0.4707678524462291],
        "correlation": None,
    },
}


def error_of(ratio: Estimate) -> float:
    """The standard error behind an interval, on the scale of logs."""
    assert ratio.interval is not None
    wide = log(ratio.interval.high) - log(ratio.interval.low)
    return wide / 2 / t_quantile(ratio.interval.details["df"], 0.95)


@pytest.mark.parametrize("structure", ["exchangeable", "independence"])
def test_against_statsmodels(structure: logit_gee.Structure) -> None:
    found = odds_ratios(*made_outcomes(), order=CONDITIONS, structure=structure)
    wanted = REFERENCE[structure]
    ratios = [found.ratios[name] for name in CONDITIONS[1:]]
    assert [log(r.value or 0) for r in ratios] == pytest.approx(wanted["beta"], abs=1e-8)
    assert [error_of(r) for r in ratios] == pytest.approx(wanted["se"], abs=1e-8)
    assert found.correlation == pytest.approx(wanted["correlation"], abs=1e-8)
    # 24 tasks, four coefficients: 20 degrees of freedom.
    assert [r.interval.details for r in ratios if r.interval] == [{"df": 20}] * 2
    assert {r.n for r in ratios} == {24} and found.structure == structure


def test_one_model_without_repetition_is_the_odds_ratio_of_the_table() -> None:
    # 30 of 40 against 20 of 40, each on a task of its own: 3 against 1.
    outcomes = [1] * 30 + [0] * 10 + [1] * 20 + [0] * 20
    conditions = ["a"] * 40 + ["b"] * 40
    found = odds_ratios(outcomes, conditions, ["m"] * 80, range(80), order=["a", "b"])
    assert found.ratios["b"].value == pytest.approx(1 / 3)
    # Woolf's error √(1/30 + 1/10 + 1/20 + 1/20), each group's part times 40/39 (Mancl & DeRouen).
    woolf = (1 / 30 + 1 / 10 + 1 / 20 + 1 / 20) ** 0.5
    assert error_of(found.ratios["b"]) == pytest.approx(woolf * 40 / 39, abs=1e-6)


def test_what_has_no_odds() -> None:
    same = odds_ratios([1, 0, 1, 1], ["a", "a", "b", "b"], ["m"] * 4, [1, 2, 1, 2],
                       order=["a", "b", "c"])  # fmt: skip
    assert same.ratios["b"].undefined == logit_gee.ALL_SAME.format(name="b")
    assert same.ratios["c"].undefined == logit_gee.NO_OUTCOME
    assert same.structure is None
    base = odds_ratios([1, 1, 1, 0], ["a", "a", "b", "b"], ["m"] * 4, [1, 2, 1, 2],
                       order=["a", "b"])  # fmt: skip
    assert base.ratios["b"].undefined == logit_gee.ALL_SAME.format(name="a")
    few = odds_ratios([1, 0, 0, 1], ["a", "a", "b", "b"], ["m"] * 4, [1, 2, 1, 2],
                      order=["a", "b"])  # fmt: skip
    assert few.ratios["b"].undefined == logit_gee.FEW_TASKS.format(tasks=2, columns=2)
    assert odds_ratios([], [], [], [], order=["a"]).ratios == {}
    with pytest.raises(ValueError, match="0 or 1"):
        odds_ratios([0.5], ["a"], ["m"], [1], order=["a"])
    with pytest.raises(ValueError, match="not among"):
        odds_ratios([1], ["z"], ["m"], [1], order=["a"])


def test_models_that_never_fail_and_missing_outcomes_are_left_out_and_counted() -> None:
    outcomes, conditions, models, tasks = made_outcomes()
    alone = odds_ratios(outcomes, conditions, models, tasks, order=CONDITIONS)
    more = odds_ratios(
        [*outcomes, 1, 1, None], [*conditions, "low", "mid", "low"],
        [*models, "eve", "eve", "ada"], [*tasks, 1, 2, 3], order=CONDITIONS,
    )  # fmt: skip
    assert more.ratios["mid"].value == pytest.approx(alone.ratios["mid"].value)
    assert more.ratios["mid"].excluded == {
        "missing value": 1,
        "of a model whose outcomes are all the same": 2,
    }


def test_a_correlation_out_of_range_falls_back_to_independence() -> None:
    # On each task one of two models succeeds, so outcomes of one task correlate with −1.
    rng = np.random.default_rng(3)
    first = rng.integers(0, 2, 40).tolist()
    outcomes = first + [1 - value for value in first]
    conditions = (["a", "b"] * 20) * 2
    models, tasks = ["x"] * 40 + ["y"] * 40, list(range(40)) * 2
    found = odds_ratios(outcomes, conditions, models, tasks, order=["a", "b"])
    assert found.structure == "independence" and found.correlation is None
    assert logit_gee.OUT_OF_RANGE in found.ratios["b"].warnings
    # Under both conditions exactly half of all outcomes are successes, on every task.
    assert found.ratios["b"].value == pytest.approx(1)
    assert found.ratios["b"].no_interval == logit_gee.NO_SCATTER
