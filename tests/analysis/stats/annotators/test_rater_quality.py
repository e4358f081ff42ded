"""Signs of careless answering: each worked by hand."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.annotators.rater_quality import (
    FEW_VALUES,
    NO_GOLD,
    NO_OTHERS,
    NO_SPREAD,
    NO_TIMES,
    gold_accuracy,
    robust_z,
    speeding,
)
from analysis.stats.annotators.straight_lining import NO_ANSWERS, NOT_NUMBERS, straight_lining
from analysis.stats.descriptive.proportions import share

vectors = st.lists(
    st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=3, max_size=3), max_size=8
)


def test_gold_by_hand() -> None:
    # Item 1: right, 1 off, left out (the last has no known answer). Item 2: right, right. Item 3 is
    # no gold. Exactly: 3 of 4; within one point: 4 of 4.
    sheets = [
        ("a", 1, [5, 3, None, 2]),
        ("a", 2, [1, 1, 4, 4]),
        ("a", 3, [1, 1, 1, 1]),
        ("b", 3, [1, 1, 1, 1]),
    ]
    gold = {1: [5, 4, 4, None], 2: [1, 1, None, None]}
    exact = gold_accuracy(sheets, gold)
    assert exact["a"] == share(3, 4, excluded={"missing value": 1})
    assert exact["b"].undefined == NO_GOLD
    assert gold_accuracy(sheets, gold, tolerance=1)["a"].value == 1


def test_gold_of_words_and_sets() -> None:
    sheets = [("a", 1, ["keep", frozenset("xy")]), ("a", 2, ["keep", frozenset("x")])]
    gold = {1: ["keep", frozenset("xy")], 2: ["remove", frozenset("xy")]}
    assert gold_accuracy(sheets, gold, tolerance=1)["a"] == share(2, 4)


def test_tolerance_is_not_missed_by_a_rounding_error() -> None:
    assert gold_accuracy([("a", 1, [3.3])], {1: [3]}, tolerance=0.3)["a"].value == 1


def test_gold_has_the_questions_of_the_sheet() -> None:
    with pytest.raises(ValueError, match="1: 1 answers for 2 gold answers"):
        gold_accuracy([("a", 1, [3])], {1: [3, 4]})


def test_straight_lines_by_hand() -> None:
    # Items with three answers: 1, 2, 4 (item 3 has two, item 5 none). 1 and 2 are equal throughout.
    # Vectors in a row: 444 444 | 44- | 135: longest run 2, over 4 items with any answer. Standard
    # deviations 0, 0 and √(8/3) (1, 3, 5 with mean 3).
    sheets = [
        ("a", 1, [4, 4, 4]),
        ("a", 2, [4, 4, 4]),
        ("a", 3, [4, 4, None]),
        ("a", 4, [1, 3, 5]),
        ("a", 5, [None, None, None]),
    ]
    result = straight_lining(sheets)["a"]
    assert result.equal == share(2, 3, excluded={"fewer than 3 answers": 2})
    assert (result.longest_run.value, result.longest_run.n) == (2, 4)
    assert result.spread.value == pytest.approx((8 / 3) ** 0.5 / 3)
    assert result.spread.n == 3
    assert result.spread_z.undefined == FEW_VALUES.format(n=0, minimum=3)


def test_an_item_without_answers_does_not_interrupt_a_run() -> None:
    sheets = [("a", i, [2, None, 2] if i != 1 else [None] * 3) for i in range(4)]
    assert straight_lining(sheets)["a"].longest_run.value == 3
    # An item answered otherwise does.
    sheets[2] = ("a", 2, [2, 3, 2])
    assert straight_lining(sheets)["a"].longest_run.value == 1


def test_spread_against_the_others() -> None:
    # Standard deviations per item: a 0; b to f have (1, 3) 1, (1, 5) 2, (2, 3) 1/2, (2, 5) 3/2,
    # (1, 4) 3/2. Of a's others the median is 3/2, the deviations 1/2, 1/2, 1, 0, 0 have the median
    # 1/2: z = (0 − 3/2)/(1.4826/2).
    answers = {"a": [3, 3], "b": [1, 3], "c": [1, 5], "d": [2, 3], "e": [2, 5], "f": [1, 4]}
    sheets = [(rater, 1, given) for rater, given in answers.items()]
    result = straight_lining(sheets, questions=2)["a"]
    assert result.spread.value == 0
    assert result.spread_z.value == pytest.approx(-3 / 1.4826)
    assert result.spread_z.n == 5


def test_answers_without_numbers() -> None:
    result = straight_lining([("a", 1, ["keep"] * 3), ("a", 2, [None] * 3)])["a"]
    assert (result.equal.value, result.equal.n) == (1, 1)
    assert result.spread.undefined == NOT_NUMBERS == result.spread_z.undefined
    nothing = straight_lining([("a", 1, [None, None])])["a"]
    assert nothing.longest_run.undefined == NO_ANSWERS
    assert "no item with answers to 3" in nothing.equal.undefined
    assert nothing.spread.value is None


def test_speed_by_hand() -> None:
    # Study: 10, 10, 40, 60, 60, 60, 90, 120; median 60, a third of it 20. Rater a: 10, 10, 40: two
    # of three are faster. Logs: median log 60; deviations |log(t/60)|: log 6 twice, log 1.5 twice,
    # 0 three times, log 2: sorted 0 0 0 log1.5 log1.5 log2 log6 log6, MAD log 1.5.
    # a's median is 10: z = −log 6/(1.4826 log 1.5).
    times = [("a", i, t) for i, t in enumerate([10, 10, 40, None])]
    times += [("b", i, t) for i, t in enumerate([60, 60, 60, 90, 120])]
    result = speeding(times, items=8)
    a = result["a"]
    assert a.fast == share(2, 3, excluded={"missing value": 1})
    assert (a.median, a.study_median) == (10, 60)
    assert a.z.value == pytest.approx(-log(6) / (1.4826 * log(1.5)))
    assert result["b"].fast.value == 0
    assert speeding(times)["a"].z.undefined == FEW_VALUES.format(n=8, minimum=10)


def test_exactly_the_fraction_is_not_fast() -> None:
    # Median 60 of 30, 60, 90; half of it is 30.
    times = [("a", 1, 30), ("b", 1, 60), ("b", 2, 90)]
    assert speeding(times, fraction=0.5)["a"].fast.value == 0
    assert speeding(times, fraction=0.51)["a"].fast.value == 1


def test_no_time_at_all_is_fast() -> None:
    result = speeding([("a", 1, 0), ("b", 1, 60), ("b", 2, 30)], items=3)
    # Logs of 1 (for 0), 30 and 60 s: median log 30, MAD log 2.
    assert result["a"].fast.value == 1
    assert result["a"].z.value == pytest.approx(-log(30) / (1.4826 * log(2)))


def test_nobody_to_compare_with() -> None:
    assert speeding([("a", 1, 10)])["a"].fast.undefined == NO_OTHERS
    result = speeding([("a", 1, None), ("b", 1, 10)])
    assert result["a"].z.undefined == NO_TIMES
    assert result["a"].fast.excluded == {"missing value": 1}
    assert result["b"].fast.undefined == NO_OTHERS


def test_robust_z() -> None:
    # Median 3, deviations 2 1 0 1 2 with median 1.
    assert robust_z(0, [1, 2, 3, 4, 5], minimum=5).value == pytest.approx(-3 / 1.4826)
    assert robust_z(0, [1, 2, 2, 2, 5], minimum=5).undefined == NO_SPREAD
    assert robust_z(0, [], minimum=0).undefined == FEW_VALUES.format(n=0, minimum=1)


def test_bad_input() -> None:
    for sheets in (gold_accuracy, lambda rows, _: straight_lining(rows)):
        with pytest.raises(ValueError, match="'a' answers 1 twice"):
            sheets([("a", 1, [1]), ("a", 1, [2])], {})
    with pytest.raises(ValueError, match="two times for 1"):
        speeding([("a", 1, 5), ("a", 1, 6)])
    with pytest.raises(ValueError, match="-5 seconds"):
        speeding([("a", 1, -5)])
    with pytest.raises(ValueError, match="infinite"):
        speeding([("a", 1, float("inf"))])
    with pytest.raises(ValueError, match="fraction"):
        speeding([], fraction=2)
    with pytest.raises(ValueError, match="at least 2 questions"):
        straight_lining([], questions=1)


@given(vectors, vectors, st.permutations([0, 1, 2]))
def test_order_of_raters_and_of_questions_does_not_matter(one, other, order) -> None:
    rows = [("a", i, v) for i, v in enumerate(one)] + [("b", i, v) for i, v in enumerate(other)]
    mixed = [(rater, item, [v[k] for k in order]) for rater, item, v in rows]
    turned = mixed[len(one) :] + mixed[: len(one)]
    first, second = straight_lining(rows, others=1), straight_lining(turned, others=1)
    for rater, signs in first.items():
        assert second[rater].equal == signs.equal
        assert second[rater].longest_run == signs.longest_run
        assert second[rater].spread.value == pytest.approx(signs.spread.value)
    gold = {0: [1, 2, 3]}
    right = gold_accuracy(rows, gold)
    assert gold_accuracy(turned, {0: [gold[0][k] for k in order]}) == right


@given(st.lists(st.integers(5, 500), min_size=2, max_size=20), st.integers(2, 60))
def test_the_unit_of_time_does_not_matter(seconds: list[int], factor: int) -> None:
    rows = [("ab"[i % 2], i, float(t)) for i, t in enumerate(seconds)]
    slower = [(rater, item, t * factor) for rater, item, t in rows]
    first, second = speeding(rows, items=2, fraction=0.5), speeding(slower, items=2, fraction=0.5)
    for rater, speed in first.items():
        assert second[rater].fast == speed.fast
        assert second[rater].z.value == pytest.approx(speed.z.value)
