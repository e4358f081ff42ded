"""The alternative annotator test: by hand, its rules, and what makes it unavailable."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from analysis.stats.alt_family import NEAR_START, adjust_together
from analysis.stats.alt_test import alt_test, worse_by

rng = np.random.default_rng(5)
TRUTH = rng.integers(1, 6, 60)


def raters(count: int, wrong: float = 0.4) -> np.ndarray:
    noise = rng.integers(-1, 2, (TRUTH.size, count)) * (rng.random((TRUTH.size, count)) < wrong)
    return np.clip(TRUTH[:, None] + noise, 1, 5).astype(float)


PEOPLE = raters(4)


def test_wins_by_hand() -> None:
    # Thirty times: people 2, 2, 4, judge 2. Without the third the others are (2, 2): judge 0 away,
    # person 2. Without the first they are (2, 4): both √2 away, a tie that counts for both.
    result = alt_test(np.tile([2, 2, 4], (30, 1)), np.full(30, 2), epsilon=0.1, seed=1)
    assert [a.advantage for a in result.annotators] == [1, 1, 1]
    assert [a.person for a in result.annotators] == [1, 1, 0]
    # All differences are equal: 0 for the ties, below ε, and −1.
    assert [a.p for a in result.annotators] == [0, 0, 0]
    assert result.passed and result.winning_rate.value == 1 and result.advantage.value == 1


def test_equal_differences_have_no_standard_error() -> None:
    for d, p in ((0, 0), (0.1, 1), (1, 1), (-1, 0)):
        assert worse_by([d] * 30, 0.1) == p


def test_the_t_test_and_its_clusters() -> None:
    d = rng.integers(-1, 2, 60)
    plain = ttest_1samp(d, 0.1, alternative="less").pvalue
    assert worse_by(d, 0.1) == pytest.approx(plain)
    assert worse_by(d, 0.1, clusters=list(range(60))) == pytest.approx(plain)
    # Each difference four times over is no new evidence once tasks are known.
    fourfold, tasks = np.repeat(d, 4), np.repeat(np.arange(60), 4).tolist()
    assert worse_by(fourfold, 0.1, clusters=tasks) == pytest.approx(plain)
    assert abs(worse_by(fourfold, 0.1) - 0.5) > abs(plain - 0.5)
    assert worse_by([0, 1], 0.1, clusters=["t", "t"]) == 1


def test_the_order_of_people_and_items_does_not_matter() -> None:
    judge, order = raters(1)[:, 0], rng.permutation(60)
    one = alt_test(PEOPLE, judge, epsilon=0.2, seed=1)
    other = alt_test(PEOPLE[order][:, ::-1], judge[order], epsilon=0.2, seed=1)
    assert one.winning_rate == other.winning_rate and one.passed == other.passed
    assert one.advantage.value == pytest.approx(other.advantage.value)
    for a, b in zip(one.annotators, other.annotators[::-1], strict=True):
        assert a.p == pytest.approx(b.p)
    # A person who scored nothing, an item that one person scored: nothing changes but the count.
    wider = np.column_stack([PEOPLE, np.full(60, np.nan)])
    wider = np.vstack([wider, [4, *[np.nan] * 4]])
    more = alt_test(wider, [*judge, 4], epsilon=0.2, seed=1)
    assert [a.p for a in more.annotators] == pytest.approx([a.p for a in one.annotators])
    assert more.left_out == {"person 5": 0}


def test_a_good_judge_passes_and_noise_does_not() -> None:
    assert alt_test(PEOPLE, TRUTH, epsilon=0.2, seed=1).passed is True
    noise = rng.integers(1, 6, TRUTH.size)
    bad = alt_test(PEOPLE, noise, epsilon=0.2, seed=1)
    assert bad.passed is False and bad.winning_rate.value == 0
    assert bad.advantage.interval is not None and bad.advantage.interval.high < 0.6


@pytest.mark.parametrize("columns", [0, 1, 2])
def test_fewer_than_three_people_is_not_available(columns: int) -> None:
    result = alt_test(PEOPLE[:, :columns], TRUTH, epsilon=0.2, seed=1)
    assert result.passed is None
    assert "3 are needed" in result.winning_rate.undefined
    assert result.advantage.value is None and result.annotators == ()


def test_people_with_few_items_are_left_out() -> None:
    people = PEOPLE.copy()
    people[29:, 0] = np.nan
    result = alt_test(people, TRUTH, epsilon=0.2, names=["a", "b", "c", "d"], seed=1)
    assert result.left_out == {"a": 29}
    assert [a.annotator for a in result.annotators] == ["b", "c", "d"]
    people[29:, 1] = np.nan
    assert alt_test(people, TRUTH, epsilon=0.2, seed=1).passed is None


def test_judges_screened_together_are_one_family() -> None:
    tests = [alt_test(PEOPLE, raters(1)[:, 0], epsilon=0.2, label=str(n), seed=1) for n in range(5)]
    together = adjust_together(tests, statement="five judges")
    for one, other in zip(tests, together, strict=True):
        assert (one.tests, other.tests) == (4, 20) and other.family == "five judges"
        for a, b in zip(one.annotators, other.annotators, strict=True):
            assert a.p == b.p and b.won == (b.adjusted <= 0.05)
        assert other.winning_rate.value == sum(a.won for a in other.annotators) / 4
        assert sum(w.startswith(NEAR_START) for w in other.warnings) <= 1
    nothing = alt_test(PEOPLE[:, :2], TRUTH, epsilon=0.2, seed=1)
    assert adjust_together([nothing], statement="none")[0] == nothing


def test_one_person_who_decides_it_is_told() -> None:
    # Two of four people against whom the judge wins: one fewer and it would not pass.
    result = alt_test(PEOPLE, TRUTH, epsilon=0.2, seed=1)
    halves = [0.0, 0.0, 1.0, 1.0]
    some = tuple(replace(a, p=p) for a, p in zip(result.annotators, halves, strict=True))
    (found,) = adjust_together([replace(result, annotators=some)], statement="one judge")
    assert found.passed and found.winning_rate.value == 0.5
    assert any(w.startswith(NEAR_START) for w in found.warnings)


@pytest.mark.parametrize("options", [{"epsilon": 20}, {"epsilon": 0.1, "q": 5}])
def test_fractions_are_asked_for(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="fraction"):
        alt_test(PEOPLE, TRUTH, seed=1, **options)  # type: ignore[arg-type]
