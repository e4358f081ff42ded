"""Tests of the questions that a design can answer, counted from who gets which item."""

import pytest

from analysis.stats.descriptive.proportions import share
from analysis.stats.rater_agreement.alt_test import ITEMS_NEEDED, PEOPLE_NEEDED
from annotation.designs import outlook
from annotation.designs.outlook import outlook_of_lists, outlook_of_pool


def models(count: int, agents: int = 2) -> dict[int, str]:
    return {item: f"m{item % agents}" for item in range(count)}


def test_the_judge_test_needs_what_the_analysis_asks_for() -> None:
    assert (outlook.PEOPLE_FOR_JUDGE_TEST, outlook.ITEMS_FOR_JUDGE_TEST) == (
        PEOPLE_NEEDED, ITEMS_NEEDED,
    )  # fmt: skip


def test_one_rater_for_each_item_gives_no_agreement() -> None:
    found = outlook_of_lists({"ann": range(30), "bob": range(30, 60)}, models(60))
    assert (found.least, found.most, found.shared, found.testable) == (1, 1, 0, 0)
    assert not found.agreement and not found.judge_test and found.alpha_half_width is None


def test_people_are_testable_by_the_items_that_others_judge_too() -> None:
    # Thirty items are judged by all three; cleo's share is one short without item 29.
    lists = {"ann": range(30), "bob": range(30), "cleo": range(30)}
    assert outlook_of_lists(lists, models(30)).judge_test
    lists["cleo"] = range(29)
    found = outlook_of_lists(lists, models(30))
    assert (found.least, found.most, found.shared, found.testable) == (2, 3, 30, 2)
    assert found.agreement and not found.judge_test


@pytest.mark.parametrize(
    # Half-widths that were measured on 1-to-5 scores of three raters, at alpha near 0.40 and 0.55.
    ("items", "at_40", "at_55"),
    [(30, 0.23, 0.18), (60, 0.16, 0.12), (120, 0.12, 0.09), (240, 0.08, 0.06), (480, 0.06, 0.04)],
)
def test_the_width_of_alpha_lies_where_it_was_measured(
    items: int, at_40: float, at_55: float
) -> None:
    half = outlook_of_pool(3, models(items)).alpha_half_width
    assert half is not None and at_55 - 0.005 <= half <= at_40 + 0.005


def test_a_share_is_as_precise_as_its_wilson_interval() -> None:
    found = outlook_of_pool(1, models(60))
    assert found.per_model == 30 and found.share_half_width is not None
    wilson = share(15, 30).interval
    assert wilson is not None
    assert found.share_half_width == pytest.approx((wilson.high - wilson.low) / 2, abs=1e-4)
    assert found.mean_half_width == pytest.approx(1.96 / 30**0.5)


def test_too_few_items_have_no_interval() -> None:
    found = outlook_of_pool(2, models(2))
    assert found.agreement and found.alpha_half_width is None
    assert found.mean_half_width is None and found.share_half_width is None
    assert outlook_of_pool(2, {}).items == 0
