import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.comparison.model_comparisons import compare_models
from analysis.stats.comparison.multiplicity import NOT_TESTED

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
    found = compare_models(models, tasks, values, measure="accuracy")
    assert found.family.statement == "all 6 pairs of 4 models on accuracy"
    # Three pairs with d share no task: they are not tested, and the family stays.
    assert found.family.size == 6 and found.family.excluded == {NOT_TESTED: 3}
    pairs = {(pair.first, pair.second): pair for pair in found.pairs}
    ab = pairs["a", "b"]
    # Six wins to none: z = √6, p = 0.014306; six pairs.
    assert ab.comparison.p_value == pytest.approx(0.014306, abs=1e-6)
    assert ab.p_adjusted == pytest.approx(0.085836, abs=1e-6) and ab.clear is False
    assert pairs["b", "c"].comparison.p_value == 1 and pairs["b", "c"].clear is False
    assert pairs["a", "d"].p_adjusted is None and pairs["a", "d"].clear is None
    assert found.family[ab.name].adjusted == ab.p_adjusted
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_family_is_that_of_the_chosen_data() -> None:
    models, tasks, values = zip(*ROWS[:20], strict=True)
    (alone,) = compare_models(models, tasks, values, measure="accuracy").pairs
    assert alone.clear is True and "comparisons" not in alone.comparison.difference.interval.details
    (among,) = compare_models(models, tasks, values, measure="accuracy", among=4).pairs
    assert among.p_adjusted == pytest.approx(6 * alone.p_adjusted) and among.clear is False
    with pytest.raises(ValueError, match="2 models are not among 1"):
        compare_models(models, tasks, values, measure="accuracy", among=1)


def test_against_one_model_its_pairs_are_turned() -> None:
    models, tasks, values = zip(*ROWS[:30], strict=True)
    found = compare_models(models, tasks, values, measure="accuracy")
    pairs = found.against("a")
    assert [(pair.first, pair.second) for pair in pairs] == [("b", "a"), ("c", "a")]
    turned, pair = pairs[0].comparison, found.pairs[0].comparison
    assert (turned.wins, turned.losses, turned.first) == (0, 6, 0.3)
    assert turned.difference.interval.low == -pair.difference.interval.high
    assert turned.table.second_only == 6 and pairs[0].clear == found.pairs[0].clear


def test_ranks_are_what_clear_pairs_leave() -> None:
    # Of 40 tasks a solves all, b and c 20 each, d none: a is clearly best, d clearly worst.
    rows = [
        (m, t, t < n) for m, n in (("a", 40), ("b", 20), ("c", 20), ("d", 0)) for t in range(40)
    ]
    rows.append(("e", 99, None))
    found = compare_models(*zip(*rows, strict=True), measure="accuracy")
    ranks = {rank.model: (rank.rank, rank.low, rank.high, rank.n) for rank in found.ranks}
    assert ranks == {
        "a": (1, 1, 1, 40), "b": (2, 2, 3, 40), "c": (2, 2, 3, 40), "d": (4, 4, 4, 40),
        "e": (None, None, None, 0),
    }  # fmt: skip


@settings(max_examples=40)
@given(
    st.lists(st.lists(st.booleans(), min_size=12, max_size=12), min_size=2, max_size=5),
    st.integers(0, 3),
)
def test_simultaneous_intervals_agree_with_corrected_tests(
    outcomes: list[list[bool]], more: int
) -> None:
    rows = [(str(m), t, v) for m, values in enumerate(outcomes) for t, v in enumerate(values)]
    found = compare_models(*zip(*rows, strict=True), measure="accuracy", among=len(outcomes) + more)
    for pair in found.pairs:
        interval = pair.comparison.difference.interval
        assert interval is not None and pair.p_adjusted is not None
        excludes = interval.low > 0 or interval.high < 0
        assert excludes == pair.clear == (pair.p_adjusted < 0.05)
