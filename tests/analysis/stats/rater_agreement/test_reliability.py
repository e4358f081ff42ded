"""Agreement of people with each other: worked by hand, by the textbook, and against R."""

import numpy as np
import pytest

from analysis.stats.rater_agreement.alpha import ONE_SCORE
from analysis.stats.rater_agreement.coefficient_intervals import FISHER
from analysis.stats.rater_agreement.reliability import reliability

NONE = None


def test_the_textbook_example() -> None:
    # Krippendorff 2011, example C: four observers, 12 units, 41 values, one unit with a single
    # value; ordinal alpha is printed as 0.815, n = 40 pairable values.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
    items = [list(unit) for unit in zip(*observers, strict=True)]
    result = reliability(items, seed=1)
    assert result.alpha.value == pytest.approx(0.815, abs=5e-4)
    assert (result.items, result.answers, result.single) == (11, 40, 1)


def test_by_hand() -> None:
    # Two people, three items: (1, 1), (1, 2), (2, 2). Each pair counts twice with weight 1:
    # o = [[2, 1], [1, 2]], n_1 = n_2 = 3, n = 6. Only the scores 1 and 2 occur, so
    # δ_12 = (3 + 3) − (3 + 3)/2 = 3 and cancels: alpha = 1 − (2/6)/(2·9/(6·5)) = 1 − (1/3)/(3/5)
    # = 4/9. Two of three items are equal, all lie within one point.
    result = reliability([[1, 1], [1, 2], [2, 2]], seed=1)
    assert result.alpha.value == pytest.approx(4 / 9)
    assert result.alpha.n == 3
    assert result.equal.value == pytest.approx(2 / 3)
    assert result.within_one.value == 1
    assert result.within_one.interval is None


def test_an_item_with_three_answers_weighs_by_its_pairs() -> None:
    # (1, 1, 3): of three pairs one is equal, none lies exactly one point apart.
    # (2, 3): its pair is one point apart. Means over the two items: (1/3 + 0)/2, (1/3 + 1)/2.
    result = reliability([[1, 1, 3], [2, 3, NONE]], seed=1)
    assert result.equal.value == pytest.approx(1 / 6)
    assert result.within_one.value == pytest.approx(2 / 3)


def test_ordinal_distance_counts_what_lies_between() -> None:
    # (1, 5) and (1, 1), (5, 5): scores 2 to 4 never occur, so a step from 1 to 5 is one rank and
    # alpha is that of the nominal example above.
    assert reliability([[1, 1], [1, 5], [5, 5]], seed=1).alpha.value == pytest.approx(4 / 9)


@pytest.mark.parametrize("scores", [[], [[3, NONE], [NONE, 4]], [[NONE, NONE]]])
def test_nobody_answered_the_same_item(scores: list[list[int | None]]) -> None:
    result = reliability(scores, seed=1)
    for estimate in (result.alpha, result.equal, result.within_one):
        assert estimate.value is None
        assert estimate.undefined == "no item was answered by two people"


def test_equal_answers_only_are_no_perfect_agreement() -> None:
    result = reliability([[4, 4], [4, 4]], seed=1)
    assert result.alpha.value is None and result.alpha.undefined == ONE_SCORE
    assert result.equal.value == 1


def test_items_of_one_task_are_drawn_together() -> None:
    rng = np.random.default_rng(3)
    truth = np.repeat(rng.integers(1, 6, 25), 8)
    people = [np.clip(truth + rng.integers(-1, 2, truth.size), 1, 5) for _ in range(2)]
    scores = np.stack(people, axis=1)
    tasks = np.repeat(np.arange(25), 8).tolist()
    free, bound = reliability(scores, seed=1), reliability(scores, seed=1, clusters=tasks)
    assert free.alpha.value == bound.alpha.value
    assert free.alpha.interval is not None and bound.alpha.interval is not None
    assert bound.alpha.interval.half_width > free.alpha.interval.half_width
    assert bound.alpha.interval.method == FISHER.format(unit="task")
    assert bound.alpha.interval.details == {"df": 24, "clusters": 25}
    assert bound.equal.interval is not None
    assert bound.equal.interval.method == "task bootstrap (percentile)"


def test_one_task_gives_no_interval() -> None:
    result = reliability([[1, 2], [4, 4]], seed=1, clusters=["t", "t"])
    assert result.alpha.interval is None and "one task" in result.alpha.no_interval


def test_resamples_with_one_score_only_are_counted() -> None:
    # With chance (2/3)³ a resample lacks the first of three items: (4, 4) three times is undefined.
    result = reliability([[1, 2], [4, 4], [4, 4]], seed=1, resamples=400)
    dropped = next(w for w in result.alpha.warnings if "dropped" in w)
    assert 90 <= int(dropped.split()[0]) <= 148
    assert result.alpha.interval is not None


@pytest.mark.parametrize("scores", [[[0, 1]], [[1, 6]], [[1.5, 2]]])
def test_what_is_no_score_is_refused(scores: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="whole numbers from 1 to 5"):
        reliability(scores, seed=1)
