import pickle

import pytest

from analysis.stats.model_comparisons import compare_models
from analysis.stats.multiplicity import NOT_TESTED

# Ten tasks: a solves nine of them, b three, c the same three; d has none of them.
TASKS = list(range(10))
ROWS = (
    [("a", t, t != 9) for t in TASKS]
    + [("b", t, t < 3) for t in TASKS]
    + [("c", t, t < 3) for t in TASKS]
    + [("d", 99, True)]
)


def test_all_pairs_and_their_family() -> None:
    models, tasks, values = zip(*ROWS, strict=True)
    found = compare_models(models, tasks, values, measure="accuracy", seed=1)
    assert found.family.statement == "all 6 pairs of 4 models on accuracy"
    # Three pairs with d share no task: not tested, and the family is three.
    assert found.family.size == 3 and found.family.excluded == {NOT_TESTED: 3}
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    ab = pairs["a", "b"]
    # Six wins to none: 2/2^6; Holm over 3 tests.
    assert ab.comparison.p_value == pytest.approx(2 / 64)
    assert ab.p_adjusted == pytest.approx(6 / 64) and ab.clear is False
    assert pairs["b", "c"].comparison.p_value == 1 and pairs["b", "c"].clear is False
    assert pairs["a", "d"].p_adjusted is None and pairs["a", "d"].clear is None
    assert found.family[ab.name].adjusted == ab.p_adjusted
    assert pickle.loads(pickle.dumps(found)) == found


def test_against_one_model_the_family_is_smaller() -> None:
    models, tasks, values = zip(*ROWS[:30], strict=True)
    found = compare_models(models, tasks, values, measure="accuracy", against="a", seed=1)
    assert [(pair.first, pair.second) for pair in found.pairs] == [("b", "a"), ("c", "a")]
    assert found.family.statement == "2 models against a on accuracy"
    assert found.pairs[0].p_adjusted == pytest.approx(4 / 64)
    assert found.pairs[0].comparison.losses == 6
    with pytest.raises(ValueError, match="no model 'x'"):
        compare_models(models, tasks, values, measure="accuracy", against="x", seed=1)
