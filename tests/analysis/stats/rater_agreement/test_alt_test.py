"""The alternative annotator test: by hand, its rules, and what makes it unavailable."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from analysis.stats.rater_agreement.alt_test import NEAR_START, adjust_together, alt_test, worse_by
from analysis.stats.rater_agreement.alt_verdict import (
    LOW_ALPHA,
    Power,
    StandInVerdict,
    decided,
    power_for,
)
from analysis.stats.rater_agreement.non_inferiority import Answer
from tests.analysis.stats.rater_agreement.simulate_non_inferiority import (
    SHARES,
    agreement_passes,
    alternative_passes,
    tables,
)

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


def skewed(n: int, seed: int, *, sure: float) -> tuple[np.ndarray, np.ndarray]:
    """People of whom ``sure`` give the item's score, which is mostly 4, and others a neighbour."""
    made = np.random.default_rng(seed)
    truth = made.choice([2, 3, 4, 5], n, p=[0.05, 0.1, 0.75, 0.1])
    moved = made.choice([-1, 1], (n, 3)) * (made.random((n, 3)) > sure)
    return np.clip(truth[:, None] + moved, 1, 5).astype(float), truth.astype(float)


def test_a_constant_judge_passes_the_test_and_is_shown_worse() -> None:
    people, _ = skewed(400, 1, sure=0.6)
    result = alt_test(people, np.full(400, 4.0), epsilon=0.2, seed=1)
    # The test itself lets it pass: that is what has to be caught.
    assert result.passed and result.winning_rate.value == 1
    verdict = result.verdict
    assert (verdict.answer, verdict.alternative) == ("worse", "passes") and not verdict.passes
    assert verdict.agreement is not None and verdict.agreement.constant == 4
    # Kappa of a constant is 0, so all of people's agreement is missing.
    assert verdict.agreement.judge.value == pytest.approx(0)
    assert verdict.text.startswith("Shown worse than a person: it always answers 4;")
    # It stays so where all judges are adjusted together.
    (again,) = adjust_together([result], statement="one judge")
    assert again.verdict == verdict


def test_a_judge_as_good_as_the_truth_passes_where_a_constant_passes_too() -> None:
    people, truth = skewed(400, 1, sure=0.6)
    verdict = alt_test(people, truth, epsilon=0.2, seed=1).verdict
    assert verdict.passes and verdict.text.startswith("May stand in for a person: ")
    assert verdict.items_to_decide is None
    # People give the item's score with probability 0.6 each, most of which are 4.
    assert verdict.people_alpha is not None and verdict.people_alpha < LOW_ALPHA
    assert any("ordinal alpha" in caution for caution in verdict.cautions)


def test_both_tests_are_needed_to_pass_and_one_to_fail() -> None:
    people, truth = skewed(400, 1, sure=0.6)
    base = alt_test(people, truth, epsilon=0.2, seed=1).verdict
    constant = alt_test(people, np.full(400, 4.0), epsilon=0.2, seed=1).verdict

    def answer(verdict: StandInVerdict, alternative: Answer) -> Answer:
        return decided(verdict, alternative, winning_rate=0.5, items_to_decide=900).answer

    assert [answer(base, other) for other in ("passes", "undecided", "worse")] == [
        "passes", "undecided", "worse",
    ]  # fmt: skip
    assert {answer(constant, other) for other in ("passes", "undecided", "worse")} == {"worse"}


def test_too_few_items_are_undecided_with_the_number_that_would_decide() -> None:
    people, judge = next(tables("as good as a person", 0.4, 40, people=3, repeats=1))
    result = alt_test(people, judge, epsilon=0.1, seed=1)
    verdict = result.verdict
    assert result.passed is False and verdict.answer == "undecided"
    assert verdict.power is not None and verdict.power.power < 0.5
    assert verdict.items_to_decide == verdict.power.items_needed
    assert f"about {verdict.items_to_decide:,} items would decide it" in verdict.text
    assert "May not" not in verdict.text


