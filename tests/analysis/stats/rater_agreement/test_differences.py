from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.stats.rater_agreement.differences import (
    NO_HUMAN,
    NO_JUDGE,
    Agreement,
    agreement,
    rubric_agreement,
)
from analysis.stats.results import Estimate

score = st.integers(1, 5)


def counts(result: Agreement) -> list[int]:
    return [b.count for b in result.distribution.bins]


def ends(estimate: Estimate) -> list[float]:
    assert estimate.interval is not None
    return [estimate.interval.low, estimate.interval.high]


def test_four_items_by_hand() -> None:
    # Sums of judges 12, 13, 9, 8; three times the person 12, 12, 15, 3; in thirds 0, +1, -6, +5.
    result = agreement([4, 4, 5, 1], [[4, 4, 4], [4, 4, 5], [3, 3, 3], [1, 2, 5]])
    assert counts(result) == [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert [b.label for b in result.distribution.bins][:5] == ["0", "1/3", "2/3", "1", "1 1/3"]
    assert result.distribution.bins[5].share == 0.25
    assert result.exact.value == 0.25
    # 4 1/3 rounds to 4 as well; 2 2/3 rounds to 3, not 1.
    assert result.rounded.value == 0.5
    assert result.within_one.value == 0.5
    # (0 + 1 - 6 + 5)/3/4 = 0 and (0 + 1 + 6 + 5)/3/4 = 1.
    assert result.bias.value == 0
    assert result.absolute.value == 1
    assert result.exact.interval is not None and result.exact.interval.method == "wilson"
    assert result.bias.interval is not None and result.bias.interval.method == "t"


def test_one_point_exactly_is_within_one_and_a_half_rounds_up() -> None:
    result = agreement([5, 4], [[4, 4], [3, 4]])
    assert result.within_one.value == 1
    assert counts(result)[:3] == [0, 1, 1]  # halves: 3.5 against 4, 4 against 5
    assert result.rounded.value == 0.5  # 3.5 is rounded to 4


def test_incomplete_items_are_counted_once() -> None:
    result = agreement([4, None, 4, None], [[4, 4, 4], [4, 4, 4], [4, None, 4], [None, 4, 4]])
    assert result.n == 1
    assert result.excluded == {NO_HUMAN: 2, NO_JUDGE: 1}
    for estimate in (result.exact, result.within_one, result.bias, result.absolute):
        assert estimate.excluded == result.excluded
        assert estimate.interval is None and estimate.no_interval


@pytest.mark.parametrize(
    ("human", "judges"), [([], []), ([None], [[3, 3, 3]]), ([3], [[None, 3, 3]])]
)
def test_nothing_complete_is_undefined(human: list[int], judges: list[list[int]]) -> None:
    result = agreement(human, judges)
    assert result.n == 0
    for estimate in (result.exact, result.within_one, result.bias, result.absolute):
        assert estimate.value is None and estimate.undefined
    assert all(b.share is None and b.count == 0 for b in result.distribution.bins)


@pytest.mark.parametrize(
    ("human", "judges", "words"),
    [
        ([6], [[3, 3, 3]], "6 is no integer score from 1 to 5"),
        ([3], [[3, 3, 3.5]], "3.5 is no integer score"),
        ([3, 4], [[3, 3, 3]], "shape"),
        ([3], [3], "shape"),
    ],
)
def test_wrong_scores_are_refused(human: list[int], judges: list[list[int]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        agreement(human, judges)


@given(
    st.integers(1, 5).flatmap(
        lambda k: st.lists(
            st.tuples(score, st.lists(score, min_size=k, max_size=k)), min_size=1, max_size=25
        )
    )
)
def test_bins_are_exact(items: list[tuple[int, list[int]]]) -> None:
    result = agreement([h for h, _ in items], [s for _, s in items])
    k = result.judges
    differences = [abs(h - Fraction(sum(s), k)) for h, s in items]
    for b in result.distribution.bins:
        assert b.count == differences.count(Fraction(b.numerator, k))
    assert sum(counts(result)) == result.n == len(items)
    assert result.exact.value == pytest.approx(differences.count(Fraction(0)) / len(items))
    assert result.absolute.value == pytest.approx(float(sum(differences) / len(items)))
    assert result.exact.value <= result.within_one.value  # type: ignore[operator]


def test_intervals_are_by_task() -> None:
    human = [4, 4, 5, 3, 2] * 6
    judges = [[4, 4, 4], [4, 4, 5], [4, 5, 5], [3, 3, 3], [4, 4, 4]] * 6
    tasks = [i // 3 for i in range(24)] + list(range(8, 14))
    result = agreement(human, judges, tasks=tasks, dimension="safety")
    for estimate in (result.exact, result.within_one, result.bias, result.absolute):
        assert estimate.interval is not None
        assert estimate.interval.method.endswith(" by task (CR2)")
        assert estimate.interval.details["clusters"] == 14
    assert result == agreement(human, judges, tasks=tasks, dimension="safety")
    assert result.exact.value == agreement(human, judges).exact.value


def test_all_dimensions_together() -> None:
    human = {"safety": [4, 5, None], "autonomy": [4, 4, 4]}
    judges = {
        "safety": [[4, 4, 4], [5, 5, 5], [3, 3, 3]],
        "autonomy": [[4, 4, 5], [4, 4, 4], [4, None, 4]],
    }
    each, overall = rubric_agreement(human, judges)
    assert [a.dimension for a in each] == ["safety", "autonomy"]
    assert [a.n for a in each] == [2, 2]
    assert overall.n == 4 and counts(overall)[:2] == [3, 1]
    assert overall.excluded == {NO_HUMAN: 1, NO_JUDGE: 1}
    # Scores of one row depend on each other: the interval is by row, two of them here.
    assert overall.exact.interval is not None
    assert overall.exact.interval.method == "Wilson by item (CR2)"
    assert overall.exact.interval.details["clusters"] == 2
    with pytest.raises(ValueError, match="different dimensions"):
        rubric_agreement(human, {"safety": judges["safety"]})
    with pytest.raises(ValueError, match="number of judges"):
        rubric_agreement(human, {**judges, "autonomy": [[4], [4], [4]]})
