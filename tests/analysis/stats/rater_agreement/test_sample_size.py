"""Tests of the number of items that a precision needs."""

import pytest

from analysis.stats.descriptive.proportions import share
from analysis.stats.rater_agreement.alpha import krippendorff_alpha
from analysis.stats.rater_agreement.answers import answers_of_scores
from analysis.stats.rater_agreement.sample_size import (
    items_for_alpha,
    items_for_icc,
    items_for_share,
    planned_answers,
)

FLAT = [1, 1, 1, 1, 1]


@pytest.mark.parametrize(("p", "h"), [(0.5, 0.1), (0.8, 0.05), (0.0, 0.02), (1.0, 0.01)])
def test_a_share_gets_the_fewest_items(p: float, h: float) -> None:
    found = items_for_share(p, h)
    assert found.items is not None and found.reached is not None and found.reached <= h
    # The interval itself, where p times the items is a whole number.
    if p * found.items == int(p * found.items):
        interval = share(int(p * found.items), found.items).interval
        assert interval is not None and interval.half_width == pytest.approx(found.reached)
    z = 1.959964
    n = found.items - 1
    assert z / (n + z * z) * (n * p * (1 - p) + z * z / 4) ** 0.5 > h


def test_bonett() -> None:
    # 8·z²·(0.4·2.2)²/(6·0.04) + 1 for ρ = 0.6, three raters, full width 0.2.
    found = items_for_icc(0.6, 0.1, raters=3)
    assert found.exact == pytest.approx(8 * 1.959964**2 * 0.88**2 / (6 * 0.04) + 1, abs=1e-4)
    assert found.items == 101


def test_alpha_is_planned_as_it_turns_out() -> None:
    pilot = planned_answers(0.55, FLAT, raters=3, seed=1)
    alpha = krippendorff_alpha(pilot, seed=1, resamples=100).value
    assert alpha == pytest.approx(0.55, abs=0.003)
    found = items_for_alpha(pilot, 0.09, seed=1, studies=1000)
    # Measured on real scores from 1 to 5 with alpha near 0.55: ± 0.09 at 120 items, ± 0.06 at 240.
    assert found.items is not None and 100 < found.items < 160
    assert found.reached is not None and found.reached <= 0.09
    assert found == items_for_alpha(pilot, 0.09, seed=1, studies=1000)
    more = items_for_alpha(pilot, 0.045, seed=1, studies=1000).items
    assert more is not None and more / found.items == pytest.approx(4, rel=0.2)


def test_no_alpha_to_plan_by() -> None:
    equal = answers_of_scores([[3, 3], [3, 3]], scale=(1, 5))
    found = items_for_alpha(equal, 0.1, seed=1)
    assert found.items is None and "no alpha" in found.undefined
    assert items_for_share(0.5, 1e-4).undefined.startswith("more than")


def test_what_is_no_fraction_is_refused() -> None:
    for wrong in (
        lambda: items_for_share(50, 0.1),
        lambda: items_for_share(0.5, 5),
        lambda: items_for_icc(0.5, 0.1, raters=1),
        lambda: planned_answers(0.5, [1, 0], raters=2, seed=1),
    ):
        with pytest.raises(ValueError, match="fraction|raters|shares"):
            wrong()