def test_a_judge_that_contradicts_people_is_shown_worse_by_both() -> None:
    made = np.random.default_rng(2)
    truth = made.integers(1, 6, 300)
    people = np.clip(truth[:, None] + made.integers(-1, 2, (300, 3)), 1, 5).astype(float)
    result = alt_test(people, 6 - truth, epsilon=0.2, seed=1)
    assert all(person.lost and not person.won for person in result.annotators)
    verdict = result.verdict
    assert verdict.agreement is not None
    assert (verdict.answer, verdict.agreement.answer, verdict.alternative) == ("worse",) * 3


def test_where_people_agree_no_caution_is_left() -> None:
    made = np.random.default_rng(4)
    truth = made.integers(1, 6, 400)
    wrong = made.integers(-1, 2, (400, 3)) * (made.random((400, 3)) < 0.3)
    people = np.clip(truth[:, None] + wrong, 1, 5).astype(float)
    verdict = alt_test(people, truth, epsilon=0.1, seed=1).verdict
    # A fifth of the scores is noise by one point, nothing else: people agree, and both tests are
    # strong enough.
    assert verdict.passes and verdict.cautions == ()


def test_too_few_people_are_no_verdict() -> None:
    verdict = alt_test(PEOPLE[:, :2], TRUTH, epsilon=0.2, seed=1).verdict
    assert verdict.answer == "not_available" and verdict.agreement is None
    assert "3 are needed" in verdict.text and not verdict.passes


def test_people_who_always_agree_leave_nothing_beyond_chance() -> None:
    result = alt_test(np.full((40, 3), 4.0), np.full(40, 4.0), epsilon=0.1, seed=1)
    assert result.passed and result.verdict.answer == "undecided"
    assert "beyond chance is undefined" in result.verdict.text
    assert result.verdict.items_to_decide is None and result.verdict.people_alpha is None


def test_items_of_one_task_make_verdict_and_power_weaker() -> None:
    people, truth = skewed(100, 5, sure=0.6)
    fourfold, tasks = np.repeat(people, 4, axis=0), np.repeat(np.arange(100), 4).tolist()
    alone = alt_test(people, truth, epsilon=0.2, seed=1).verdict
    same = alt_test(fourfold, np.repeat(truth, 4), epsilon=0.2, clusters=tasks, seed=1).verdict
    # Four copies of each item in one task are no more than one: the power is that of 100 items.
    assert alone.power is not None and same.power is not None
    assert same.power.power == pytest.approx(alone.power.power, abs=0.02)
    assert same.power.agreement == pytest.approx(alone.power.agreement, abs=0.02)
    assert same.power.items == 400
    assert alone.agreement is not None and same.agreement is not None
    a, b = alone.agreement.difference.interval, same.agreement.difference.interval
    assert a is not None and b is not None
    assert b.half_width == pytest.approx(a.half_width, rel=1e-6)
    assert same.agreement.design_effect == pytest.approx(4)


def test_power_grows_and_the_number_of_items_gives_it() -> None:
    counts = np.full((3, 3), 100.0)
    shares = [0.05, 0.1, 0.2, 0.4, 0.25]

    def power(factor: float) -> Power:
        return power_for(
            shares, 0.5, counts * factor, items=round(100 * factor), others=3, epsilon=0.1, q=0.05
        )

    now = power(1)
    assert 0.1 < now.power < 0.5 and now.items_needed is not None
    assert power(now.items_needed / 100).power == pytest.approx(0.8, abs=0.01)
    assert now.agreement_items is not None and now.agreement_items < now.items_needed
    assert power(now.agreement_items / 100).agreement == pytest.approx(0.8, abs=0.01)
    assert power(0.3).power < now.power < power(3).power
    assert power(1) == now  # the seed is fixed


def test_power_is_the_share_of_tests_that_pass() -> None:
    # 300 made-up tables of 100 items: three people and a judge who is one of them.
    shares, agrees, passed = np.array(SHARES), 0, 0
    for scores, own in tables("as good as a person", 0.6, 100, people=3, repeats=300):
        if agreement_passes(scores, own):
            agrees += 1
            passed += alternative_passes(scores, own, 0.15)
    power = power_for(
        shares, 0.6, np.full((3, 3), 100.0), items=100, others=3, epsilon=0.15, q=0.05
    )
    # Standard error of the simulated shares: at most sqrt(0.25/300) = 0.029.
    assert power.agreement == pytest.approx(agrees / 300, abs=0.06)
    assert power.power == pytest.approx(passed / 300, abs=0.08)
