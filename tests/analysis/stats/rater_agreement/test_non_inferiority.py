"""Non-inferiority of judges: kappas by hand, clusters, and who passes in simulations."""

import numpy as np
import pytest

from analysis.stats.rater_agreement.alt_verdict import compared_wins
from analysis.stats.rater_agreement.kappas import cohen_kappa
from analysis.stats.rater_agreement.non_inferiority import (
    ALL_ALIKE,
    NO_WIDTH,
    NonInferiority,
    non_inferiority,
    paired_kappas,
)
from tests.analysis.stats.rater_agreement.simulate_non_inferiority import (
    JUDGES,
    agreement_passes,
    alternative_passes,
    tables,
)

rng = np.random.default_rng(3)
TRUTH = rng.integers(1, 6, 80)
PEOPLE = np.clip(TRUTH[:, None] + rng.integers(-1, 2, (80, 3)), 1, 5).astype(float)
JUDGE = np.clip(TRUTH + rng.integers(-1, 2, 80), 1, 5).astype(float)


def compare(people: np.ndarray, judge: np.ndarray, **options: object) -> NonInferiority:
    _, _, compared = compared_wins(people, judge)
    return non_inferiority(people, judge, compared, range(people.shape[1]), **options)  # type: ignore[arg-type]


def test_kappas_are_cohens_with_the_same_other_people() -> None:
    found = compare(PEOPLE, JUDGE)
    kappas = []
    for columns in ([JUDGE] * 3, PEOPLE.T):
        seen = expected = 0.0
        for j, column in enumerate(columns):
            others = np.delete(PEOPLE, j, axis=1).ravel()
            own = np.repeat(column, 2)
            distance = np.abs(own - others).mean()
            kappa = cohen_kappa(own, others, weights="linear").value
            assert kappa is not None
            seen += distance
            expected += distance / (1 - kappa)
        kappas.append(1 - seen / expected)
    judge, person = kappas
    assert found.judge.value == pytest.approx(judge)
    assert found.people.value == pytest.approx(person)
    assert found.difference.value == pytest.approx(judge - person)
    assert found.retained.value == pytest.approx(judge - person / 3)


def test_influence_is_what_an_item_moves() -> None:
    # One item counted a little more often: the difference quotient of both kappas.
    _, _, compared = compared_wins(PEOPLE, JUDGE)
    kappas = paired_kappas(PEOPLE, JUDGE, compared, range(3))
    assert kappas is not None
    assert kappas.judge_influence.sum() == pytest.approx(0, abs=1e-12)
    assert kappas.people_influence.sum() == pytest.approx(0, abs=1e-12)
    often, item = 2000, 7
    rows = np.append(np.tile(np.arange(80), often), item)
    more = paired_kappas(
        PEOPLE[rows], JUDGE[rows], compared_wins(PEOPLE[rows], JUDGE[rows])[2], range(3)
    )
    assert more is not None
    for now, then, influence in (
        (kappas.judge, more.judge, kappas.judge_influence),
        (kappas.people, more.people, kappas.people_influence),
    ):
        assert (then - now) * often == pytest.approx(influence[item], rel=2e-3)


def test_order_and_missing_scores_do_not_matter() -> None:
    order = rng.permutation(80)
    one, other = compare(PEOPLE, JUDGE), compare(PEOPLE[order][:, ::-1], JUDGE[order])
    assert one.difference.value == pytest.approx(other.difference.value)
    wider = np.vstack([PEOPLE, [4, np.nan, np.nan]])  # scored by one person
    assert compare(wider, np.append(JUDGE, 4)).difference.value == pytest.approx(
        one.difference.value
    )


def test_copies_in_one_task_are_no_new_evidence() -> None:
    one = compare(PEOPLE, JUDGE).difference.interval
    tasks = np.repeat(np.arange(80), 4).tolist()
    copies = compare(np.repeat(PEOPLE, 4, axis=0), np.repeat(JUDGE, 4), clusters=tasks)
    same = copies.difference.interval
    assert one is not None and same is not None
    assert (same.low, same.high) == pytest.approx((one.low, one.high))
    assert same.unit == "task" and same.details == {"df": 79, "clusters": 80}
    assert copies.design_effect == pytest.approx(4)


def test_answers_that_leave_no_width() -> None:
    alike = compare(np.full((40, 3), 4.0), np.full(40, 4.0))
    assert alike.answer == "undecided" and alike.difference.undefined == ALL_ALIKE
    # People and judge agree on everything: no spread at all, and nothing that could be missing.
    same = np.tile(np.arange(1.0, 6.0), 8)
    perfect = compare(np.column_stack([same] * 3), same)
    assert perfect.answer == "passes" and perfect.difference.no_interval == NO_WIDTH
    one_task = compare(PEOPLE, JUDGE, clusters=["t"] * 80)
    assert one_task.answer == "undecided" and one_task.difference.interval is None


@pytest.mark.parametrize("margin", [0, 1, -0.15])
def test_the_margin_is_a_fraction(margin: float) -> None:
    with pytest.raises(ValueError, match="margin"):
        compare(PEOPLE, JUDGE, margin=margin)


def test_a_lazy_judge_is_shown_worse_at_any_size() -> None:
    # It says 4 to nearly everything; people's ordinal alpha is 0.4.
    for items in (400, 1600):
        for people, own in tables("lazy", 0.4, items, people=3, repeats=10):
            found = compare(people, own)
            assert found.answer == "worse", found


def test_who_ignores_the_items_does_not_pass_where_people_hardly_agree() -> None:
    # Alpha 0.15: people's own kappa lies within the margin of 0, so a constant would pass by it.
    passed = 0
    for people, own in tables("constant", 0.15, 1600, people=3, repeats=10):
        found = compare(people, own)
        interval = found.difference.interval
        passed += interval is not None and interval.low > -found.margin
        assert found.answer == "worse"
    assert passed > 5


@pytest.mark.parametrize("alpha", [0.4, 0.6, 0.8])
def test_who_passes_in_simulations(alpha: float) -> None:
    """The rates of docs/agreement.md with 100 items: 200 sets have a standard error of 3 points."""
    for name in JUDGES:
        made = list(tables(name, alpha, 100, people=3, repeats=200))
        agrees = [agreement_passes(*one) for one in made]
        rate = np.mean(agrees)
        if name == "as good as a person":
            assert rate >= 0.8 - 2 * 0.03
        elif name != "feature, r = 0.4":  # with an alpha of 0.4 that judge is within the margin
            assert rate <= 0.025 + 2 * 0.011
        both = [ok and alternative_passes(*one, 0.1) for ok, one in zip(agrees, made, strict=True)]
        assert name == "as good as a person" or np.mean(both) <= 0.025 + 2 * 0.011
