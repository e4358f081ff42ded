"""Agreement so far, from rows: by hand, against R, and invariances."""

from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats.rater_agreement.alpha import ONE_SCORE
from analysis.stats.rater_agreement.answers import NO_PAIRS
from analysis.stats.rater_agreement.reliability import (
    NO_ORDER,
    Reliability,
    category_agreement,
    reliability,
    reliability_of_counts,
    score_agreement,
    set_agreement,
)

rows = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 5)),
    st.one_of(st.none(), st.integers(1, 5)),
    max_size=24,
).map(lambda table: [(rater, item, score) for (rater, item), score in table.items()])


def values(result: Reliability) -> list[object]:
    """Return what does not depend on the order of items, to 9 digits."""
    found: list[object] = [result.items, result.answers, result.single]
    for estimate in (result.alpha, result.equal, result.within_one):
        found += [estimate.undefined, pytest.approx(estimate.value, abs=1e-9)]
    return found


def scored(*items: str) -> list[tuple[int, int, int]]:
    return [(rater, i, int(s)) for i, item in enumerate(items) for rater, s in enumerate(item)]


def test_scores_by_hand() -> None:
    # The pairs (1, 1), (1, 2), (2, 2): alpha 4/9, worked out in test_reliability; one single.
    result = score_agreement([*scored("11", "12", "22", "5"), ("c", 0, None)], seed=1)
    assert result.alpha.value == pytest.approx(4 / 9)
    assert result.equal.value == pytest.approx(2 / 3)
    assert (result.items, result.answers, result.single) == (3, 6, 1)
    assert result.metric == "ordinal"


def test_categories_by_hand() -> None:
    # Two people on four items: kk, kr, rr, kk. o_kk = 4, o_rr = 2, o_kr = o_rk = 1, n_k = 5,
    # n_r = 3, n = 8. D_o = 2/8, D_e = 2·5·3/(8·7) = 30/56, alpha = 1 − (1/4)(56/30) = 8/15.
    items = ["kk", "kr", "rr", "kk"]
    result = category_agreement(
        [(rater, i, c) for i, item in enumerate(items) for rater, c in enumerate(item)], seed=1
    )
    assert result.alpha.value == pytest.approx(8 / 15)
    assert result.equal.value == pytest.approx(3 / 4)
    assert result.within_one.undefined == NO_ORDER
    assert result.metric == "nominal"


def test_nominal_alpha_of_the_textbook() -> None:
    # Krippendorff 2011, example C, nominal: 0.743.
    units = [
        "111",
        "2223",
        "3333",
        "3333",
        "2222",
        "1234",
        "4444",
        "1121",
        "2222",
        "555",
        "11",
        "3",
    ]
    result = category_agreement(scored(*units), seed=1)
    assert result.alpha.value == pytest.approx(0.743, abs=5e-4)
    assert (result.answers, result.single) == (40, 1)


def test_sets_by_hand() -> None:
    # First item: {x}{x} 1, {x}{x, y} 1/2 twice: mean 2/3, 1/3 equal. Second: two empty sets, 1.
    # Third: {x} and {} have nothing in common, 0. Fourth: one set only.
    marks: list[tuple[Hashable, Hashable, set[str] | None]] = [
        *[("a", 1, {"x"}), ("b", 1, {"x"}), ("c", 1, {"x", "y"})],
        *[("a", 2, set()), ("b", 2, set()), ("c", 2, None)],
        *[("a", 3, {"x"}), ("b", 3, set())],
        ("a", 4, {"x"}),
    ]
    result = set_agreement(marks, clusters={1: "A", 2: "A", 3: "B", 4: "B"}, seed=1)
    assert result.jaccard.value == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert result.equal.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert (result.items, result.answers, result.single) == (3, 7, 1)
    assert result.jaccard.interval is not None
    assert result.jaccard.interval.method == "t by trajectory (CR2)"
    free = set_agreement(marks, seed=1).jaccard.interval
    assert free is not None and free.method == "t by item (CR2)"


def test_nothing_yet() -> None:
    assert score_agreement([], seed=1).alpha.undefined == NO_PAIRS
    assert category_agreement([("a", 1, "keep")], seed=1).alpha.undefined == NO_PAIRS
    assert category_agreement([("a", 1, None)], seed=1).single == 0
    nothing = set_agreement([("a", 1, {"x"})], seed=1)
    assert nothing.jaccard.undefined == NO_PAIRS and nothing.single == 1
    assert category_agreement(scored("11", "11"), seed=1).alpha.undefined == ONE_SCORE


def test_bad_input() -> None:
    for agreement in (score_agreement, category_agreement):
        with pytest.raises(ValueError, match="'a' answers 1 twice"):
            agreement([("a", 1, 2), ("a", 1, 3)], seed=1)
        with pytest.raises(ValueError, match="no task is given for 1"):
            agreement([("a", 1, 2), ("b", 1, 3)], clusters={}, seed=1)
    for bad in (0, 6, 2.5):
        with pytest.raises(ValueError, match="whole numbers from 1 to 5"):
            score_agreement([("a", 1, bad)], seed=1)
    for counts in ([[-1, 2]], [1, 2], [[float("nan"), 1]]):
        with pytest.raises(ValueError, match="counts are 0 or more"):
            reliability_of_counts(counts, seed=1)
    with pytest.raises(ValueError, match="unknown metric"):
        reliability_of_counts([[1, 1]], metric="ratio", seed=1)


@settings(max_examples=30)
@given(rows, st.randoms(use_true_random=False))
def test_order_and_names_of_raters_do_not_matter(ratings, random) -> None:
    raters = list(range(4))
    random.shuffle(raters)
    shuffled = [(raters[rater], item, score) for rater, item, score in ratings]
    random.shuffle(shuffled)
    for agreement in (score_agreement, category_agreement):
        one = agreement(ratings, seed=1, resamples=100)
        assert values(agreement(shuffled, seed=1, resamples=100)) == values(one)


@settings(max_examples=30)
@given(rows)
def test_scales_can_be_turned_round_and_categories_renamed(ratings) -> None:
    turned = [(rater, item, s and 6 - s) for rater, item, s in ratings]
    renamed = [(rater, item, s and "xzyuv"[s - 1]) for rater, item, s in ratings]
    one = score_agreement(ratings, seed=1, resamples=100)
    assert values(score_agreement(turned, seed=1, resamples=100)) == values(one)
    nominal = category_agreement(ratings, seed=1, resamples=100)
    assert values(category_agreement(renamed, seed=1, resamples=100)) == values(nominal)
    # Both metrics read the same pairs.
    assert (nominal.items, nominal.equal.value) == (one.items, one.equal.value)


@settings(max_examples=30)
@given(rows)
def test_rows_are_the_table(ratings) -> None:
    items = list(dict.fromkeys(item for _, item, _ in ratings))
    given_scores = {(rater, item): score for rater, item, score in ratings}
    table = [[given_scores.get((rater, item)) for rater in range(4)] for item in items]
    assert reliability(table, seed=1, resamples=100) == score_agreement(
        ratings, seed=1, resamples=100
    )
